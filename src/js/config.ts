// From a page's options to plain objects that wasm decodes.
import type { CommonOptions, GroupOptions, Match } from "./options.js";
import type { Schedule } from "./schedules.js";

/** A learning rate that the page computes. */
export type Rate = (step: number) => number;

interface RawGroup {
  names: string[];
  options: Record<string, unknown>;
  schedule: Schedule | undefined;
}

/** Options of any optimizer. */
export type Loose = CommonOptions<object> & { exclude?: boolean | Match };

function select(match: Match, names: readonly string[]): string[] {
  if (typeof match === "string") return [match];
  if (!(match instanceof RegExp)) return [...match];
  const pattern = new RegExp(match.source, match.flags.replace(/[gy]/g, ""));
  return names.filter((name) => pattern.test(name));
}

/** Options without the learning rate, and a schedule; a function of the step is put into `rates`. */
export function split(options: Record<string, unknown>, index: number, rates: Map<number, Rate>): Omit<RawGroup, "names"> {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const { lr, ...rest } = Object.fromEntries(given);
  if (typeof lr === "function") {
    rates.set(index, lr as Rate);
    return { options: rest, schedule: undefined };
  }
  if (typeof lr === "object" && lr !== null) return { options: rest, schedule: lr as Schedule };
  return { options: lr === undefined ? rest : { ...rest, lr }, schedule: undefined };
}

/** What is decided once a step, as wasm takes it. */
export function control({ clip, nonfinite, lossScale, ema, valuesPerSubmit, history }: Loose): object {
  const scale =
    typeof lossScale === "number" ? { fixed: lossScale } : lossScale === "dynamic" ? { dynamic: {} } : lossScale && { dynamic: lossScale };
  return Object.fromEntries(Object.entries({ clip, nonfinite, lossScale: scale, ema, valuesPerSubmit, history }).filter(([, value]) => value !== undefined));
}

/** The groups as wasm takes them; the first holds for all tensors that no other names. */
export function plain(options: Loose, names: readonly string[], rates: Map<number, Rate>): RawGroup[] {
  const { device: _, clip: _clip, nonfinite: _nonfinite, lossScale: _scale, ema: _ema, valuesPerSubmit: _values, history: _history, snapshotEvery: _every, dtype: _dtype, groups = [], exclude, ...top } = options;
  const pattern = exclude !== undefined && typeof exclude !== "boolean";
  // The group of excluded tensors comes last, so that the others keep their numbers, and takes its tensors from them.
  const excluded = new Set(pattern ? select(exclude, names) : []);
  const listed = groups.map((group) => ({ ...group, match: select(group.match, names).filter((name) => !excluded.has(name)) }));
  if (pattern) listed.push({ match: [...excluded], exclude: true } as GroupOptions<object> & { match: string[] });
  const base: Record<string, unknown> = pattern ? top : { ...top, exclude };
  return [
    { names: [], ...split(base, 0, rates) },
    ...listed.map(({ match, ...own }, i) => ({ names: [...match], ...split({ ...base, ...own }, i + 1, rates) })),
  ];
}
