import start, { RawGpu, setErrorClass, type InitInput } from "./wasm/webgpu_optim.js";
import { OptimError, type ErrorCode } from "./error.js";

/** Where the wasm comes from: a URL, a `Response`, its bytes, or a compiled module. */
export type InitSource = InitInput | Promise<InitInput>;

let started: Promise<void> | undefined;
let shared: Promise<RawGpu> | undefined;

/**
 * Loads the wasm once; later calls return the first promise. Without a source it is fetched from beside this module,
 * or read from disk in Node. Optimizers call it themselves when it was not called.
 */
export default function init(source?: InitSource): Promise<void> {
  started ??= load(source).catch((error: unknown) => {
    started = undefined;
    throw error;
  });
  return started;
}

async function load(source?: InitSource): Promise<void> {
  const bytes = source ?? (isNode() ? await readWasm() : undefined);
  await start(bytes === undefined ? undefined : { module_or_path: bytes });
  setErrorClass(OptimError as new (message: string, code: string) => Error);
}

function isNode(): boolean {
  const { process } = globalThis as { process?: { versions?: { node?: string } } };
  return process?.versions?.node !== undefined;
}

// Bundlers for the browser must not try to resolve what only Node has.
const only = (name: string): Promise<unknown> => import(/* @vite-ignore */ /* webpackIgnore: true */ name);

async function readWasm(): Promise<Uint8Array<ArrayBuffer>> {
  const { readFile } = (await only("node:fs/promises")) as { readFile(url: URL): Promise<Uint8Array<ArrayBuffer>> };
  return readFile(new URL("./wasm/webgpu_optim_bg.wasm", import.meta.url));
}

interface Host {
  navigator?: { gpu?: GPU };
  Window?: unknown;
  WorkerGlobalScope?: unknown;
}

const host = globalThis as Host;

function provideWindow(): void {
  if (host.Window === undefined && host.WorkerGlobalScope === undefined) host.Window = class Window {};
  if (host.navigator === undefined) Object.defineProperty(globalThis, "navigator", { value: {}, configurable: true });
}

/** Gives hosts without a browser's globals what wgpu looks for, with Dawn from npm's `webgpu` where it is installed. */
async function provideWebGpu(): Promise<void> {
  provideWindow();
  if (host.navigator?.gpu !== undefined || !isNode()) return;
  const dawn = (await only("webgpu").catch(() => undefined)) as
    | { create(flags: string[]): GPU; globals: Record<string, unknown> }
    | undefined;
  if (dawn === undefined) return;
  Object.assign(globalThis, dawn.globals);
  Object.defineProperty(host.navigator, "gpu", { value: dawn.create([]), configurable: true });
}

/** The one device that all optimizers without a device of their own share; opened again once it is lost. */
export async function sharedGpu(): Promise<RawGpu> {
  const known = await shared?.catch(() => undefined);
  if (known === undefined || known.lost) shared = provideWebGpu().then(() => openGpu());
  return shared as Promise<RawGpu>;
}

const adopted = new WeakMap<GPUDevice, Promise<RawGpu>>();

/** The caller's device; the kernels compiled for it are shared by all optimizers on it. */
export async function gpuOf(device: GPUDevice): Promise<RawGpu> {
  provideWindow();
  const known = adopted.get(device) ?? RawGpu.adopt(device);
  adopted.set(device, known);
  known.catch(() => adopted.delete(device));
  return known;
}

async function openGpu(): Promise<RawGpu> {
  if (globalThis.navigator?.gpu === undefined) {
    const code: ErrorCode = "NO_WEBGPU";
    throw new OptimError("WebGPU is not available: there is no navigator.gpu", code);
  }
  return RawGpu.open();
}
