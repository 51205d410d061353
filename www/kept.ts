// The run that a visitor left, kept in the browser.
import { indexedDb, readCheckpoint, type Json } from "webgpu-optim";
import { isKind } from "./rules";
import { Run, type Options, type Point, type RunSettings } from "./run";

const store = indexedDb("webgpu-optim demo");

let saving: Promise<void> | undefined;
let forgotten = 0;

/** Keeps a run as it stands; a save that is under way is not overtaken. */
export function keep(run: Run, total: number): void {
  if (saving) return;
  const { kind, options, seed } = run.settings;
  const { step, points } = run;
  const extra = { kind, options, seed, step, total, points: points.map((point) => ({ ...point })) };
  const before = forgotten;
  saving = run.opt
    .saveTo({ ...store, write: async (pieces) => (before === forgotten ? store.write(pieces) : undefined) }, { extra })
    .catch(() => undefined) // a run that was reset meanwhile, or a full disk: the page goes on without
    .finally(() => (saving = undefined));
}

/** Forgets it, also one that is being written. */
export async function forget(): Promise<void> {
  forgotten++;
  await saving;
  await store.remove().catch(() => undefined);
}

export interface Kept {
  run: Run;
  total: number;
}

const number = (value: Json | undefined): value is number => typeof value === "number" && Number.isFinite(value);

/** The run that was kept, if there is one and it can be read. */
export async function takeUp(settings: Pick<RunSettings, "digits" | "device">): Promise<Kept | undefined> {
  if ((await store.read().catch(() => undefined)) === undefined) return undefined;
  try {
    const { extra, kind } = await readCheckpoint(store);
    const { seed, step, total, options, points } = extra as Record<string, Json>;
    if (!isKind(kind) || !number(seed) || !number(step) || !number(total)) return undefined;
    const run = await Run.resume({ ...settings, kind, options: options as unknown as Options, seed }, store);
    run.step = step;
    run.points.push(...(points as unknown as Point[]).filter((point) => point.step <= step));
    return { run, total };
  } catch {
    await forget();
    return undefined;
  }
}
