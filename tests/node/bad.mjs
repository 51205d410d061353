// Bad input as a table, for Node and for a browser: what is done, and the code and message it must meet.
const params = () => ({ w: Float32Array.of(1, 2, 3), b: Float32Array.of(0.5) });
const cosine = (options) => ({ cosine: options });

/** Calls on an AdamW that has taken a step. */
const calls = [
  ["a gradient of the wrong length", "LENGTH_MISMATCH", /`w` has 2 values, expected 3/, (opt) => opt.step({ b: Float32Array.of(9), w: new Float32Array(2) })],
  ["an unknown name", "UNKNOWN_PARAM", /`v`; there are w, b/, (opt) => opt.step({ v: new Float32Array(1) })],
  ["a gradient of doubles", "WRONG_TYPE", /`w` must be a Float32Array or a GPUBuffer, got Float64Array/, (opt) => opt.step({ w: new Float64Array(3) })],
  ["a gradient that is a plain array", "WRONG_TYPE", /`w` .* got Array/, (opt) => opt.step({ w: [1, 2, 3] })],
  ["a gradient that is null", "WRONG_TYPE", /`w`/, (opt) => opt.step({ w: null })],
  ["a learning rate that is not a number", "INVALID_CONFIG", /lr must be finite and at least 0, got NaN/, (opt) => (opt.lr = Number.NaN)],
  ["an option out of its range", "INVALID_CONFIG", /beta1 must be at least 0 and less than 1, got 1/, (opt) => opt.set({ beta1: 1 })],
  ["an infinite option", "INVALID_CONFIG", /eps must be finite/, (opt) => opt.set({ eps: Number.POSITIVE_INFINITY })],
  ["an option of the wrong type", "INVALID_CONFIG", /option eps: .*string/, (opt) => opt.set({ eps: "1e-8" })],
  ["an unknown option", "INVALID_CONFIG", /unknown field `learningRate`/, (opt) => opt.set({ learningRate: 1 })],
  ["an option of another optimizer", "INVALID_CONFIG", /AdamW: option momentum/, (opt) => opt.set({ momentum: 0.9 })],
  ["a group there is not", "INVALID_CONFIG", /no group 4/, (opt) => opt.set({ lr: 1 }, 4)],
  ["a bad schedule", "INVALID_CONFIG", /total must be at least 11, got 5/, (opt) => opt.set({ lr: cosine({ peak: 1, warmup: 10, total: 5 }) })],
  ["an unknown field of a schedule", "INVALID_CONFIG", /unknown field `totl`/, (opt) => opt.set({ lr: cosine({ peak: 1, total: 5, totl: 5 }) })],
];

/** Creations of an SGD. */
const creations = [
  ["an empty set of parameters", "INVALID_CONFIG", /the parameter set is empty/, {}, {}],
  ["a parameter of another type", "WRONG_TYPE", /params of `w` must be a Float32Array or a GPUBuffer, got Array/, { w: [1, 2] }, {}],
  ["a parameter that is undefined", "WRONG_TYPE", /params of `w`/, { w: undefined }, {}],
  ["a group of an unknown name", "UNKNOWN_PARAM", /`v`/, params(), { groups: [{ match: "v" }] }],
  ["a group with an unknown option", "INVALID_CONFIG", /option beta1/, params(), { groups: [{ match: "w", beta1: 0.9 }] }],
  ["nesterov without momentum", "INVALID_CONFIG", /nesterov needs momentum above 0/, params(), { nesterov: true }],
  ["an unknown kind of clipping", "INVALID_CONFIG", /option clip: unknown variant `norm`/, params(), { clip: { norm: 1 } }],
  ["a bound that is no bound", "INVALID_CONFIG", /clip.globalNorm/, params(), { clip: { globalNorm: 0 } }],
  ["a loss scale out of range", "INVALID_CONFIG", /lossScale: max/, params(), { lossScale: { min: 2, max: 1 } }],
];

function check(OptimError, error, code, message) {
  if (!(error instanceof OptimError) || !(error instanceof Error)) throw new Error(`not an OptimError: ${String(error)}`);
  if (error.code !== code) throw new Error(`code ${error.code} instead of ${code}: ${error.message}`);
  if (!message.test(error.message)) throw new Error(`the message does not name the culprit: ${error.message}`);
}

const state = async (opt) => JSON.stringify([await opt.params(), await opt.slots(), opt.steps, opt.options(0)]);

async function refusedCall({ AdamW, OptimError }, device, code, message, act) {
  const opt = await AdamW.create(params(), { device });
  opt.step({ w: Float32Array.of(1, 1, 1), b: Float32Array.of(1) });
  const before = await state(opt);
  let error;
  try {
    act(opt);
  } catch (thrown) {
    error = thrown;
  }
  check(OptimError, error, code, message);
  if ((await state(opt)) !== before) throw new Error("something has changed");
  opt.step({ w: Float32Array.of(1, 1, 1) });
  opt.free();
}

async function refusedCreation({ SGD, OptimError }, device, code, message, given, options) {
  const error = await SGD.create(given, { device, ...options }).then(() => undefined, (thrown) => thrown);
  check(OptimError, error, code, message);
}

async function freed({ SGD, OptimError }, device) {
  const opt = await SGD.create(params(), { device });
  opt.free();
  const uses = [() => opt.step(), () => opt.lr, () => (opt.lr = 1), () => opt.set({}), () => opt.info(), () => opt.steps, () => opt.device, () => opt.params(), () => opt.stats()];
  for (const use of uses) {
    const error = await Promise.resolve().then(use).then(() => undefined, (thrown) => thrown);
    check(OptimError, error, "FREED", /sgd optimizer was freed/);
  }
}

async function emptyTensor({ SGD }, device) {
  const opt = await SGD.create({ empty: new Float32Array(0), w: Float32Array.of(1), last: new Float32Array(0) }, { lr: 1, device });
  opt.step({ empty: new Float32Array(0), w: Float32Array.of(1), last: new Float32Array(0) });
  const { w, last } = await opt.params();
  if (w[0] !== 0 || last.length !== 0) throw new Error(`w is ${w[0]}, last has ${last.length} values`);
}

/** Every case as `{ name, run }`; `run(library, device)` rejects where it does not hold. */
export const badInputs = [
  ...calls.map(([name, code, message, act]) => ({ name: `${name} is refused`, run: (lib, device) => refusedCall(lib, device, code, message, act) })),
  ...creations.map(([name, code, message, given, options]) => ({ name: `${name} is refused`, run: (lib, device) => refusedCreation(lib, device, code, message, given, options) })),
  { name: "every use after free is refused", run: freed },
  { name: "a tensor without values is no error", run: emptyTensor },
];
