// Builds the npm package into dist/: wasm, its binding, and the TypeScript facade.
import { cpSync, existsSync, readFileSync, statSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { isMain, must, targetDir } from "./run.mjs";
import { setupBuild } from "./setup.mjs";

const compiled = `${targetDir}/wasm32-unknown-unknown/release/webgpu_optim.wasm`;
const bound = `${targetDir}/bindgen`;
const packaged = "dist/wasm/webgpu_optim_bg.wasm";
// What rustc emits for wasm32 today; every browser with WebGPU has all of it.
const features = ["bulk-memory", "bulk-memory-opt", "nontrapping-float-to-int", "sign-ext", "mutable-globals", "reference-types", "multivalue"];

const newer = (file, than) => existsSync(file) && statSync(file).mtimeMs > statSync(than).mtimeMs;

export async function build() {
  // Beside an rlib, cargo would leave link-time optimization out.
  const alone = ["--lib", "--crate-type", "cdylib"];
  await must("cargo", ["rustc", "--release", "--target", "wasm32-unknown-unknown", "--features", "js", ...alone]);
  if (!newer(packaged, compiled)) {
    const strip = ["--remove-name-section", "--remove-producers-section"];
    await must("wasm-bindgen", ["--target", "web", ...strip, "--out-dir", bound, "--out-name", "webgpu_optim", compiled]);
    cpSync(bound, "dist/wasm", { recursive: true, filter: (file) => !file.endsWith(".wasm") });
    // Last, since a new file here says that the package is complete.
    await must("wasm-opt", ["-Os", ...features.map((name) => `--enable-${name}`), `${bound}/webgpu_optim_bg.wasm`, "-o", packaged]);
  }
  // A page without a bundler has to find it beside the other modules.
  for (const end of ["js", "d.ts"]) cpSync(`node_modules/idb-keyval/dist/index.${end}`, `dist/idb-keyval.${end}`);
  cpSync("node_modules/idb-keyval/LICENCE", "dist/idb-keyval.LICENCE");
  await must("tsc", ["-p", "src/js"]);
}

/** Bytes of the packaged wasm, as it is and as a server sends it. */
export function wasmSize() {
  const bytes = readFileSync(packaged);
  return { raw: bytes.length, gzip: gzipSync(bytes, { level: 9 }).length };
}

export const sizeText = ({ raw, gzip }) => `${raw.toLocaleString("en")} bytes, ${gzip.toLocaleString("en")} gzip`;

if (isMain(import.meta.url)) {
  try {
    await setupBuild();
    await build();
    console.log(`wasm: ${sizeText(wasmSize())}`);
  } catch (error) {
    console.error(`build: ${error.message}`);
    process.exitCode = 1;
  }
}
