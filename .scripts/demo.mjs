// Builds the package and the demo, serves the demo and prints its address.
import { build } from "./build.mjs";
import { must } from "./run.mjs";
import { setupBuild } from "./setup.mjs";

try {
  await setupBuild();
  await build();
  await must("npm", ["run", "build:www"]);
  const { preview } = await import("vite");
  // Browsers offer WebGPU only to secure contexts: https, or this machine's own address.
  const server = await preview({ root: "www", preview: { host: "127.0.0.1", port: Number(process.env.PORT ?? 4173) } });
  console.log(`\nThe demo is at http://localhost:${server.httpServer.address().port}/  (Ctrl+C ends it)`);
} catch (error) {
  console.error(`demo: ${error.message}`);
  process.exitCode = 1;
}
