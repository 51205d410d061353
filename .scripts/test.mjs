// Runs every test of the project: `npm test`, `npm test -- --quick`, `npm test -- --only native,node`.
import { appendFileSync, mkdirSync, rmSync } from "node:fs";
import { sizeText, wasmSize } from "./build.mjs";
import { add, count, driftTable, table } from "./report.mjs";
import { targetDir } from "./run.mjs";
import { setupTests } from "./setup.mjs";
import { runStage, stages } from "./stages.mjs";

const quick = ["format", "native", "wasm", "size", "node"];
const report = `${targetDir}/report.jsonl`;

/** The stages asked for and those they need, in the order in which they run. */
function chosen(args) {
  const at = args.indexOf("--only");
  if (at < 0) return args.includes("--quick") ? stages.filter(({ name }) => quick.includes(name)) : stages;
  const names = new Set((args[at + 1] ?? "").split(","));
  const known = stages.map(({ name }) => name);
  const unknown = [...names].filter((name) => !known.includes(name));
  if (unknown.length) throw new Error(`--only takes ${known.join(", ")}; got "${unknown.join(", ")}"`);
  for (const { needs = [] } of stages.filter(({ name }) => names.has(name))) needs.forEach((need) => names.add(need));
  return stages.filter(({ name }) => names.has(name));
}

const seconds = (since) => `${((performance.now() - since) / 1000).toFixed(1)} s`;

async function runAll(list) {
  const results = [];
  for (const stage of list) {
    const start = performance.now();
    const blocker = stage.needs?.find((need) => results.some(({ name, state }) => name === need && state !== "ok"));
    console.log(`\n=== ${stage.name}: ${stage.title}`);
    if (blocker) {
      console.log(`not run: it needs "${blocker}"`);
      results.push({ name: stage.name, state: "not run", tests: { passed: 0, failed: 0, skipped: 1 }, time: "", failures: [] });
      continue;
    }
    const { failures, output } = await runStage(stage);
    const tests = count(output);
    // A browser cannot write the report; it prints its lines.
    for (const [, line] of output.matchAll(/^REPORT (.*)$/gm)) appendFileSync(report, `${line}\n`);
    if (stage.tests && !tests.passed && !tests.failed) failures.push("no test ran");
    // What fails without a test's name (a compiler, a linter, the budget) counts as one.
    if (failures.length && !tests.failed) tests.failed = 1;
    const state = failures.length || tests.failed ? "FAILED" : "ok";
    results.push({ name: stage.name, state, tests, time: seconds(start), failures });
    console.log(`=== ${stage.name}: ${state} in ${seconds(start)}`);
  }
  return results;
}

function summary(results, total) {
  console.log("\n=== summary\n");
  const cells = ({ passed, failed, skipped }) => [passed, failed, skipped].map(String);
  console.log(table([
    ["stage", "result", "passed", "failed", "skipped", "time"],
    ...results.map(({ name, state, tests, time }) => [name, state, ...cells(tests), time]),
  ]));
  for (const { name, failures } of results) for (const failure of failures) console.log(`${name}: ${failure}`);
  if (results.some(({ name, state }) => name === "wasm" && state === "ok")) console.log(`\nwasm: ${sizeText(wasmSize())}`);
  const drift = driftTable(report);
  if (drift) console.log(`\nlargest relative drift, by judge, device and steps\n\n${drift}`);
  if (process.env.CI && total.skipped) console.log("\nIn CI a skipped test is a failure.");
  console.log(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
}

try {
  const list = chosen(process.argv.slice(2));
  await setupTests();
  mkdirSync(targetDir, { recursive: true });
  rmSync(report, { force: true });
  process.env.WEBGPU_OPTIM_REPORT = report;
  const results = await runAll(list);
  const total = results.map(({ tests }) => tests).reduce(add);
  summary(results, total);
  process.exitCode = total.failed || (process.env.CI && total.skipped) ? 1 : 0;
} catch (error) {
  console.error(`test: ${error.message}`);
  process.exitCode = 1;
}
