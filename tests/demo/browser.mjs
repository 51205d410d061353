// A headless Chromium with WebGPU on its software adapter, and a server for the built page.
import { preview } from "vite";
import { chromium } from "playwright-core";
import { readFileSync } from "node:fs";
import { chrome } from "../../.scripts/places.mjs";

const driver = JSON.parse(readFileSync(new URL("../../.scripts/webdriver.json", import.meta.url), "utf8"));
// The same switches as for the browser tests; Playwright brings its own way of being headless.
export const switches = driver["goog:chromeOptions"].args.map((flag) => (flag.startsWith("-") ? flag : `--${flag}`));

export async function launch() {
  const executablePath = chrome();
  if (!executablePath) throw new Error("Chromium is missing; `npm run setup` installs it");
  return chromium.launch({ executablePath, args: switches.filter((flag) => !flag.startsWith("--headless")).concat("--headless=new") });
}

/** Serves a built page, by default the demo, on a free port of this machine. */
export async function serve(root = "www", outDir = "dist") {
  const at = { host: "127.0.0.1", port: 0, strictPort: false };
  const server = await preview({ root, configFile: false, logLevel: "silent", build: { outDir }, preview: at });
  const { port } = server.httpServer.address();
  return { url: `http://localhost:${port}/`, close: () => new Promise((done) => server.httpServer.close(done)) };
}
