// What `npm test` runs, in order. A stage is a list of commands, or a task where those are not enough;
// one with `tests` must run some, and one with `needs` runs only after those.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { build, sizeText, wasmSize } from "./build.mjs";
import { chromedriver, lavapipe, swiftshader } from "./places.mjs";
import { root, run } from "./run.mjs";

const mac = process.platform === "darwin";
const clippy = (...args) => ["cargo", ["clippy", ...args, "--", "-D", "warnings"]];

// cargo fmt does not see the modules that the registry's macro declares.
const rules = () => readdirSync("src/optim").filter((file) => file.endsWith(".rs")).map((file) => `src/optim/${file}`);

// Two independent drivers judge each other's results; on macOS the machine's own Metal device stands alone.
function nativeDevices() {
  if (mac) return { WEBGPU_OPTIM_REQUIRE_GPU: "1" };
  return { VK_DRIVER_FILES: [lavapipe(), swiftshader()].filter(Boolean).join(":"), WEBGPU_OPTIM_REQUIRE_GPU: "2" };
}

// Dawn accepts SwiftShader everywhere, lavapipe only from newer releases of Mesa.
const dawnDevice = () => ({ WEBGPU_OPTIM_REQUIRE_GPU: "1", ...(!mac && { VK_DRIVER_FILES: swiftshader() ?? lavapipe() }) });

/** Test files by name: Node 20 and Node 22 read a folder given to --test differently. */
function nodeTest(folder, env) {
  const files = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith(".test.mjs")).sort() : [];
  const all = ["--test", "--test-reporter=spec", "--test-concurrency=1", "--test-timeout=600000"];
  return ["node", [...all, ...(files.length ? files.map((file) => `${folder}/${file}`) : [`${folder}/*.test.mjs`])], env];
}

async function withinBudget() {
  const budget = JSON.parse(readFileSync("package.json", "utf8")).wasmBudget;
  const size = wasmSize();
  console.log(`wasm: ${sizeText(size)} (budget: ${sizeText(budget)})`);
  const over = Object.keys(budget).filter((kind) => size[kind] > budget[kind]);
  if (over.length) throw new Error(`the wasm is over its ${over.join(" and ")} budget, wasmBudget in package.json`);
}

export const stages = [
  { name: "format", title: "Rust formatting", steps: () => [["cargo", ["fmt", "--check"]], ["rustfmt", ["--edition", "2024", "--check", ...rules()]]] },
  {
    name: "lint",
    title: "Clippy for every target and feature, and the documentation",
    steps: () => [
      clippy("--no-default-features"),
      clippy("--all-targets"),
      clippy("--lib", "--tests", "--target", "wasm32-unknown-unknown", "--features", "js"),
      clippy("--all-targets", "--target", "aarch64-apple-darwin"),
      ["cargo", ["doc", "--no-deps"], { RUSTDOCFLAGS: "-D warnings" }],
    ],
  },
  {
    name: "native",
    title: "Rust tests on the CPU and on native devices",
    tests: true,
    steps: () => [["cargo", ["test", "--no-fail-fast"], nativeDevices()]],
  },
  { name: "wasm", title: "The npm package", task: build },
  { name: "size", title: "The size of its wasm", needs: ["wasm"], task: withinBudget },
  {
    name: "browser",
    title: "Rust tests in headless Chromium",
    tests: true,
    // Documentation examples are left to the native stage.
    steps: () => [
      ["wasm-pack", ["test", "--headless", "--chrome", "--chromedriver", chromedriver(), "--mode", "no-install", "--release", "--", "--features", "js", "--test", "web", "--", "--nocapture"], {
        WASM_BINDGEN_TEST_WEBDRIVER_JSON: `${root}.scripts/webdriver.json`,
        WASM_BINDGEN_TEST_TIMEOUT: "600",
        WASM_BINDGEN_TEST_DRIVER_TIMEOUT: "60",
      }],
    ],
  },
  {
    name: "node",
    title: "The package in Node, on Dawn",
    tests: true,
    needs: ["wasm"],
    steps: () => [nodeTest("tests/node", dawnDevice())],
  },
  {
    name: "types",
    title: "TypeScript of the package, of its use and of the demo",
    needs: ["wasm"],
    steps: () => ["src/js", "www", "tests/types"].map((project) => ["tsc", ["-p", project, "--noEmit"]]),
  },
  {
    name: "demo",
    title: "The demo in headless Chromium",
    tests: true,
    needs: ["wasm"],
    steps: () => [["npm", ["run", "build:www"]], nodeTest("tests/demo")],
  },
];

/** Runs one stage to its end; `output` is all that its commands printed. */
export async function runStage({ task, steps = () => [] }) {
  const failures = [];
  let output = "";
  await task?.().catch((error) => failures.push(error.message));
  for (const [command, args, env] of steps()) {
    const { code, text } = await run(command, args, env);
    output += text;
    if (code !== 0) failures.push(`code ${code} from ${[command, ...args].join(" ").slice(0, 120)}`);
  }
  return { failures, output };
}
