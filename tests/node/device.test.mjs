// On a device of the page's own, and on one that goes away.
import assert from "node:assert/strict";
import { test } from "node:test";
import init, { AdamW, LAMB, SGD } from "../../dist/index.js";

await init();
// The first optimizer brings navigator.gpu to Node.
(await SGD.create({ w: new Float32Array(1) }, { device: "gpu" })).free();

const ownDevice = async () => (await navigator.gpu.requestAdapter()).requestDevice();

test("an optimizer runs on the page's own device, and every object of the browser is as it was", async () => {
  const before = Object.getOwnPropertyDescriptor(navigator, "gpu");
  const device = await ownDevice();
  const handler = () => {};
  device.onuncapturederror = handler;
  const own = Object.getOwnPropertyNames(device);
  const params = { w: Float32Array.of(1, 2, 3), b: Float32Array.of(4) };
  const [adopted, shared] = [await LAMB.create(params, { device }), await LAMB.create(params, { device: "gpu" })];
  assert.equal(adopted.device, device);
  assert.notEqual(shared.device, device);
  const grads = { w: Float32Array.of(1, -1, 2), b: Float32Array.of(3) };
  adopted.step(grads);
  shared.step(grads);
  assert.deepEqual(await adopted.params(), await shared.params());
  assert.deepEqual(Object.getOwnPropertyDescriptor(navigator, "gpu"), before);
  assert.deepEqual(Object.getOwnPropertyNames(device), own);
  assert.equal(device.onuncapturederror, handler);
  adopted.free();
  // The device is the page's: it outlives the optimizer.
  device.createBuffer({ size: 16, usage: GPUBufferUsage.COPY_DST }).destroy();
});

test("two optimizers on one device of the page's share it, at once", async () => {
  const device = await ownDevice();
  const [one, two] = await Promise.all([1, 2].map((value) => SGD.create({ w: Float32Array.of(value) }, { device, lr: 1 })));
  one.step({ w: Float32Array.of(1) });
  two.step({ w: Float32Array.of(1) });
  assert.deepEqual([(await one.params()).w[0], (await two.params()).w[0]], [0, 1]);
});

test("a device with the default limits is enough", async () => {
  const device = await ownDevice();
  assert.equal(device.limits.maxStorageBufferBindingSize, 128 << 20);
  const opt = await AdamW.create({ w: new Float32Array(1000) }, { device, amsgrad: true, clip: { globalNorm: 1 }, lossScale: "dynamic" });
  opt.step({ w: new Float32Array(1000).fill(1) });
  assert.ok((await opt.params()).w[999] < 0);
});

test("anything else in its place is refused", async () => {
  await assert.rejects(SGD.create({ w: new Float32Array(1) }, { device: {} }), { code: "NO_WEBGPU", message: /could not be adopted/ });
});

test("once the device is lost, steps and readings say so, and nothing hangs", async () => {
  const device = await ownDevice();
  const opt = await AdamW.create({ w: new Float32Array(10) }, { device });
  const freed = await AdamW.create({ w: new Float32Array(10) }, { device });
  const told = [];
  opt.onLost((reason) => told.push(reason));
  freed.onLost(() => told.push("of the one that was freed"));
  freed.free();
  opt.step({ w: new Float32Array(10) });
  const reading = opt.params();
  device.destroy();
  await device.lost;
  let timer;
  const hangs = new Promise((_, reject) => (timer = setTimeout(reject, 5000, new Error("it hangs"))));
  const end = await Promise.race([reading, hangs]).catch((error) => error);
  clearTimeout(timer);
  assert.ok(end.code === "DEVICE_LOST" || end.w?.length === 10, String(end));
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.throws(() => opt.step({ w: new Float32Array(10) }), { code: "DEVICE_LOST" });
  await assert.rejects(opt.params(), { code: "DEVICE_LOST" });
  assert.equal(told.length, 1);
  opt.free();
});

/** Steps with clipping, skipping and accumulation, from a given one on. */
function train(opt, from, to) {
  for (let step = from; step < to; step++) {
    const w = Float32Array.from({ length: 300 }, (_, i) => Math.sin(step * 7 + i));
    if (step % 5 === 3) w[0] = Number.NaN;
    opt.accumulate({ w, b: Float32Array.of(step) }, 2);
    opt.accumulate({ w }, 1);
    opt.step();
  }
}

test("a run whose device is destroyed ends with the same parameters as an undisturbed one", async () => {
  const start = { w: Float32Array.from({ length: 300 }, (_, i) => Math.cos(i)), b: Float32Array.of(1) };
  const options = { lr: (step) => 0.1 / (step + 1), clip: { globalNorm: 1 }, nonfinite: "skip", ema: { decay: 0.9 }, snapshotEvery: 4 };
  const undisturbed = await LAMB.create(start, { ...options, device: await ownDevice() });
  train(undisturbed, 0, 20);
  const device = await ownDevice();
  const opt = await LAMB.create(start, { ...options, device });
  const told = [];
  opt.onLost((reason) => told.push(reason));
  train(opt, 0, 9);
  await opt.params();
  train(opt, 9, 11);
  device.destroy();
  await device.lost;
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.throws(() => opt.step(), { code: "DEVICE_LOST" });
  const next = await ownDevice();
  const at = await opt.restore(next);
  assert.ok(at === 4 || at === 8, String(at));
  assert.deepEqual([opt.steps, opt.device], [at, next]);
  train(opt, at, 20);
  assert.deepEqual(await opt.params(), await undisturbed.params());
  assert.deepEqual(await opt.emaParams(), await undisturbed.emaParams());
  assert.deepEqual(await opt.stats(), await undisturbed.stats());
  next.destroy();
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(told.length, 2);
});

test("restoring goes back to the first step where there is no later snapshot, into buffers of the page's", async () => {
  const device = await ownDevice();
  const opt = await SGD.create({ w: Float32Array.of(1, 2, 3) }, { device, lr: 1, snapshotEvery: 100 });
  opt.step({ w: Float32Array.of(1, 1, 1) });
  const w = device.createBuffer({ size: 12, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST });
  await assert.rejects(opt.restore(device, { w: Float32Array.of(1) }), { code: "INVALID_CONFIG", message: /only a buffer/ });
  await assert.rejects(opt.restore(device, { v: w }), { code: "UNKNOWN_PARAM" });
  await assert.rejects(opt.restore(device, { w: { buffer: w, length: 2 } }), { code: "LENGTH_MISMATCH" });
  assert.equal(opt.steps, 1);
  assert.equal(await opt.restore(device, { w }), 0);
  assert.deepEqual([...(await opt.params()).w], [1, 2, 3]);
  assert.equal(opt.paramBuffer("w").buffer, w);
});

test("without snapshots, and on the CPU, restoring says so", async () => {
  const without = await SGD.create({ w: new Float32Array(1) }, { device: "gpu" });
  await assert.rejects(without.restore(), { code: "UNSUPPORTED", message: /snapshotEvery/ });
  without.step({ w: Float32Array.of(1) });
  await without.snapshot();
  without.step({ w: Float32Array.of(1) });
  assert.equal(await without.restore(), 1);
  const cpu = await SGD.create({ w: new Float32Array(1) }, { device: "cpu", snapshotEvery: 2 });
  await assert.rejects(cpu.restore(), { code: "UNSUPPORTED", message: /CPU/ });
  for (const snapshotEvery of [0, 1.5, -1, "2"]) {
    await assert.rejects(SGD.create({ w: new Float32Array(1) }, { snapshotEvery }), { code: "INVALID_CONFIG", message: /snapshotEvery/ });
  }
});
