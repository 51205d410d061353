// Checkpoints and residency, from JavaScript.
import assert from "node:assert/strict";
import { test } from "node:test";
import init, { AdamW, LAMB, Optimizer, RULES, SGD, cosine, readCheckpoint } from "../../dist/index.js";

await init();
(await SGD.create({ w: new Float32Array(1) }, { device: "gpu" })).free();
const ownDevice = async () => (await navigator.gpu.requestAdapter()).requestDevice();
const devices = ["cpu", "gpu"];
const all = { clip: { globalNorm: 0.5 }, lossScale: { init: 8, growthInterval: 3 }, ema: { warmup: true }, history: 3 };

const start = () => ({ w: Float32Array.from({ length: 5000 }, (_, i) => Math.sin(i)), b: new Float32Array([0.5, -0.25, 1]), none: new Float32Array(0) });

// Some gradients overflow, some are left out, some are accumulated.
function act(opt, from, to) {
  for (let step = from; step < to; step++) {
    const grads = { w: Float32Array.from({ length: 5000 }, (_, i) => Math.cos(i * step + 1)), b: new Float32Array([1, step, -1]), none: new Float32Array(0) };
    if (step % 4 === 2) grads.b[1] = NaN;
    if (step % 5 === 0) delete grads.w;
    if (step % 3 === 1) opt.accumulate(grads, 2);
    else if (step % 3 === 2) {
      opt.accumulate(grads, 3);
      opt.step();
    } else opt.step(grads);
  }
}

const bits = async (opt) => Buffer.from(await opt.save());

for (const on of devices) {
  for (const { kind } of RULES()) {
    for (const options of [{}, all]) {
      test(`${kind} goes on from a checkpoint bit for bit on the ${on}${options.clip ? ", all of it switched on" : ""}`, async () => {
        const opt = await Optimizer.create(kind, start(), { ...options, lr: cosine({ peak: 0.01, total: 40, warmup: 4 }), device: on });
        act(opt, 0, 8);
        const saving = opt.save({ extra: { epoch: 3 } });
        act(opt, 8, 9);
        const bytes = await saving;
        const again = await Optimizer.load(bytes, { device: on });
        const into = await Optimizer.create(kind, start(), { ...options, lr: cosine({ peak: 0.01, total: 40, warmup: 4 }), device: on });
        const before = on === "gpu" && into.paramBuffer("w").buffer;
        act(into, 3, 6);
        assert.deepEqual((await into.load(bytes)).loaded, ["w", "b", "none"]);
        if (on === "gpu") assert.equal(into.paramBuffer("w").buffer, before);
        assert.ok(Buffer.from(bytes).equals(Buffer.from(await again.save({ extra: { epoch: 3 } }))));
        act(opt, 9, 16);
        act(again, 8, 16);
        act(into, 8, 16);
        const want = await bits(opt);
        assert.ok(want.equals(await bits(again)));
        assert.ok(want.equals(await bits(into)));
        assert.deepEqual(await again.stats(), await opt.stats());
        [opt, again, into].forEach((it) => it.free());
      });
    }
  }
}

test("a run goes from the CPU to the GPU and back, by file and by moving", async () => {
  const opt = await AdamW.create(start(), { ...all, device: "cpu" });
  act(opt, 0, 8);
  const want = await bits(opt);
  const onGpu = await AdamW.load(want, { device: "gpu" });
  assert.equal(onGpu.info().backend, "webgpu");
  const [got, params] = [await onGpu.params(), await opt.params()];
  assert.deepEqual(got, params);
  await opt.moveToGpu();
  assert.equal(opt.info().backend, "webgpu");
  assert.deepEqual(await opt.params(), params);
  act(opt, 8, 12);
  act(onGpu, 8, 12);
  assert.ok((await bits(opt)).equals(await bits(onGpu)));
  const back = await AdamW.load(await opt.save(), { device: "cpu" });
  assert.deepEqual(await back.slots(), await opt.slots());
});

test("a run that stands in main memory can be read and saved, and steps again when it is back", async () => {
  const opt = await LAMB.create(start(), { ...all, device: "gpu" });
  act(opt, 0, 9);
  const [want, params, stats] = [await bits(opt), await opt.params(), await opt.stats()];
  const moving = opt.moveToCpu();
  assert.throws(() => opt.step({ b: new Float32Array(3) }), { code: "UNSUPPORTED" });
  await moving;
  await opt.moveToCpu();
  assert.deepEqual(await opt.params(), params);
  assert.deepEqual(await opt.stats(), stats);
  assert.ok(want.equals(await bits(opt)));
  const refused = [() => opt.step({ b: new Float32Array(3) }), () => opt.step(), () => opt.accumulate(), () => opt.swapEma(), () => opt.paramBuffer("w"), () => opt.set({ beta1: 0.5 }), () => void (opt.lr = 1)];
  for (const act of refused) assert.throws(act, { code: "UNSUPPORTED" }, String(act));
  await opt.moveToGpu();
  await opt.moveToGpu();
  assert.ok(want.equals(await bits(opt)));
  const other = await LAMB.load(want, { device: "gpu" });
  act(opt, 9, 14);
  act(other, 9, 14);
  assert.ok((await bits(opt)).equals(await bits(other)));
});

