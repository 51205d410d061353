// Parameters and gradients in buffers of the page's own, and steps in its own command encoder.
import assert from "node:assert/strict";
import { test } from "node:test";
import init, { AdamW, Optimizer, RULES, SGD } from "../../dist/index.js";

await init();
// The first optimizer brings navigator.gpu to Node.
(await SGD.create({ w: new Float32Array(1) }, { device: "gpu" })).free();
const device = await (await navigator.gpu.requestAdapter()).requestDevice();
const { STORAGE, COPY_SRC, COPY_DST, MAP_READ } = GPUBufferUsage;

function buffer(values, usage = STORAGE | COPY_SRC | COPY_DST) {
  const made = device.createBuffer({ size: values.length * 4, usage });
  device.queue.writeBuffer(made, 0, values);
  return made;
}

async function read(source) {
  const staging = device.createBuffer({ size: source.size, usage: MAP_READ | COPY_DST });
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(source, 0, staging, 0, source.size);
  device.queue.submit([encoder.finish()]);
  await staging.mapAsync(1);
  return new Float32Array(staging.getMappedRange().slice(0));
}

const noise = (seed, length) => Float32Array.from({ length }, (_, i) => Math.sin(seed * 12.9898 + i * 78.233));

test("buffers of the page's own are stepped in place, beside arrays, with its objects as they were", async () => {
  const own = Object.getOwnPropertyNames(device);
  for (const { kind } of RULES()) {
    const start = { w: noise(1, 1001), b: noise(2, 5), c: noise(3, 8) };
    // w and its gradient are odd slices of one buffer, b is a whole buffer, c is an array.
    const flat = buffer(new Float32Array(2 * 1001 + 3).fill(7));
    device.queue.writeBuffer(flat, 4, start.w);
    const b = buffer(start.b);
    const bound = await Optimizer.create(kind, { w: { buffer: flat, offset: 4, length: 1001 }, b, c: start.c }, { device, clip: { globalNorm: 1 } });
    const plain = await Optimizer.create(kind, start, { device, clip: { globalNorm: 1 } });
    for (let step = 1; step <= 3; step++) {
      const grads = { w: noise(step, 1001), b: noise(step + 10, 5), c: noise(step + 20, 8) };
      device.queue.writeBuffer(flat, 4 * 1003, grads.w);
      bound.step({ w: { buffer: flat, offset: 4 * 1003, length: 1001 }, b: buffer(grads.b, STORAGE | COPY_DST), c: grads.c });
      plain.step(grads);
    }
    const want = await plain.params();
    assert.deepEqual(await bound.params(), want, kind);
    const after = await read(flat);
    assert.deepEqual(after.slice(1, 1002), want.w);
    assert.deepEqual([after[0], after[1002], after[2004]], [7, 7, 7]);
    assert.deepEqual(await read(b), want.b);
    assert.deepEqual({ ...bound.paramBuffer("b") }, { buffer: b, offset: 0, size: 20 });
    bound.free();
    assert.deepEqual(await read(b), want.b, "the buffer outlives the optimizer");
    plain.free();
  }
  assert.deepEqual(Object.getOwnPropertyNames(device), own);
});

test("another optimizer's slice is a gradient as it is", async () => {
  const from = await SGD.create({ w: Float32Array.of(1, 2, 3) }, { device });
  const opt = await SGD.create({ w: new Float32Array(3) }, { device, lr: 1 });
  opt.step({ w: from.paramBuffer("w") });
  assert.deepEqual([...(await opt.params()).w], [-1, -2, -3]);
});

test("new buffers every step, and three sets in turn, are taken as well", async () => {
  const opt = await SGD.create({ w: Float32Array.of(0, 0), none: buffer(new Float32Array(1)) }, { device, lr: 1 });
  const turns = [1, 2, 3].map((value) => buffer(Float32Array.of(value, value)));
  for (let step = 0; step < 60; step++) {
    opt.step({ w: buffer(Float32Array.of(1, 2)), none: { buffer: turns[0], length: 1 } });
    opt.step({ w: turns[step % 3] });
  }
  const { w, none } = await opt.params();
  assert.deepEqual([...w, ...none], [-60 - 120, -120 - 120, -60]);
});

test("steps recorded into the page's encoder run when it submits, each with its own learning rate", async () => {
  for (const control of [{}, { clip: { globalNorm: 100 }, ema: { decay: 0.5 } }]) {
    const own = Object.getOwnPropertyNames(device);
    const opt = await SGD.create({ w: Float32Array.of(0) }, { device, lr: (step) => 1 / (1 << step), ...control });
    const grad = buffer(Float32Array.of(1));
    const encoder = device.createCommandEncoder();
    opt.encodeStep(encoder, { w: grad });
    opt.encodeStep(encoder, { w: grad });
    device.queue.writeBuffer(opt.gradBuffer("w").buffer, opt.gradBuffer("w").offset, Float32Array.of(2));
    opt.encodeStep(encoder);
    assert.equal((await opt.params()).w[0], 0);
    device.queue.submit([encoder.finish()]);
    assert.ok(Math.abs((await opt.params()).w[0] + (1 + 0.5 + 0.25 * 2)) < 1e-6);
    assert.equal(opt.steps, 3);
    assert.deepEqual(Object.getOwnPropertyNames(device), own);
    assert.throws(() => opt.encodeStep({}), { code: "INVALID_CONFIG", message: /GPUCommandEncoder/ });
    assert.throws(() => opt.encodeStep(null), { code: "INVALID_CONFIG" });
  }
});

