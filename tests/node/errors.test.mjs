// Bad input: an OptimError with a stable code that names the culprit, and nothing has changed.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { promisify } from "node:util";
import init, { AdamW, OptimError, Optimizer, SGD, cosine } from "../../dist/index.js";

await init();

const params = () => ({ w: Float32Array.of(1, 2, 3), b: Float32Array.of(0.5) });

const is = (code, message) => (error) => {
  assert.ok(error instanceof OptimError && error instanceof Error, String(error));
  assert.equal(error.code, code);
  assert.match(error.message, message);
  return true;
};

/** A call on an optimizer that has taken a step must throw, and leave it as it was. */
function refuses(name, code, message, act) {
  for (const device of ["gpu", "cpu"]) {
    test(`${name} is refused (${device})`, async () => {
      const opt = await AdamW.create(params(), { device });
      opt.step({ w: Float32Array.of(1, 1, 1), b: Float32Array.of(1) });
      const before = [await opt.params(), await opt.slots(), opt.steps, opt.options(0)];
      assert.throws(() => act(opt), is(code, message));
      assert.deepEqual([await opt.params(), await opt.slots(), opt.steps, opt.options(0)], before);
      opt.step({ w: Float32Array.of(1, 1, 1) });
      assert.equal(opt.steps, 2);
    });
  }
}

refuses("a gradient of the wrong length", "LENGTH_MISMATCH", /`w` has 2 values, expected 3/, (opt) =>
  opt.step({ b: Float32Array.of(9), w: new Float32Array(2) }));
refuses("an unknown name", "UNKNOWN_PARAM", /`v`; there are w, b/, (opt) => opt.step({ v: new Float32Array(1) }));
refuses("a gradient of doubles", "WRONG_TYPE", /`w` must be a Float32Array, got Float64Array/, (opt) => opt.step({ w: new Float64Array(3) }));
refuses("a gradient that is a plain array", "WRONG_TYPE", /`w` .* got Array/, (opt) => opt.step({ w: [1, 2, 3] }));
refuses("a gradient that is null", "WRONG_TYPE", /`w`/, (opt) => opt.step({ w: null }));
refuses("a learning rate that is not a number", "INVALID_CONFIG", /lr must be finite and at least 0, got NaN/, (opt) => (opt.lr = Number.NaN));
refuses("an option out of its range", "INVALID_CONFIG", /beta1 must be at least 0 and less than 1, got 1/, (opt) => opt.set({ beta1: 1 }));
refuses("an infinite option", "INVALID_CONFIG", /eps must be finite/, (opt) => opt.set({ eps: Number.POSITIVE_INFINITY }));
refuses("an option of the wrong type", "INVALID_CONFIG", /option eps: .*string/, (opt) => opt.set({ eps: "1e-8" }));
refuses("an unknown option", "INVALID_CONFIG", /unknown field `learningRate`/, (opt) => opt.set({ learningRate: 1 }));
refuses("an option of another optimizer", "INVALID_CONFIG", /AdamW: option momentum/, (opt) => opt.set({ momentum: 0.9 }));
refuses("a group there is not", "INVALID_CONFIG", /no group 4/, (opt) => opt.set({ lr: 1 }, 4));
refuses("a bad schedule", "INVALID_CONFIG", /total must be at least 11, got 5/, (opt) => opt.set({ lr: cosine({ peak: 1, warmup: 10, total: 5 }) }));
refuses("an unknown field of a schedule", "INVALID_CONFIG", /unknown field `totl`/, (opt) => opt.set({ lr: { cosine: { peak: 1, total: 5, totl: 5 } } }));
test("an unknown tensor's buffer is refused", async () => {
  const opt = await AdamW.create(params(), { device: "gpu" });
  for (const name of ["gradBuffer", "paramBuffer"]) assert.throws(() => opt[name]("v"), is("UNKNOWN_PARAM", /`v`; there are w, b/));
});

for (const device of ["gpu", "cpu"]) {
  const create = (given, options) => SGD.create(given, { device, ...options });
  const bad = [
    ["an empty set of parameters", {}, {}, "INVALID_CONFIG", /the parameter set is empty/],
    ["a parameter of another type", { w: [1, 2] }, {}, "WRONG_TYPE", /params of `w` must be a Float32Array, got Array/],
    ["a parameter that is undefined", { w: undefined }, {}, "WRONG_TYPE", /params of `w`/],
    ["a group of an unknown name", params(), { groups: [{ match: "v" }] }, "UNKNOWN_PARAM", /`v`/],
    ["a group with an unknown option", params(), { groups: [{ match: "w", beta1: 0.9 }] }, "INVALID_CONFIG", /option beta1/],
    ["nesterov without momentum", params(), { nesterov: true }, "INVALID_CONFIG", /nesterov needs momentum above 0/],
    ["an unknown kind of clipping", params(), { clip: { norm: 1 } }, "INVALID_CONFIG", /option clip: unknown variant `norm`/],
    ["a bound that is no bound", params(), { clip: { globalNorm: 0 } }, "INVALID_CONFIG", /clip.globalNorm/],
    ["a loss scale out of range", params(), { lossScale: { min: 2, max: 1 } }, "INVALID_CONFIG", /lossScale: max/],
  ];
  for (const [name, given, options, code, message] of bad) {
    test(`${name} is refused (${device})`, () => assert.rejects(create(given, options), is(code, message)));
  }

  test(`a tensor without values is no error (${device})`, async () => {
    const opt = await create({ empty: new Float32Array(0), w: Float32Array.of(1), last: new Float32Array(0) }, { lr: 1 });
    opt.step({ empty: new Float32Array(0), w: Float32Array.of(1), last: new Float32Array(0) });
    assert.equal((await opt.params()).w[0], 0);
    assert.equal((await opt.params()).last.length, 0);
  });

  test(`every use after free is refused (${device})`, async () => {
    const opt = await create(params());
    opt.free();
    for (const use of [() => opt.step(), () => opt.lr, () => (opt.lr = 1), () => opt.set({}), () => opt.info(), () => opt.steps, () => opt.device]) {
      assert.throws(use, is("FREED", /sgd optimizer was freed/));
    }
    await assert.rejects(opt.params(), is("FREED", /freed/));
    await assert.rejects(opt.stats(), is("FREED", /freed/));
  });
}

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
