/** The network, 64 -> 64 -> 32 -> 10 with ReLU between, and what all its implementations share. */
export const SIZES = [64, 64, 32, 10] as const;
export const BATCH = 64;
export const CLASSES = 10;

export type ParamName = "w1" | "b1" | "w2" | "b2" | "w3" | "b3";
export type Tensors = Record<ParamName, Float32Array>;

export interface Layer {
  weight: ParamName;
  bias: ParamName;
  inputs: number;
  outputs: number;
  relu: boolean;
}

export const LAYERS: readonly Layer[] = [
  { weight: "w1", bias: "b1", inputs: SIZES[0], outputs: SIZES[1], relu: true },
  { weight: "w2", bias: "b2", inputs: SIZES[1], outputs: SIZES[2], relu: true },
  { weight: "w3", bias: "b3", inputs: SIZES[2], outputs: SIZES[3], relu: false },
];

/** A small seeded generator (mulberry32), uniform in [0, 1). */
function uniform(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** He initialisation: the same seed gives every optimizer the same start. */
export function initial(seed: number): Tensors {
  const next = uniform(seed);
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
  const tensors: Partial<Tensors> = {};
  for (const { weight, bias, inputs, outputs } of LAYERS) {
    tensors[weight] = Float32Array.from({ length: inputs * outputs }, () => normal() * Math.sqrt(2 / inputs));
    tensors[bias] = new Float32Array(outputs);
  }
  return tensors as Tensors;
}

function hash(value: number): number {
  const state = (Math.imul(value, 747796405) + 2891336453) >>> 0;
  const word = Math.imul((state >>> ((state >>> 28) + 4)) ^ state, 277803737) >>> 0;
  return ((word >>> 22) ^ word) >>> 0;
}

/** Which digit is the `place`-th of a step's batch; the same as in gather.wgsl. */
export function pick(seed: number, step: number, place: number, count: number): number {
  return hash((seed ^ hash((step * BATCH + place) >>> 0)) >>> 0) % count;
}
