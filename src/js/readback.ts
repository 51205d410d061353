import type { StepStats } from "./options.js";

/** The rows of kept steps: five numbers each, and three norms a tensor. */
export function steps(rows: Float64Array, names: readonly string[]): StepStats[] {
  const width = 5 + 3 * names.length;
  return Array.from({ length: rows.length / width }, (_, index) => {
    const [step = 0, skipped, gradNorm = 0, clipFactor = 1, lossScale = 1, ...norms] = rows.subarray(index * width, (index + 1) * width);
    const each = (kind: number) => Object.fromEntries(names.map((name, place) => [name, norms[3 * place + kind] ?? 0]));
    return { step, skipped: skipped === 1, gradNorm, clipFactor, lossScale, gradNorms: each(0), updateNorms: each(1), paramNorms: each(2) };
  });
}