test("from the second step on nothing is made or mapped and one thing submitted, with everything switched on", async () => {
  const all = { clip: { globalNorm: 1 }, nonfinite: "skip", lossScale: "dynamic", ema: { decay: 0.9 } };
  for (const { kind } of RULES()) {
    const opt = await Optimizer.create(kind, { w: buffer(noise(1, 101)), b: noise(2, 3) }, { device, ...all });
    const grads = { w: buffer(noise(3, 101)), b: noise(4, 3) };
    opt.step(grads);
    const counts = {};
    const watch = (object, name) => {
      const own = object[name];
      counts[name] = 0;
      object[name] = function (...args) {
        counts[name]++;
        return own.apply(this, args);
      };
      return () => (Object.hasOwn(Object.getPrototypeOf(object), name) ? delete object[name] : (object[name] = own));
    };
    const makers = ["createBuffer", "createComputePipeline", "createBindGroup", "createShaderModule", "createBindGroupLayout"];
    const undo = [...makers.map((name) => watch(device, name)), watch(device.queue, "submit"), watch(GPUBuffer.prototype, "mapAsync")];
    for (let step = 0; step < 3; step++) opt.step(grads);
    undo.forEach((restore) => restore());
    assert.deepEqual(counts, { ...Object.fromEntries(makers.map((name) => [name, 0])), submit: 3, mapAsync: 0 }, kind);
    opt.free();
  }
});

test("a bound on the work of a submission makes several of a step, and changes no result", async () => {
  const start = { w: noise(1, 5000), b: noise(2, 3) };
  const bounded = await AdamW.create(start, { device, valuesPerSubmit: 2048 });
  const free = await AdamW.create(start, { device });
  const { submit } = device.queue;
  let submits = 0;
  device.queue.submit = (...args) => (submits++, submit.apply(device.queue, args));
  bounded.step(start);
  delete device.queue.submit;
  free.step(start);
  assert.ok(submits >= 3, String(submits));
  assert.deepEqual(await bounded.params(), await free.params());
  for (const [value, message] of [[0, /valuesPerSubmit must be at least 1/], [1.5, /valuesPerSubmit/], [-1, /valuesPerSubmit/]]) {
    await assert.rejects(AdamW.create(start, { device, valuesPerSubmit: value }), { code: "INVALID_CONFIG", message });
  }
});

test("buffers that cannot serve are refused by name, and nothing has changed", async () => {
  const ones = buffer(new Float32Array(16).fill(1));
  const create = (w, options = {}) => SGD.create({ w }, { device, ...options });
  await assert.rejects(create({ buffer: ones, offset: 2 }), { code: "INVALID_CONFIG", message: /params of `w` .* byte 2/ });
  await assert.rejects(create({ buffer: ones, offset: -4 }), { code: "INVALID_CONFIG", message: /offset of params of `w`/ });
  await assert.rejects(create({ buffer: ones, length: 17 }), { code: "INVALID_CONFIG", message: /64 bytes, and 0 to 68/ });
  await assert.rejects(create({ buffer: new ArrayBuffer(4) }), { code: "WRONG_TYPE", message: /got Object/ });
  await assert.rejects(create(buffer(new Float32Array(4), STORAGE | COPY_DST)), { code: "INVALID_CONFIG", message: /COPY_SRC/ });
  await assert.rejects(create(ones, { device: "cpu" }), { code: "UNSUPPORTED", message: /GPUBuffer needs a GPU/ });
  await assert.rejects(create(ones, { device: "gpu" }), { code: "GPU" }, "a buffer of another device");
  const opt = await create({ buffer: ones, length: 8 });
  const refused = [
    [{ buffer: ones, offset: 28, length: 8 }, "INVALID_CONFIG", /params of `w` and grads of `w` overlap/],
    [{ buffer: ones, offset: 32, length: 7 }, "LENGTH_MISMATCH", /7 values, expected 8/],
    [buffer(new Float32Array(8), COPY_DST), "INVALID_CONFIG", /STORAGE/],
  ];
  for (const [w, code, message] of refused) {
    assert.throws(() => opt.step({ w }), { code, message });
    assert.throws(() => opt.accumulate({ w }), { code, message });
  }
  assert.equal(opt.steps, 0);
  opt.step({ w: { buffer: ones, offset: 32 } });
  assert.ok(Math.abs((await opt.params()).w[0] - 0.999) < 1e-6);
});
