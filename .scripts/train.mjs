// Trains the demo's network in a headless browser: `npm run train -- --rule adamw --steps 1500 --lr 0.003 --seed 1`.
import { parseArgs } from "node:util";
import { build } from "./build.mjs";
import { must } from "./run.mjs";
import { setupTests } from "./setup.mjs";

const LEAST = 0.95;
const names = ["rule", "steps", "lr", "seed", "device"];
const { values } = parseArgs({ options: Object.fromEntries(names.map((name) => [name, { type: "string" }])) });

function bar({ step, total, loss, accuracy, stepsPerSecond }) {
  const width = 28;
  const full = total > 0 ? Math.round((width * step) / total) : 0;
  const numbers = loss === null ? "" : `loss ${loss.toFixed(4)}  accuracy ${(accuracy * 100).toFixed(1)} %  `;
  return `[${"#".repeat(full)}${" ".repeat(width - full)}] ${step}/${total}  ${numbers}${Math.round(stepsPerSecond)} steps/s`;
}

// A terminal gets one line that moves; a log gets a line every so often.
function progress() {
  let last = 0;
  return (state, done = false) => {
    if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K${bar(state)}${done ? "\n" : ""}`);
    else if (done || Date.now() - last > 5000) {
      last = Date.now();
      console.log(bar(state));
    }
  };
}

async function train(page) {
  const show = progress();
  for (;;) {
    const state = await page.evaluate(() => window.demo?.state());
    if (state?.error) throw new Error(state.error);
    const done = state !== undefined && !state.running && state.total > 0 && state.step >= state.total;
    if (state) show(state, done);
    if (done) return state;
    await page.waitForTimeout(200);
  }
}

async function main() {
  await setupTests();
  await build();
  await must("npm", ["run", "build:www"]);
  const { launch, serve } = await import("../tests/demo/browser.mjs");
  const [site, browser] = [await serve(), await launch()];
  try {
    const page = await browser.newPage();
    const given = Object.entries(values).filter(([, value]) => value !== undefined);
    await page.goto(`${site.url}?${new URLSearchParams([...given, ["autostart", "1"]])}`);
    const { loss, accuracy, adapter } = await train(page);
    console.log(`final loss ${loss.toFixed(4)}, test accuracy ${(accuracy * 100).toFixed(2)} % on ${adapter}`);
    if (accuracy < LEAST) throw new Error(`the test accuracy is below ${LEAST * 100} %`);
  } finally {
    await browser.close();
    await site.close();
  }
}

try {
  await main();
} catch (error) {
  console.error(`train: ${error.message}`);
  process.exitCode = 1;
}
