// Optimizers from parameters and options, and from checkpoints.
import { RawOptimizer, type RawGpu } from "./wasm/webgpu_optim.js";
import init, { gpuOf, sharedGpu } from "./host.js";
import { OptimError } from "./error.js";
import { control, plain, type Loose, type Rate } from "./config.js";
import { load, opened, type CheckpointSource, type ResumeOptions } from "./checkpoint.js";
import type { Values } from "./options.js";

/** @internal */
export interface Parts {
  kind: string;
  raw: RawOptimizer;
  gpu: RawGpu | undefined;
  names: readonly string[];
  parameters: number;
  rates: Map<number, Rate>;
  every: number | undefined;
}

let warned = false;

async function chooseGpu(device: "auto" | "gpu" | "cpu" | GPUDevice): Promise<RawGpu | undefined> {
  if (device === "cpu") return undefined;
  if (typeof device === "object" && device !== null) return gpuOf(device);
  if (device !== "gpu" && device !== "auto") {
    throw new OptimError(`device must be "auto", "gpu", "cpu" or a GPUDevice, got ${String(device)}`, "INVALID_CONFIG");
  }
  try {
    return await sharedGpu();
  } catch (error) {
    if (device === "gpu") throw error;
    if (!warned) console.warn(`webgpu-optim: ${(error as Error).message}; running on the CPU`);
    warned = true;
    return undefined;
  }
}

function checked(every: number | undefined): number | undefined {
  if (every === undefined || (Number.isSafeInteger(every) && every > 0)) return every;
  throw new OptimError(`snapshotEvery must be a whole number of at least 1, got ${String(every)}`, "INVALID_CONFIG");
}

/** @internal */
export async function build(kind: string, params: Readonly<Record<string, Values>>, options: object = {}): Promise<Parts> {
  await init();
  const loose = options as Loose;
  const names = Object.keys(params);
  const arrays = names.map((name) => params[name]);
  const rates = new Map<number, Rate>();
  const groups = plain(loose, names, rates);
  const every = checked(loose.snapshotEvery);
  const gpu = await chooseGpu(loose.device ?? "auto");
  const args = [kind, names, arrays, groups, control(loose), String(loose.dtype ?? "f32")] as const;
  const raw = gpu ? await RawOptimizer.onGpu(gpu, ...args) : RawOptimizer.onCpu(...args);
  if (every !== undefined) await raw.keep();
  return { kind, raw, gpu, names, parameters: raw.parameters, rates, every };
}

/** @internal */
export async function resumed(kind: string, source: CheckpointSource, options: ResumeOptions = {}): Promise<Parts> {
  const every = checked(options.snapshotEvery);
  const file = await opened(source);
  const { head } = file;
  try {
    if (head.kind !== kind && kind !== "") throw new OptimError(`the checkpoint does not fit: it is of ${head.kind}, this is ${kind}`, "CHECKPOINT_MISMATCH");
    if (head.functions.length > 0) {
      throw new OptimError("the checkpoint's learning rate is a function of the step, which no file holds: create the optimizer with it, and load into that", "UNSUPPORTED");
    }
    const gpu = await chooseGpu(options.device ?? "auto");
    const raw = gpu ? await RawOptimizer.outlinedOnGpu(head, gpu) : RawOptimizer.outlinedOnCpu(head);
    await load(() => raw, file, new Uint32Array(), options).catch((error: unknown) => {
      raw.free();
      throw error;
    });
    if (every !== undefined) await raw.keep();
    return { kind: head.kind, raw, gpu, names: head.names, parameters: raw.parameters, rates: new Map(), every };
  } finally {
    head.free();
  }
}
