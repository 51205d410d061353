// The README's example prints what the README says it prints.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");

const here = (code) => code.replace('"webgpu-optim"', JSON.stringify(import.meta.resolve("webgpu-optim")));
const run = (code) => import(`data:text/javascript,${encodeURIComponent(here(code))}`);

test("the readme's example prints what it promises", async (context) => {
  const [, example] = /```js\n([\s\S]*?)```/.exec(readme);
  const [, promised] = /console\.log\(.*\); \/\/ (.*)/.exec(example);
  const log = context.mock.method(console, "log", () => {});
  await run(example);
  assert.equal(log.mock.calls[0].arguments.join(" "), promised);
});

const device = `
    import init, { AdamW, SGD } from "webgpu-optim";
    await init();
    (await SGD.create({ w: new Float32Array(1) }, { device: "gpu" })).free();
    const device = await (await navigator.gpu.requestAdapter()).requestDevice();
`;

// One hundred steps of Adam with a constant gradient are lr long each.
const trained = async ({ opt }) => {
  const { w, b } = await opt.params();
  for (const value of [w[0], w[7839], b[0], b[9]]) assert.ok(Math.abs(value - 0.1) < 1e-3, String(value));
};

test("the readme's training in half precision trains", async () => {
  const [, example] = /"bf16"` gives[\s\S]*?```js\n([\s\S]*?)```/.exec(readme);
  // Minus one in binary16; where to, the optimizer tells.
  const backward = `
    const backward = (_encoder, opt) => ["w", "b"].forEach((name) => {
      const { buffer, offset, size } = opt.gradBuffer(name);
      device.queue.writeBuffer(buffer, offset, new Uint16Array(size / 2).fill(0xbc00));
    });
  `;
  await trained(await run(`${device}${backward}${example}; export { opt };`));
});

test("the readme's training with one's own buffers trains", async () => {
  const [, example] = /```js\n(const usage = [\s\S]*?)```/.exec(readme);
  const backward = `
    const backward = (_encoder, _params, grads) => device.queue.writeBuffer(grads, 0, new Float32Array(7850).fill(-1));
  `;
  await trained(await run(`${device}${backward}${example}; export { opt };`));
});
