// The README's example prints what the README says it prints.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");

test("the readme's example prints what it promises", async (context) => {
  const [, example] = /```js\n([\s\S]*?)```/.exec(readme);
  const [, promised] = /console\.log\(.*\); \/\/ (.*)/.exec(example);
  const log = context.mock.method(console, "log", () => {});
  const here = example.replace('"webgpu-optim"', JSON.stringify(import.meta.resolve("webgpu-optim")));
  await import(`data:text/javascript,${encodeURIComponent(here)}`);
  assert.equal(log.mock.calls[0].arguments.join(" "), promised);
});
