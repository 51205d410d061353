// Reads what the test runners printed and reported, and lays it out for the end of a run.
import { existsSync, readFileSync } from "node:fs";

const plain = (text) => text.replace(/\x1b\[[0-9;]*m/g, "");

/** Passed, failed and skipped tests in the output of cargo, wasm-bindgen-test and node. */
export function count(output) {
  const sum = { passed: 0, failed: 0, skipped: 0 };
  const text = plain(output);
  for (const [, passed, failed, ignored] of text.matchAll(/test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored/g)) {
    sum.passed += Number(passed);
    sum.failed += Number(failed);
    sum.skipped += Number(ignored);
  }
  const key = { pass: "passed", fail: "failed", cancelled: "failed", skipped: "skipped", todo: "skipped" };
  for (const [, word, number] of text.matchAll(/^ℹ (pass|fail|cancelled|skipped|todo) (\d+)$/gm)) sum[key[word]] += Number(number);
  return sum;
}

export const add = (a, b) => ({ passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped });

/** Rows of cells as aligned text. */
export function table(rows) {
  const width = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  return rows.map((row) => row.map((cell, column) => cell.padEnd(width[column])).join("  ").trimEnd()).join("\n");
}

function readReport(file) {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
}

/** One row a judge, device and number of steps; one column a rule, holding its largest relative drift. */
export function driftTable(file) {
  const entries = readReport(file);
  if (!entries.length) return "";
  const rules = [...new Set(entries.map((entry) => entry.rule))];
  const rows = new Map();
  for (const { judge, device, rule, cases, drift, after } of entries) {
    const name = JSON.stringify([judge, device, after]);
    const row = rows.get(name) ?? { cases: 0, drift: {} };
    row.cases += cases;
    // A NaN drift must show, and Math.max keeps it.
    row.drift[rule] = Math.max(row.drift[rule] ?? 0, drift ?? NaN);
    rows.set(name, row);
  }
  const cells = [...rows].map(([name, row]) => {
    const [judge, device, after] = JSON.parse(name);
    const drifts = rules.map((rule) => (rule in row.drift ? row.drift[rule].toExponential(1) : ""));
    return [judge, device, String(after ?? ""), String(row.cases), ...drifts];
  });
  return table([["judge", "device", "steps", "cases", ...rules], ...cells.sort()]);
}