test("parameters in the page's own buffers are loaded there, and stand there again after a move", async () => {
  const own = await ownDevice();
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
  const w = own.createBuffer({ size: 4 * 1000, usage });
  const opt = await SGD.create({ w, b: new Float32Array([1]) }, { device: own, momentum: 0.9 });
  const grads = { w: new Float32Array(1000).fill(1), b: new Float32Array([2]) };
  opt.step(grads);
  const bytes = await opt.save();
  opt.step(grads);
  await opt.load(bytes);
  assert.equal(opt.paramBuffer("w").buffer, w);
  assert.ok(Buffer.from(bytes).equals(await bits(opt)));
  await opt.moveToCpu();
  own.queue.writeBuffer(w, 0, new Float32Array(1000));
  await opt.moveToGpu();
  assert.equal(opt.paramBuffer("w").buffer, w);
  assert.ok(Buffer.from(bytes).equals(await bits(opt)));
});

for (const on of devices) {
  test(`what does not fit is refused on the ${on}, and nothing changes`, async () => {
    const opt = await AdamW.create(start(), { device: on });
    act(opt, 0, 3);
    const want = await bits(opt);
    const other = await AdamW.create({ w: new Float32Array(4), x: new Float32Array(2) }, { device: on, beta1: 0.8, weightDecay: 0 });
    const file = await other.save();
    await assert.rejects(opt.load(file), ({ code, message }) => {
      assert.equal(code, "CHECKPOINT_MISMATCH");
      for (const part of ["`b` is missing", "`none` is missing", "`x`", "`w` has 4 values", "beta1 is 0.8", "weightDecay is 0 "]) assert.ok(message.includes(part), `${part} in ${message}`);
      return true;
    });
    await assert.rejects(opt.load(await (await SGD.create(start(), { device: on })).save()), { code: "CHECKPOINT_MISMATCH" });
    await assert.rejects(SGD.load(want, { device: on }), { code: "CHECKPOINT_MISMATCH" });
    await assert.rejects(opt.load(want.subarray(0, want.length - 4)), { code: "INVALID_CHECKPOINT" });
    await assert.rejects(opt.load(new Uint8Array(3)), { code: "INVALID_CHECKPOINT" });
    await assert.rejects(opt.load(/** @type {any} */ ("file")), { code: "INVALID_CHECKPOINT" });
    const broken = new Blob([want]);
    broken.slice = (from, to) => Blob.prototype.slice.call(broken, from > 8 ? to : from, to);
    await assert.rejects(opt.load(broken), { code: "INVALID_CHECKPOINT" });
    assert.ok(want.equals(await bits(opt)));
    const report = await opt.load(await (await AdamW.create({ b: new Float32Array([7, 8, 9]), y: new Float32Array(1) }, { device: on })).save(), { partial: true });
    assert.deepEqual(report, { loaded: ["b"], missing: ["w", "none"], unexpected: ["y"], misshapen: [] });
    assert.deepEqual((await opt.params()).b, new Float32Array([7, 8, 9]));
  });

  test(`a learning rate that is a function goes on where it was on the ${on}`, async () => {
    const options = { lr: (step) => 0.1 / (step + 1), nonfinite: "skip", device: on };
    const grads = { w: new Float32Array([1]) };
    const make = () => SGD.create({ w: new Float32Array([1]) }, options);
    const opt = await make();
    opt.step(grads);
    opt.step({ w: new Float32Array([Infinity]) });
    const bytes = await opt.save();
    await assert.rejects(SGD.load(bytes), { code: "UNSUPPORTED" });
    const again = await make();
    await again.load(bytes);
    assert.equal(again.steps, 2);
    [opt, again].forEach((it) => it.step(grads));
    const [want, got] = [await opt.params(), await again.params()];
    assert.deepEqual(got, want);
    assert.ok(Math.abs(want.w[0] - (1 - 0.1 - 0.05)) < 1e-7);
  });
}

test("a file tells what it is, in whatever it comes, and progress is told", async () => {
  const opt = await AdamW.create({ w: new Float32Array(5_000_000) }, { device: "gpu" });
  const told = [];
  const file = await opt.saveBlob({ extra: { curve: [1, 2] }, onProgress: (done, total) => told.push(done / total) });
  assert.equal(told.length, 8);
  assert.equal(told.at(-1), 1);
  const info = await readCheckpoint(file);
  assert.deepEqual({ ...info, version: "", size: 0 }, { kind: "adamw", version: "", schema: 1, steps: 0, tensors: { w: 5_000_000 }, size: 0, extra: { curve: [1, 2] } });
  let last;
  const store = { read: async () => last, write: async (pieces) => { const parts = []; for await (const piece of pieces) parts.push(new Blob([piece])); last = new Blob(parts); }, remove: async () => {} };
  await assert.rejects(opt.load(store), { code: "INVALID_CHECKPOINT" });
  await opt.saveTo(store);
  assert.ok(last.size > 60_000_000);
  const loaded = [];
  await opt.load(store, { onProgress: (done, total) => loaded.push(done / total) });
  assert.equal(loaded.at(-1), 1);
  await opt.load(await (await opt.saveBlob()).arrayBuffer());
});
