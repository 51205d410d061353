// Models in binary16 and bfloat16, on the GPU and on the CPU.
import assert from "node:assert/strict";
import { test } from "node:test";
import init, { AdamW, Optimizer, RULES, SGD, bfloat16ToFloat32, float16ToFloat32, float32ToBfloat16, float32ToFloat16 } from "../../dist/index.js";

await init();
(await SGD.create({ w: new Float32Array(1) }, { device: "gpu" })).free();
const device = await (await navigator.gpu.requestAdapter()).requestDevice();
const { STORAGE, COPY_SRC, COPY_DST, MAP_READ } = GPUBufferUsage;
const formats = { f16: [float32ToFloat16, float16ToFloat32], bf16: [float32ToBfloat16, bfloat16ToFloat32] };
const lengths = { a: 1, b: 2, c: 3, d: 5, e: 255, f: 257, g: 1025, z: 0 };
const noise = (seed, length) => Float32Array.from({ length }, (_, i) => Math.sin(seed * 12.9898 + i * 78.233));
const map = (tensors, to) => Object.fromEntries(Object.entries(tensors).map(([name, values]) => [name, to(values, name)]));

async function readHalves({ buffer, offset, size }, length) {
  const staging = device.createBuffer({ size, usage: MAP_READ | COPY_DST });
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, offset, staging, 0, size);
  device.queue.submit([encoder.finish()]);
  await staging.mapAsync(1);
  return new Uint16Array(staging.getMappedRange().slice(0), 0, length);
}

const near = (got, want, what) =>
  got.forEach((value, i) => assert.ok(Math.abs(value - want[i]) <= 1e-5, `${what}[${i}]: ${value}, want ${want[i]}`));

test("a model in halves trains as one in 32 bits that begins alike, at every length and in every rule", async () => {
  for (const [dtype, [narrow, widen]] of Object.entries(formats)) {
    for (const { kind } of RULES()) {
      const start = map(lengths, (length) => narrow(noise(length, length)));
      const own = await Optimizer.create(kind, start, { device, dtype, lr: 0.01, clip: { globalNorm: 1 } });
      const cpu = await Optimizer.create(kind, start, { device: "cpu", dtype, lr: 0.01, clip: { globalNorm: 1 } });
      const wide = await Optimizer.create(kind, map(start, widen), { device: "cpu", lr: 0.01, clip: { globalNorm: 1 } });
      for (let step = 1; step <= 3; step++) {
        const grads = map(lengths, (length) => narrow(noise(step + length, length)));
        own.step(grads);
        cpu.step(grads);
        wide.step(map(grads, widen));
      }
      const [got, host, want] = [await own.params(), await cpu.params(), await wide.params()];
      assert.deepEqual(host, want);
      for (const name of Object.keys(lengths)) {
        near(got[name], want[name], `${kind} ${dtype} ${name}`);
        if (lengths[name] > 0) assert.deepEqual(await readHalves(own.paramBuffer(name), lengths[name]), narrow(got[name]));
      }
      [own, cpu, wide].forEach((opt) => opt.free());
    }
  }
});

test("buffers of halves and arrays of 16 and 32 bits mix, and each is what it says", async () => {
  const start = { array: noise(1, 5), buffer: noise(2, 7), typed: noise(3, 4), own16: noise(4, 3) };
  const buffer = device.createBuffer({ size: 32, usage: STORAGE | COPY_SRC | COPY_DST });
  const fill = (values) => device.queue.writeBuffer(buffer, 4, Uint16Array.of(...float32ToBfloat16(values), 0x1234));
  fill(start.buffer);
  const opt = await AdamW.create(
    {
      array: start.array,
      buffer: { buffer, offset: 4, length: 7, dtype: "bf16" },
      typed: { data: start.typed, dtype: "f16" },
      own16: { data: float32ToFloat16(start.own16), dtype: "f16" },
    },
    { device, lr: 0.01 },
  );
  const rounded = { ...start, buffer: bfloat16ToFloat32(float32ToBfloat16(start.buffer)), own16: float16ToFloat32(float32ToFloat16(start.own16)) };
  assert.deepEqual(await opt.params(), rounded);
  assert.deepEqual(await readHalves(opt.paramBuffer("typed"), 4), float32ToFloat16(start.typed));
  const cpu = await AdamW.create(rounded, { device: "cpu", lr: 0.01 });
  for (let step = 1; step <= 3; step++) {
    const grads = map(start, (values) => noise(step, values.length));
    const grad = device.createBuffer({ size: 16, usage: STORAGE | COPY_DST });
    device.queue.writeBuffer(grad, 0, Uint16Array.of(...float32ToBfloat16(grads.buffer), 0));
    opt.step({ ...grads, buffer: { buffer: grad, length: 7 }, typed: float32ToFloat16(grads.typed), own16: { data: float32ToBfloat16(grads.own16), dtype: "bf16" } });
    cpu.step({
      ...grads,
      buffer: bfloat16ToFloat32(float32ToBfloat16(grads.buffer)),
      typed: float16ToFloat32(float32ToFloat16(grads.typed)),
      own16: bfloat16ToFloat32(float32ToBfloat16(grads.own16)),
    });
  }
  const [got, want] = [await opt.params(), await cpu.params()];
  for (const name of Object.keys(start)) near(got[name], want[name], name);
  assert.deepEqual(await readHalves({ buffer, offset: 4, size: 16 }, 8), Uint16Array.of(...float32ToBfloat16(got.buffer), 0x1234));
  opt.free();
  cpu.free();
});

