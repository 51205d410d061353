// What a page does with the package, on the GPU and on the CPU.
import assert from "node:assert/strict";
import { test } from "node:test";
import init, { AdamW, LAMB, Optimizer, ReduceOnPlateau, RULES, SGD, cosine, exponential, sequential, constant } from "../../dist/index.js";

await init();

const close = (got, want, within = 1e-6) =>
  want.forEach((value, i) => assert.ok(Math.abs(got[i] - value) <= within, `[${i}] ${got[i]}, wanted ${value}`));

/** The same test on both devices. */
function both(name, body) {
  for (const device of ["gpu", "cpu"]) test(`${name} (${device})`, () => body(device));
}

both("groups by pattern, name and list give their tensors other options", async (device) => {
  const make = () => ({ w: Float32Array.of(1), bias: Float32Array.of(1), norm: Float32Array.of(1) });
  for (const match of [/bias|norm/g, ["bias", "norm"]]) {
    const opt = await SGD.create(make(), { lr: 1, weightDecay: 0.5, device, groups: [{ match, weightDecay: 0 }] });
    opt.step({ w: Float32Array.of(0), bias: Float32Array.of(0), norm: Float32Array.of(0) });
    const { w, bias, norm } = await opt.params();
    assert.deepEqual([w[0], bias[0], norm[0]], [0.5, 1, 1]);
  }
  const opt = await SGD.create(make(), { lr: 1, device, groups: [{ match: "bias", lr: 0.25 }, { match: /./, lr: 0.5 }] });
  opt.step({ w: Float32Array.of(1), bias: Float32Array.of(1), norm: Float32Array.of(1) });
  const { w, bias, norm } = await opt.params();
  assert.deepEqual([w[0], bias[0], norm[0]], [0.5, 0.75, 0.5]);
});

both("LAMB leaves the trust ratio and the decay of excluded tensors out", async (device) => {
  const params = { w: Float32Array.of(3, 4), bias: Float32Array.of(3, 4) };
  const opt = await LAMB.create(params, { lr: 0.1, weightDecay: 0.1, exclude: /bias/, device });
  opt.step({ w: Float32Array.of(1, 1), bias: Float32Array.of(1, 1) });
  const { w, bias } = await opt.params();
  close(bias, [2.9, 3.9], 1e-5);
  assert.ok(w[0] < 2.8);
  const numbered = await LAMB.create(params, { exclude: ["bias"], device, groups: [{ match: /./, lr: 0.5 }] });
  assert.deepEqual([numbered.options(1).lr, numbered.options(1).exclude, numbered.options(2).exclude], [0.5, false, true]);
});

both("options change between steps, by group, without losing state", async (device) => {
  const opt = await SGD.create({ a: Float32Array.of(0), b: Float32Array.of(0) }, { lr: 1, momentum: 0.5, device, groups: [{ match: "b", lr: 2 }] });
  const grads = { a: Float32Array.of(1), b: Float32Array.of(1) };
  opt.step(grads);
  opt.lr = 0.5;
  opt.set({ momentum: 0 }, 1);
  opt.step(grads);
  const { a, b } = await opt.params();
  close([a[0], b[0]], [-1 - 0.5 * 1.5, -2 - 2]);
  assert.deepEqual([opt.lr, opt.options(1).lr, opt.options(1).momentum], [0.5, 2, 0]);
});

both("a schedule, a function and a number set the learning rate", async (device) => {
  const rates = [
    [cosine({ peak: 1, warmup: 2, total: 4 }), [0, 0.5, 1, 0.5, 0]],
    [sequential({ schedules: [constant(1), exponential({ lr: 0.5, gamma: 0.5 })], boundaries: [2] }), [1, 1, 0.5, 0.25, 0.125]],
    [(step) => 1 / (step + 1), [1, 1 / 2, 1 / 3, 1 / 4, 1 / 5]],
    [0.5, [0.5, 0.5, 0.5, 0.5, 0.5]],
  ];
  for (const [lr, want] of rates) {
    const opt = await SGD.create({ w: Float32Array.of(0) }, { lr, device });
    let at = 0;
    for (const rate of want) {
      assert.ok(Math.abs(opt.lr - rate) < 1e-12);
      opt.step({ w: Float32Array.of(1) });
      at -= rate;
      close((await opt.params()).w, [at]);
    }
  }
});

both("a gradient that is left out leaves its tensor, slots and counter untouched", async (device) => {
  const opt = await AdamW.create({ a: Float32Array.of(1), b: Float32Array.of(1) }, { lr: 0.1, weightDecay: 0, device });
  opt.step({ a: Float32Array.of(1) });
  opt.step({ a: Float32Array.of(1), b: undefined });
  assert.equal((await opt.params()).b[0], 1);
  assert.equal((await opt.slots()).b.exp_avg[0], 0);
  opt.step({ b: Float32Array.of(1) });
  // Its first own step is lr long; a counter at 3 would give another length.
  close((await opt.params()).b, [0.9]);
});

