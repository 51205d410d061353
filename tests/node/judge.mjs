// What the tests in Node share: golden cases as options, gradients, drift, the report.
import { appendFileSync, readFileSync } from "node:fs";

const golden = (name) => JSON.parse(readFileSync(new URL(`../golden/${name}.json`, import.meta.url), "utf8"));

export const LENGTHS = [0, 1, 3, 63, 64, 65, 255, 257, 1000];

/** Options of every recorded case of a rule, as a page would write them. */
export function cases(kind) {
  return golden(kind).cases.map(({ name, config, groups = [], schedule }) => ({
    name,
    options: { ...config, ...(schedule && { lr: schedule }), groups: groups.map(({ tensors, config: own }) => ({ match: tensors, ...own, ...(schedule && { lr: schedule }) })) },
  }));
}

/** Values in (-1, 1), the same for the same seed. */
export function noise(seed, length) {
  let state = Math.imul(seed, 0x9e3779b1) | 1;
  return Float32Array.from({ length }, () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 8) / 2 ** 23 - 1;
  });
}

/** Tensors of the lengths around the edges of vectors, segments and tiles, among them those that groups name. */
export function tensors() {
  const named = { w: noise(1, 13), b: noise(2, 3), s: noise(3, 1) };
  return { ...named, ...Object.fromEntries(LENGTHS.map((length) => [`n${length}`, noise(length + 4, length)])) };
}

export function gradients(params, step) {
  return Object.fromEntries(Object.entries(params).map(([name, values], place) => [name, noise(step * 100 + place, values.length)]));
}

/** The largest difference over the largest value there has been in the tensor. */
export class Drift {
  #scales = new Map();
  worst = 0;

  see(name, want) {
    const scale = want.reduce((largest, value) => Math.max(largest, Math.abs(value)), this.#scales.get(name) ?? 0);
    this.#scales.set(name, scale);
    return scale;
  }

  compare(name, got, want) {
    const scale = this.see(name, want);
    if (got.length !== want.length) throw new Error(`${name} has ${got.length} values, wanted ${want.length}`);
    want.forEach((value, i) => {
      const off = Math.abs(got[i] - value);
      const drift = off === 0 ? 0 : off / scale;
      this.worst = Math.max(this.worst, Number.isNaN(drift) ? Infinity : drift);
    });
  }
}

/** Compares parameters and every slot. */
export async function compare(drift, gpu, cpu) {
  const [got, want, gotSlots, wantSlots] = await Promise.all([gpu.params(), cpu.params(), gpu.slots(), cpu.slots()]);
  for (const name of Object.keys(want)) {
    drift.compare(name, got[name], want[name]);
    for (const slot of Object.keys(wantSlots[name])) drift.compare(`${name}.${slot}`, gotSlots[name][slot], wantSlots[name][slot]);
  }
  return drift.worst;
}

export function report(entry) {
  if (process.env.WEBGPU_OPTIM_REPORT) appendFileSync(process.env.WEBGPU_OPTIM_REPORT, `${JSON.stringify({ judge: "parity", ...entry })}\n`);
}
