import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  base: "./",
  resolve: { alias: { "webgpu-optim": file("../dist/index.js") } },
  server: { fs: { allow: [file("..")] } },
  build: { target: "es2022", emptyOutDir: true },
});