both("params are those as of the call, whatever steps follow", async (device) => {
  const opt = await SGD.create({ w: Float32Array.of(8) }, { lr: 1, device });
  opt.step({ w: Float32Array.of(1) });
  const early = opt.params();
  opt.step({ w: Float32Array.of(1) });
  const late = opt.params();
  assert.equal((await late).w[0], 6);
  assert.equal((await early).w[0], 7);
});

both("the caller's arrays are read and never written", async (device) => {
  const w = Float32Array.of(1, 2, 3);
  const grad = Float32Array.of(4, 5, 6);
  const opt = await AdamW.create({ w }, { lr: 0.1, device, maximize: true, clip: { globalNorm: 1 } });
  opt.step({ w: grad });
  grad.fill(9);
  assert.ok((await opt.params()).w[0] > 1);
  assert.deepEqual([...w], [1, 2, 3]);
});

both("a step that is not finite is skipped, others are clipped, and stats tell", async (device) => {
  const opt = await SGD.create({ w: Float32Array.of(0, 0) }, { lr: 1, device, clip: { globalNorm: 1 }, nonfinite: "skip" });
  opt.step({ w: Float32Array.of(Number.NaN, 1) });
  opt.step({ w: Float32Array.of(3, -4) });
  close((await opt.params()).w, [-0.6, 0.8], 1e-5);
  const { step, skipped, gradNorm, clipFactor, foundNonfinite, lr } = await opt.stats();
  assert.deepEqual([step, skipped, foundNonfinite, lr], [1, 1, false, [1]]);
  close([gradNorm, clipFactor], [5, 0.2], 1e-5);
  opt.step({ w: Float32Array.of(Number.NaN, 2) });
  const bad = await opt.stats();
  assert.deepEqual([bad.firstNonfinite, bad.gradNorms.w], ["w", 2]);
});

both("a history tells what each of the last steps did to each tensor", async (device) => {
  const opt = await SGD.create({ a: Float32Array.of(3, 4), b: Float32Array.of(1) }, { lr: 1, device, history: 2, nonfinite: "skip" });
  assert.deepEqual((await opt.stats()).history, []);
  opt.step({ a: Float32Array.of(1, 1), b: Float32Array.of(1) });
  opt.step({ a: Float32Array.of(3, 4), b: Float32Array.of(Number.NaN) });
  opt.step({ a: Float32Array.of(3, 4) });
  const { history } = await opt.stats();
  assert.deepEqual(history.map(({ step, skipped }) => [step, skipped]), [[2, true], [3, false]]);
  assert.deepEqual([history[0].updateNorms, history[0].paramNorms.b], [{ a: 0, b: 0 }, 0]);
  close([history[1].gradNorms.a, history[1].updateNorms.a, history[1].gradNorms.b, history[1].gradNorm], [5, 5, 0, 5], 1e-5);
  const without = await SGD.create({ w: Float32Array.of(0) }, { device });
  assert.deepEqual((await without.stats()).history, []);
});

both("a dynamic loss scale divides the gradients and halves on overflow", async (device) => {
  const opt = await SGD.create({ w: Float32Array.of(0) }, { lr: 1, device, lossScale: "dynamic" });
  opt.step({ w: Float32Array.of(65536) });
  opt.step({ w: Float32Array.of(Number.POSITIVE_INFINITY) });
  opt.step({ w: Float32Array.of(32768) });
  close((await opt.params()).w, [-2]);
  assert.equal((await opt.stats()).lossScale, 32768);
});

both("micro-batches are averaged by their weights, and the mean is taken by the next step", async (device) => {
  const opt = await SGD.create({ w: Float32Array.of(0), b: Float32Array.of(0) }, { lr: 1, device });
  opt.accumulate({ w: Float32Array.of(1), b: Float32Array.of(2) }, 3);
  opt.accumulate({ w: Float32Array.of(9) }, 1);
  opt.accumulate({ w: Float32Array.of(1000) }, 0);
  assert.throws(() => opt.step({ w: Float32Array.of(1) }), { code: "INVALID_CONFIG", message: /accumulated gradients are waiting/ });
  assert.throws(() => opt.accumulate({ w: Float32Array.of(1) }, -1), { code: "INVALID_CONFIG", message: /weight must be/ });
  opt.step();
  const { w, b } = await opt.params();
  close([w[0], b[0]], [-3, -2]);
  opt.step({ w: Float32Array.of(1) });
  close((await opt.params()).w, [-4]);
});

