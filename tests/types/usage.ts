// Compiled, never run: what the types must accept, and what they must refuse.
import init, { AdamW, cosine, Optimizer, SGD, type Schedule, type Stats } from "webgpu-optim";

await init();
const lr: Schedule = cosine({ peak: 1e-3, warmup: 100, total: 5000 });
const opt = await AdamW.create(
  { w: new Float32Array(3), b: new Float32Array(1) },
  { lr, clip: { globalNorm: 1 }, nonfinite: "skip", groups: [{ match: /b/, weightDecay: 0 }] },
);
opt.step({ w: new Float32Array(3) });
const w: Float32Array = (await opt.params()).w;
const stats: Stats = await opt.stats();
const slice: GPUBuffer = opt.gradBuffer("b").buffer;
// @ts-expect-error there is no tensor of that name
opt.step({ v: new Float32Array(3) });
const own = await AdamW.create({ w: slice, b: { buffer: slice, offset: 4, length: 1 } }, { device: opt.device, valuesPerSubmit: 1e6 });
own.encodeStep(own.device.createCommandEncoder(), { w: slice, b: opt.gradBuffer("b") });
const half = await AdamW.create({ w: new Uint16Array(3), b: { data: new Float32Array(1), dtype: "bf16" }, c: { buffer: slice, dtype: "f16" } }, { dtype: "f16" });
half.step({ w: new Uint16Array(3), c: slice });
declare const halves: { w: import("webgpu-optim").Float16Values };
half.step(halves);
// @ts-expect-error no such format
await AdamW.create({ w }, { dtype: "f8" });
// @ts-expect-error gradients are Float32Arrays, halves or GPUBuffers
opt.step({ w: new Float64Array(3) });
// @ts-expect-error an option of another rule
await SGD.create({ w }, { beta1: 0.9 });
// @ts-expect-error a number, not a string
opt.set({ weightDecay: "0" });
// @ts-expect-error no such clipping
await SGD.create({ w }, { clip: { norm: 1 } });
// @ts-expect-error no such rule
await Optimizer.create("adamx", { w });
using lamb = await Optimizer.create("lamb", { w }, { exclude: /bias/ });
console.log(stats.gradNorm, slice, lamb.options(0).trustClamp);
