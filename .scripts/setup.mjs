// Makes what is missing on a fresh machine available, and says plainly what it can't.
import { existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { chrome, chromedriver, lavapipe, vulkanLoader } from "./places.mjs";
import { capture, isMain, must, toolsDir } from "./run.mjs";

const toolsBuild = `${toolsDir}/build`;

class Missing extends Error {
  constructor(what, command) {
    super(`${what} is missing and could not be installed. Install it with:\n    ${command}`);
  }
}

async function install(what, command, args, env) {
  console.log(`setup: ${what}`);
  await must(command, args, env).catch(() => {
    throw new Missing(what, [command, ...args].join(" "));
  });
}

async function nodeModules() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19)) throw new Missing("Node 20.19 or newer", "see https://nodejs.org");
  const installed = "node_modules/.package-lock.json";
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync("package-lock.json").mtimeMs) return;
  await install("npm packages", "npm", ["ci", "--include=dev"]);
}

async function rust(targets, components) {
  const why = "see https://rustup.rs, then open a new shell";
  if (!capture("cargo", "--version")) throw new Missing("Rust", why);
  const installed = capture("rustup", "target", "list", "--installed")?.split("\n");
  if (!installed) throw new Missing("rustup", why);
  const target = targets.filter((name) => !installed.includes(name));
  if (target.length) await install("Rust targets", "rustup", ["target", "add", ...target]);
  const present = capture("rustup", "component", "list", "--installed") ?? "";
  const component = components.filter((name) => !present.includes(name));
  if (component.length) await install("Rust components", "rustup", ["component", "add", ...component]);
}

/** wasm-bindgen refuses a command line tool of another version than the crate's. */
function bindgenVersion() {
  if (!existsSync("Cargo.lock")) capture("cargo", "generate-lockfile");
  return /name = "wasm-bindgen"\nversion = "([^"]+)"/.exec(readFileSync("Cargo.lock", "utf8"))[1];
}

async function cargoTool(crate, binary, version) {
  const present = capture(binary, "--version")?.split(" ")[1];
  if (present && (!version || present === version)) return;
  const pinned = version ? ["--version", version] : [];
  // Their speed does not matter here, the time they take to build does.
  const args = ["install", crate, ...pinned, "--force", "--root", toolsDir, "--target-dir", toolsBuild];
  await install([crate, version].filter(Boolean).join(" "), "cargo", args, {
    CARGO_PROFILE_RELEASE_OPT_LEVEL: "1",
    CARGO_PROFILE_RELEASE_LTO: "off",
    CARGO_PROFILE_RELEASE_CODEGEN_UNITS: "16",
  });
}

const system = [
  { what: "Chromium", found: chrome, apt: "chromium", brew: "--cask google-chrome" },
  { what: "ChromeDriver", found: chromedriver, apt: "chromium-driver", brew: "--cask chromedriver" },
  { what: "the Vulkan loader", found: vulkanLoader, apt: "libvulkan1" },
  { what: "Mesa's software Vulkan driver", found: lavapipe, apt: "mesa-vulkan-drivers" },
];

async function systemPackages() {
  const mac = process.platform === "darwin";
  const missing = system.filter((item) => !item.found() && (!mac || item.brew));
  if (!missing.length) return;
  const names = missing.map((item) => item.what).join(", ");
  if (mac) throw new Missing(names, missing.map((item) => `brew install ${item.brew}`).join(" && "));
  const packages = missing.map((item) => item.apt);
  const sudo = process.getuid() === 0 ? [] : ["sudo"];
  const byHand = [...sudo, "apt-get", "install", "-y", ...packages].join(" ");
  if (!capture("apt-get", "--version") || (sudo.length && !capture("sudo", "--version")))
    throw new Missing(names, `${byHand}   (or your system's packages of that kind)`);
  const apt = (...args) => [...sudo, "apt-get", "-qq", ...args];
  for (const [command, ...args] of [apt("update"), apt("install", "-y", "--no-install-recommends", ...packages)])
    await install(names, command, args, { DEBIAN_FRONTEND: "noninteractive" });
  const still = missing.filter((item) => !item.found()).map((item) => item.what);
  if (still.length) throw new Missing(still.join(", "), byHand);
}

/** What `npm run build` and the demo need. */
export async function setupBuild() {
  await nodeModules();
  await rust(["wasm32-unknown-unknown"], []);
  await cargoTool("wasm-bindgen-cli", "wasm-bindgen", bindgenVersion());
}

/** What `npm test` needs on top of that. */
export async function setupTests() {
  await systemPackages();
  await setupBuild();
  await rust(["aarch64-apple-darwin"], ["clippy", "rustfmt"]);
  await cargoTool("wasm-pack", "wasm-pack");
  rmSync(toolsBuild, { recursive: true, force: true });
}

if (isMain(import.meta.url)) {
  try {
    await setupTests();
    console.log("setup: everything is in place");
  } catch (error) {
    console.error(`setup: ${error.message}`);
    process.exitCode = 1;
  }
}