test("gradients that a page's kernels write are of the tensor's own format", async () => {
  const start = { w: float32ToFloat16(noise(1, 3)), v: noise(2, 3) };
  const [opt, cpu] = await Promise.all([device, "cpu"].map((device) => SGD.create({ ...start, w: { data: start.w, dtype: "f16" } }, { device, lr: 0.5 })));
  const [w, v] = [opt.gradBuffer("w"), opt.gradBuffer("v")];
  assert.deepEqual([w.size, v.size, w.offset % 256, v.offset % 256], [8, 12, 0, 0]);
  const grads = { w: float32ToFloat16(noise(3, 3)), v: noise(4, 3) };
  device.queue.writeBuffer(w.buffer, w.offset, Uint16Array.of(...grads.w, 0));
  device.queue.writeBuffer(v.buffer, v.offset, grads.v);
  opt.step();
  cpu.step(grads);
  const [got, want] = [await opt.params(), await cpu.params()];
  near(got.w, want.w, "w");
  near(got.v, want.v, "v");
});

test("halves survive the loss of their device", async () => {
  const lost = await (await navigator.gpu.requestAdapter()).requestDevice();
  const start = { w: float32ToBfloat16(noise(1, 257)) };
  const grads = (step) => ({ w: float32ToBfloat16(noise(step, 257)) });
  const [opt, plain] = await Promise.all([lost, device].map((device) => AdamW.create(start, { device, dtype: "bf16", snapshotEvery: 1 })));
  for (let step = 1; step <= 2; step++) [opt, plain].forEach((it) => it.step(grads(step)));
  await opt.snapshot();
  lost.destroy();
  assert.equal(await opt.restore(device), 2);
  [opt, plain].forEach((it) => it.step(grads(3)));
  const want = await plain.params();
  assert.deepEqual(await opt.params(), want);
  assert.deepEqual(await readHalves(opt.paramBuffer("w"), 257), float32ToBfloat16(want.w));
});

test("a Uint16Array of no format, a format there is not, and a length that differs are refused", async () => {
  const is = (code, message) => (error) => error.code === code && message.test(error.message);
  for (const at of [device, "cpu"]) {
    const make = (params, options) => AdamW.create(params, { device: at, ...options });
    await assert.rejects(make({ w: new Uint16Array(3) }), is("INVALID_CONFIG", /params of `w` are a Uint16Array: its dtype must be f16 or bf16/));
    await assert.rejects(make({ w: new Float32Array(3) }, { dtype: "f8" }), is("INVALID_CONFIG", /dtype must be f32, f16 or bf16, got f8/));
    await assert.rejects(make({ w: { data: new Float32Array(3), dtype: 16 } }), is("INVALID_CONFIG", /dtype must be f32, f16 or bf16, got/));
    const opt = await make({ w: new Float32Array(3) });
    assert.throws(() => opt.step({ w: new Uint16Array(3) }), is("INVALID_CONFIG", /grads of `w`/));
    assert.throws(() => opt.step({ w: { data: new Uint16Array(2), dtype: "f16" } }), is("LENGTH_MISMATCH", /`w` has 2 values, expected 3/));
    assert.throws(() => opt.step({ w: { data: [1, 2, 3] } }), is("WRONG_TYPE", /`w` must be/));
    opt.free();
  }
  const buffer = device.createBuffer({ size: 16, usage: STORAGE | COPY_SRC | COPY_DST });
  await assert.rejects(AdamW.create({ w: { buffer, offset: 2, length: 3, dtype: "f16" } }, { device }), is("INVALID_CONFIG", /byte 2, which is no multiple of 4/));
  await assert.rejects(AdamW.create({ w: { buffer, offset: 12, length: 3, dtype: "f16" } }, { device }), is("INVALID_CONFIG", /has 16 bytes, and 12 to 18/));
});
