// Bad input: an OptimError with a stable code that names the culprit, and nothing has changed.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import * as library from "../../dist/index.js";
import { badInputs } from "./bad.mjs";

const { default: init, AdamW, OptimError, Optimizer, SGD } = library;

await init();

const params = () => ({ w: Float32Array.of(1, 2, 3), b: Float32Array.of(0.5) });

const is = (code, message) => (error) => {
  assert.ok(error instanceof OptimError && error instanceof Error, String(error));
  assert.equal(error.code, code);
  assert.match(error.message, message);
  return true;
};

for (const device of ["gpu", "cpu"]) {
  for (const { name, run } of badInputs) test(`${name} (${device})`, () => run(library, device));
}

test("an unknown tensor's buffer is refused", async () => {
  const opt = await AdamW.create(params(), { device: "gpu" });
  for (const name of ["gradBuffer", "paramBuffer"]) assert.throws(() => opt[name]("v"), is("UNKNOWN_PARAM", /`v`; there are w, b/));
});

test("an unknown kind of optimizer and of device is refused", async () => {
  await assert.rejects(Optimizer.create("adamx", params(), { device: "cpu" }), is("INVALID_CONFIG", /no optimizer called adamx; there are sgd, adam/));
  await assert.rejects(SGD.create(params(), { device: "tpu" }), is("INVALID_CONFIG", /device must be .* got tpu/));
});

test("the CPU has no device and no buffers, and says so", async () => {
  const opt = await SGD.create(params(), { device: "cpu" });
  for (const use of [() => opt.device, () => opt.gradBuffer("w"), () => opt.paramBuffer("w"), () => opt.step(), () => opt.lossScaleBuffer]) {
    assert.throws(use, is("UNSUPPORTED", /needs a GPU; this optimizer runs on the CPU/));
  }
});

test("without WebGPU `gpu` is refused, and `auto` falls back to the CPU with one warning", async () => {
  const script = `
    import init, { SGD } from ${JSON.stringify(new URL("../../dist/index.js", import.meta.url).href)};
    let warnings = 0;
    console.warn = () => warnings++;
    await init();
    const params = { w: Float32Array.of(1) };
    const refused = await SGD.create(params, { device: "gpu" }).catch((error) => error.code);
    const opt = [await SGD.create(params), await SGD.create(params, { device: "auto" })];
    console.log(JSON.stringify({ refused, backends: opt.map((it) => it.info().backend), warnings }));
    process.exit(0);`;
  const env = { ...process.env, VK_DRIVER_FILES: "/nowhere.json", VK_ICD_FILENAMES: "/nowhere.json" };
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script], { env });
  assert.deepEqual(JSON.parse(stdout), { refused: "NO_WEBGPU", backends: ["cpu", "cpu"], warnings: 1 });
});
