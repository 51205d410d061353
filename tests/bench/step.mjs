// What a step costs through Dawn and wasm, as a fraction of what a copy kernel reaches on the same device in the same run.
// `node tests/bench/step.mjs [VALUES]` (default 4 Mi values in one tensor), after `npm run build`.
import { readFileSync } from "node:fs";
import init, { Optimizer, SGD } from "../../dist/index.js";

const values = Number(process.argv[2] ?? 4 << 20);
const [rounds, steps] = [7, 20];
// Bytes a parameter, as step.rs counts them in the kernels.
const rules = { sgd: 12, adam: 28, adamw: 28, rmsprop: 20, adagrad: 20, lamb: 40 };
const all = { clip: { globalNorm: 1 }, nonfinite: "skip", lossScale: "dynamic" };

await init();
(await SGD.create({ w: new Float32Array(1) }, { device: "gpu" })).free();
const adapter = await navigator.gpu.requestAdapter({ powerPreference: "high-performance" });
const { limits } = adapter;
const requiredFeatures = adapter.features.has("shader-f16") ? ["shader-f16"] : [];
const { maxBufferSize, maxStorageBufferBindingSize } = limits;
const device = await adapter.requestDevice({ requiredFeatures, requiredLimits: { maxBufferSize, maxStorageBufferBindingSize } });
const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
const buffer = (width) => device.createBuffer({ size: values * width, usage });

function copying() {
  const code = readFileSync(new URL("copy.wgsl", import.meta.url), "utf8");
  const pipeline = device.createComputePipeline({ layout: "auto", compute: { module: device.createShaderModule({ code }) } });
  const entries = [0, 1].map((binding) => ({ binding, resource: { buffer: buffer(4) } }));
  const group = device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
  const count = Math.ceil(values / 1024);
  const width = count <= 65535 ? count : Math.ceil(Math.sqrt(count));
  return () => {
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group);
    pass.dispatchWorkgroups(width, Math.ceil(count / width));
    pass.end();
    device.queue.submit([encoder.finish()]);
  };
}

async function time(act) {
  await device.queue.onSubmittedWorkDone();
  const start = performance.now();
  for (let i = 0; i < steps; i++) act();
  await device.queue.onSubmittedWorkDone();
  return (performance.now() - start) / steps / 1e3;
}

const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];

async function row(kind, name, bytes, width, options, copy) {
  const dtype = width === 2 ? "f16" : "f32";
  const [params, grads] = [buffer(width), buffer(width)];
  const opt = await Optimizer.create(kind, { w: params }, { device, dtype, ...options });
  const step = () => opt.step({ w: grads });
  step();
  const [copies, taken] = [[], []];
  for (let round = 0; round < rounds; round++) {
    copies.push(await time(copy));
    taken.push(await time(step));
  }
  const [rate, copied] = [(values * bytes) / median(taken) / 1e9, (values * 8) / median(copies) / 1e9];
  console.log(`${kind.padEnd(9)} ${name.padEnd(22)} ${String(bytes).padStart(3)} B ${rate.toFixed(0).padStart(7)} GB/s ${((100 * rate) / copied).toFixed(0).padStart(4)} % of copy`);
  opt.free();
  [params, grads].forEach((it) => it.destroy());
}

const { vendor, architecture, description } = device.adapterInfo;
console.log(`${description || `${vendor} ${architecture}`} through Dawn, ${values} values in one tensor of the page's own, shader-f16 ${requiredFeatures.length > 0}`);
const copy = copying();
for (const [kind, bytes] of Object.entries(rules)) {
  await row(kind, "plain", bytes, 4, {}, copy);
  await row(kind, "clip", bytes + 4, 4, { clip: { globalNorm: 1 } }, copy);
  await row(kind, "clip, scale, skip", bytes + 4, 4, all, copy);
  // A gradient of 2 bytes less, a copy of 2 bytes more.
  await row(kind, "f16", bytes, 2, {}, copy);
  await row(kind, "f16, all of it", bytes + 2, 2, all, copy);
}
process.exit(0);
