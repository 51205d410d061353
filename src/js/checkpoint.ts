import { headerSize, RawCheckpoint, type RawLoading, type RawOptimizer, type RawSaving } from "./wasm/webgpu_optim.js";
import init from "./host.js";
import { OptimError } from "./error.js";
import type { Store } from "./stores.js";

/** Told of bytes done and of all there are, after each piece of a few megabytes. */
export type OnProgress = (done: number, total: number) => void;

/** Anything that JSON can hold. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Options of a save. */
export interface SaveOptions {
  /** Kept in the file as it is: an epoch, a place in the data, curves. {@link readCheckpoint} gives it back. */
  extra?: Json;
  onProgress?: OnProgress;
}

/** Options of a load. */
export interface LoadOptions {
  /** Take what tensors and slots there are in both, whatever else differs, and keep the optimizer's own options. Default false. */
  partial?: boolean;
  onProgress?: OnProgress;
}

/** Options of an optimizer that is made from a checkpoint. */
export interface ResumeOptions {
  /** What it runs on; as for `create`. Default `"auto"`. */
  device?: "auto" | "gpu" | "cpu" | GPUDevice;
  /** As for `create`. Default none. */
  snapshotEvery?: number;
  onProgress?: OnProgress;
}

/** What a load took, by tensor. Strictly loaded, all lists but the first are empty. */
export interface LoadReport {
  loaded: string[];
  /** In the optimizer, not in the checkpoint. */
  missing: string[];
  /** In the checkpoint, not in the optimizer. */
  unexpected: string[];
  /** Of another length in the checkpoint. */
  misshapen: string[];
}

/** Where a checkpoint is read from. */
export type CheckpointSource = Uint8Array | ArrayBuffer | Blob | Store;

/** What a checkpoint says of itself. */
export interface CheckpointInfo {
  /** The rule, such as `"adamw"`. */
  kind: string;
  /** The package that wrote it. */
  version: string;
  schema: number;
  /** Steps asked for. */
  steps: number;
  /** Number of values of each tensor. */
  tensors: Record<string, number>;
  /** Bytes. */
  size: number;
  /** What the page added when it saved; null where it added nothing. */
  extra: Json;
}

// Values pass through memory in pieces of this many.
const PIECE = 2 << 20;

interface Reader {
  size: number;
  read(from: number, to: number): Promise<Uint8Array>;
}

async function open(source: CheckpointSource): Promise<Reader> {
  if (source instanceof ArrayBuffer) return open(new Uint8Array(source));
  if (source instanceof Uint8Array) return { size: source.length, read: async (from, to) => source.subarray(from, to) };
  if (source instanceof Blob) return { size: source.size, read: async (from, to) => new Uint8Array(await source.slice(from, to).arrayBuffer()) };
  if (typeof source?.read !== "function") throw new OptimError("a checkpoint must be a Uint8Array, an ArrayBuffer, a Blob or a store", "INVALID_CHECKPOINT");
  const found = await source.read();
  if (found === undefined) throw new OptimError("the store holds no checkpoint", "INVALID_CHECKPOINT");
  return open(found);
}

/** @internal */
export interface Opened {
  head: RawCheckpoint;
  reader: Reader;
  start: number;
}

/** @internal */
export async function opened(source: CheckpointSource): Promise<Opened> {
  await init();
  const reader = await open(source);
  const start = 8 + headerSize(await reader.read(0, 8), reader.size);
  const head = RawCheckpoint.parse(await reader.read(8, start), reader.size - start);
  return { head, reader, start };
}

/**
 * What a checkpoint says of itself, without loading it.
 *
 * @throws `INVALID_CHECKPOINT` for damaged files and others; `UNSUPPORTED` for a newer schema.
 */
export async function readCheckpoint(source: CheckpointSource): Promise<CheckpointInfo> {
  const { head, reader } = await opened(source);
  const { kind, version, schema, steps, names, lengths, extra } = head;
  head.free();
  const tensors = Object.fromEntries(names.map((name, place) => [name, lengths[place] ?? 0]));
  return { kind, version, schema, steps, tensors, size: reader.size, extra: JSON.parse(extra ?? "null") as Json };
}

/** @internal */
export async function load(raw: () => RawOptimizer, { head, reader, start }: Opened, rates: Uint32Array, options: LoadOptions): Promise<LoadReport> {
  const loading = await raw().load(head, options.partial ?? false, rates);
  try {
    await filled(loading, reader, start, options);
  } catch (error) {
    loading.free();
    throw error;
  }
  return raw().commit(loading) as LoadReport;
}

async function filled(loading: RawLoading, reader: Reader, start: number, options: LoadOptions): Promise<void> {
  for (let from = start; from < reader.size; from += PIECE * 4) {
    const to = Math.min(from + PIECE * 4, reader.size);
    const bytes = await reader.read(from, to);
    if (bytes.length !== to - from) throw new OptimError("not a readable checkpoint: it ends while it is read", "INVALID_CHECKPOINT");
    loading.write((from - start) / 4, bytes);
    options.onProgress?.(to, reader.size);
  }
}

/** A copy of a run, as the pieces of its file. */
export interface Pieces {
  /** Bytes of all of them. */
  readonly size: number;
  [Symbol.asyncIterator](): AsyncIterator<Uint8Array<ArrayBuffer>>;
}

/**
 * Hands a copy of the run to `use`, and gives its memory back whether or not all of it was taken.
 *
 * @internal
 */
export async function saved<T>(raw: RawOptimizer, rates: Uint32Array, { extra, onProgress }: SaveOptions = {}, use: (pieces: Pieces) => Promise<T>): Promise<T> {
  const saving = await raw.save(rates, extra === undefined ? undefined : JSON.stringify(extra));
  try {
    const header = saving.header() as Uint8Array<ArrayBuffer>;
    const size = header.length + saving.values * 4;
    return await use({ size, [Symbol.asyncIterator]: () => each(saving, header, size, onProgress) });
  } finally {
    saving.free();
  }
}

async function* each(saving: RawSaving, header: Uint8Array<ArrayBuffer>, size: number, onProgress?: OnProgress): AsyncGenerator<Uint8Array<ArrayBuffer>, void, undefined> {
  yield header;
  const total = saving.values;
  for (let from = 0; from < total; from += PIECE) {
    const to = Math.min(from + PIECE, total);
    const { buffer } = await saving.read(from, to);
    yield new Uint8Array(buffer);
    onProgress?.(header.length + to * 4, size);
  }
}

/** @internal */
export async function gathered(all: Pieces): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(all.size);
  let at = 0;
  for await (const piece of all) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

/** @internal */
export async function blob(all: Pieces): Promise<Blob> {
  const parts: Blob[] = [];
  // Each piece leaves the page's memory as a blob of its own.
  for await (const piece of all) parts.push(new Blob([piece]));
  return new Blob(parts, { type: "application/octet-stream" });
}
