// The package in Node on Dawn: every rule on the GPU against the same rule on the CPU.
import assert from "node:assert/strict";
import { test } from "node:test";
import init, { Optimizer, RULES } from "../../dist/index.js";
import { cases, compare, Drift, gradients, report, tensors } from "./judge.mjs";

await init();

async function run(kind, options, steps, wrong = 1) {
  const params = tensors();
  const [gpu, cpu] = await Promise.all(["gpu", "cpu"].map((device) => Optimizer.create(kind, params, { ...options, device })));
  const drift = new Drift();
  for (const [name, values] of Object.entries(params)) drift.see(name, values);
  const found = {};
  for (let step = 1; step <= steps; step++) {
    const grads = gradients(params, step);
    cpu.step(grads);
    gpu.step(Object.fromEntries(Object.entries(grads).map(([name, values]) => [name, values.map((value) => value * wrong)])));
    if (step === 10 || step === 300) found[step] = await compare(drift, gpu, cpu);
  }
  const { adapter } = gpu.info();
  gpu.free();
  cpu.free();
  return { found, adapter };
}

for (const { kind } of RULES()) {
  test(`${kind} on the GPU follows ${kind} on the CPU`, async () => {
    const worst = { 10: 0, 300: 0 };
    let device = "";
    const all = cases(kind);
    for (const [place, { name, options }] of all.entries()) {
      // 300 steps of a few cases: the native tests run them of all.
      const { found, adapter } = await run(kind, options, place % 6 === 0 ? 300 : 10);
      for (const [step, drift] of Object.entries(found)) {
        assert.ok(drift <= 1e-5, `${name}: off by ${drift} after ${step} steps`);
        worst[step] = Math.max(worst[step], drift);
      }
      device = `Dawn ${adapter}`;
    }
    report({ device, rule: kind, cases: all.length, after: 10, drift: worst[10] });
    report({ device, rule: kind, cases: Math.ceil(all.length / 6), after: 300, drift: worst[300] });
  });

  test(`the comparison of ${kind} can fail`, async () => {
    const { found } = await run(kind, cases(kind)[0].options, 10, 1.01);
    assert.ok(found[10] > 1e-5, `gradients 1 % off went unnoticed: ${found[10]}`);
  });
}