both("averages of the parameters are kept, read, and swapped in and out", async (device) => {
  const opt = await SGD.create({ w: Float32Array.of(0, 8) }, { lr: 1, device, ema: { decay: 0.75 } });
  opt.step({ w: Float32Array.of(-4, 0) });
  opt.step({ w: Float32Array.of(-4, 0) });
  close((await opt.emaParams()).w, [2.75, 8]);
  opt.swapEma();
  close((await opt.params()).w, [2.75, 8]);
  assert.throws(() => opt.step({ w: Float32Array.of(1, 1) }), { code: "INVALID_CONFIG", message: /swap them back/ });
  opt.swapEma();
  assert.deepEqual([...(await opt.params()).w], [8, 8]);
  const without = await SGD.create({ w: Float32Array.of(0) }, { device });
  assert.throws(() => without.swapEma(), { code: "UNSUPPORTED" });
  await assert.rejects(without.emaParams(), { code: "UNSUPPORTED", message: /option ema/ });
  await assert.rejects(SGD.create({ w: Float32Array.of(0) }, { device, ema: { decay: 1 } }), { code: "INVALID_CONFIG", message: /ema.decay/ });
});

both("info tells what runs where", async (device) => {
  const opt = await Optimizer.create("rmsprop", { w: new Float32Array(10), b: new Float32Array(2) }, { device, momentum: 0.9 });
  const { kind, backend, tensors, parameters, slots, adapter } = opt.info();
  assert.deepEqual([kind, backend, tensors, parameters], ["rmsprop", device === "gpu" ? "webgpu" : "cpu", 2, 12]);
  assert.deepEqual(slots, ["square_avg", "momentum_buffer"]);
  assert.ok(adapter.length > 0);
});

both("free gives everything back and may be called twice", async (device) => {
  const opt = await AdamW.create({ w: new Float32Array(3) }, { device });
  opt.free();
  opt.free();
  assert.throws(() => opt.step({}), { code: "FREED" });
});

test("without arguments a step takes what stands in the gradient buffers", async () => {
  const params = { w: Float32Array.of(1, 2), b: Float32Array.of(3) };
  const [arrays, buffers] = await Promise.all([1, 2].map(() => AdamW.create(params, { device: "gpu" })));
  const grads = { w: Float32Array.of(0.5, -0.5), b: Float32Array.of(0.25) };
  arrays.step(grads);
  for (const name of ["w", "b"]) {
    const { buffer, offset, size } = buffers.gradBuffer(name);
    assert.deepEqual([offset % 256, size], [0, grads[name].byteLength]);
    buffers.device.queue.writeBuffer(buffer, offset, grads[name]);
  }
  buffers.step();
  assert.deepEqual(await buffers.params(), await arrays.params());
});

test("optimizers share one device, and another one's buffers can be copied", async () => {
  const [one, two] = await Promise.all([1, 2].map((value) => SGD.create({ w: Float32Array.of(value) }, { device: "gpu" })));
  assert.equal(one.device, two.device);
  const [from, to] = [one.paramBuffer("w"), two.paramBuffer("w")];
  const encoder = one.device.createCommandEncoder();
  encoder.copyBufferToBuffer(from.buffer, from.offset, to.buffer, to.offset, from.size);
  one.device.queue.submit([encoder.finish()]);
  assert.equal((await two.params()).w[0], 1);
});

test("arrays go from the caller to the queue as they are, never through wasm memory", async () => {
  const opt = await SGD.create({ w: new Float32Array(1000), b: new Float32Array(3) }, { device: "gpu" });
  const { queue } = opt.device;
  const { writeBuffer } = queue;
  const written = [];
  queue.writeBuffer = (...args) => (written.push(args[2]), writeBuffer.apply(queue, args));
  const grads = { w: new Float32Array(1000).fill(1), b: Float32Array.of(1, 2, 3) };
  opt.step(grads);
  delete queue.writeBuffer;
  assert.ok(Object.values(grads).every((array) => written.includes(array)));
  const others = written.filter((array) => !Object.values(grads).includes(array));
  assert.ok(others.reduce((sum, { byteLength }) => sum + byteLength, 0) < 500, "besides them only a row of scalars a tensor");
});

test("the registry tells rules, slots and defaults", () => {
  const all = RULES();
  assert.deepEqual(all.map(({ kind }) => kind), ["sgd", "adam", "adamw", "rmsprop", "adagrad", "lamb"]);
  const adamw = all.find(({ kind }) => kind === "adamw");
  assert.deepEqual(adamw.slots, ["exp_avg", "exp_avg_sq", "max_exp_avg_sq"]);
  assert.equal(adamw.options.find(({ name }) => name === "weightDecay").default, 0.01);
});

test("ReduceOnPlateau lowers a rate that no longer helps", () => {
  const plateau = new ReduceOnPlateau({ lr: 0.1, patience: 0, factor: 0.5 });
  assert.deepEqual([1, 0.5, 0.5, 0.4].map((loss) => plateau.observe(loss)), [0.1, 0.1, 0.05, 0.05]);
  assert.throws(() => new ReduceOnPlateau({ factor: 2 }), { code: "INVALID_CONFIG", message: /factor/ });
});
