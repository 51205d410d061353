import type { Schedule } from "./schedules.js";

/** A learning rate: a number, a schedule, or any function of the 0-based step. */
export type LearningRate = number | Schedule | ((step: number) => number);

/** Which tensors: all whose name a pattern matches, or those named. */
export type Match = RegExp | string | readonly string[];

/** Options of a rule for some of the tensors; what is left out is as at the top. Where two groups match, the first holds. */
export type GroupOptions<Options> = Options & { match: Match; lr?: LearningRate };

/** Options that every optimizer takes besides those of its rule. */
export interface CommonOptions<Options> {
  /** Learning rate; the default is the rule's. */
  lr?: LearningRate;
  /** Other options for some of the tensors. Group 0 is the options at the top, group 1 the first here. */
  groups?: readonly GroupOptions<Options>[];
  /** Clipping of the gradients. Default none. */
  clip?: Clip;
  /** A step whose gradients hold an infinity or NaN is skipped, bit for bit, or taken as PyTorch does. Default `"propagate"`. */
  nonfinite?: "skip" | "propagate";
  /** What the loss was multiplied by: a constant, or a scale that adapts on the device and skips steps that overflow. Default 1. */
  lossScale?: number | "dynamic" | Scaling;
  /** A moving average of the parameters. Default none. */
  ema?: Ema;
  /** The most values that one GPU submission updates, so that a desktop stays alive beside long steps. Default no bound. */
  valuesPerSubmit?: number;
  /** How many of the last steps `stats()` tells of, with the norms of every tensor; it costs a copy of the parameters. Default 0. */
  history?: number;
  /** A copy of the whole run in main memory every so many steps, for `restore` to go on from. It is taken beside the steps. Default none. */
  snapshotEvery?: number;
  /** What parameters hold that do not tell it themselves. Steps change values in 32 bits, whatever the model's own format. Default `"f32"`. */
  dtype?: Dtype;
  /** `"gpu"` insists on WebGPU, `"cpu"` runs the CPU reference in wasm, `"auto"` falls back to it with one warning, and a `GPUDevice` is the page's own. Default `"auto"`. */
  device?: "auto" | "gpu" | "cpu" | GPUDevice;
}

/** A bound on gradients, after unscaling: on the norm of all together, of each tensor, or on each value. */
export type Clip = { globalNorm: number } | { tensorNorm: number } | { value: number };

/** How a dynamic loss scale adapts. */
export interface Scaling {
  /** Default 65,536. */
  init?: number;
  /** At least 1. Default 2. */
  growthFactor?: number;
  /** In (0, 1]. Default 0.5. */
  backoffFactor?: number;
  /** Steps without overflow before it grows. Default 2,000. */
  growthInterval?: number;
  /** Default 1. */
  min?: number;
  /** Default 8,388,608. */
  max?: number;
}

/** A moving average of the parameters: `e = e + (1 - d) * (p - e)` after every step, from the initial parameters on. */
export interface Ema {
  /** In [0, 1). Default 0.999. */
  decay?: number;
  /** Whether early averages follow faster: `d = min(decay, (1 + t) / (10 + t))`. Default false. */
  warmup?: boolean;
}

/** How a run stands. */
export interface Stats {
  /** Steps taken. */
  step: number;
  /** Steps skipped because a gradient held an infinity or NaN. */
  skipped: number;
  /** Norm of the last step's gradients over all tensors, unscaled and before clipping; null where nothing asks for it. */
  gradNorm: number | null;
  /** What the last gradients were multiplied by to clip their global norm. */
  clipFactor: number;
  /** The loss scale for the next step. */
  lossScale: number;
  /** Whether the last gradients held an infinity or NaN; null where nothing asks for it. */
  foundNonfinite: boolean | null;
  /** The first tensor whose last gradient held one, if any. */
  firstNonfinite: string | null;
  /** Norm of each tensor's last gradient, unscaled and before clipping; null where nothing asks for it. */
  gradNorms: Record<string, number> | null;
  /** The last steps, the oldest first; as many as the option `history` asks for. */
  history: StepStats[];
  /** The learning rate of each group at the next step. */
  lr: number[];
}

/** What a step did. */
export interface StepStats {
  /** Its number, 1 for the first, skipped ones counted. */
  step: number;
  skipped: boolean;
  /** As in {@link Stats}. */
  gradNorm: number;
  /** As in {@link Stats}. */
  clipFactor: number;
  /** The loss scale of its gradients. */
  lossScale: number;
  /** Norm of each tensor's gradient, unscaled and before clipping; infinities and NaN left out, here and below. */
  gradNorms: Record<string, number>;
  /** Norm of what the step added to each tensor. */
  updateNorms: Record<string, number>;
  /** Norm of each tensor after the step. */
  paramNorms: Record<string, number>;
}

/** A format of numbers: IEEE 754's binary32 and binary16, and bfloat16. */
export type Dtype = "f32" | "f16" | "bf16";

/** A `Float16Array`, also for compilers whose library does not know it. */
export interface Float16Values {
  readonly BYTES_PER_ELEMENT: number;
  readonly buffer: ArrayBufferLike;
  readonly byteOffset: number;
  readonly length: number;
  readonly [Symbol.toStringTag]: "Float16Array";
}

/**
 * Values of a tensor: an array, which is copied, or a `GPUBuffer` of the optimizer's device, which is bound as it is and stays
 * the caller's. It needs the usage `STORAGE`, and for parameters `COPY_SRC` and `COPY_DST` too.
 *
 * A `Float16Array` holds binary16; a `Uint16Array` or a buffer what `dtype` says there, in the options, or of the tensor.
 * A model in 16 bits keeps values in 32 behind them, which steps change and the model's follow, rounded to nearest.
 */
export type Values = Float32Array | Float16Values | Uint16Array | TypedValues | GPUBuffer | OwnBuffer;

/** An array with the format of its tensor. */
export interface TypedValues {
  data: Float32Array | Float16Values | Uint16Array;
  /** What a `Uint16Array` holds, and the format that the model is to have parameters in. */
  dtype?: Dtype;
}

/** A part of a `GPUBuffer`. */
export interface OwnBuffer {
  buffer: GPUBuffer;
  /** First byte, a multiple of 4. Default 0. */
  offset?: number;
  /** Number of values. Default as many as `size` has, or all to the end of the buffer. */
  length?: number;
  /** What it holds; two halves stand in a word of 4 bytes. Default that of the tensor, or of the options. */
  dtype?: Dtype;
  /** Bytes, where `length` is left out, so that a {@link BufferSlice} fits. */
  size?: number;
}

/** A tensor's place on the device, in bytes; ours start on a 256-byte boundary. */
export interface BufferSlice {
  buffer: GPUBuffer;
  offset: number;
  size: number;
}

/** What an optimizer runs on, and how large it is. */
export interface Info {
  /** The rule, such as `"adamw"`. */
  kind: string;
  backend: "webgpu" | "cpu";
  /** The adapter as it describes itself. */
  adapter: string;
  vendor: string;
  /** Whether it computes on the CPU. */
  software: boolean;
  /** Whether its kernels use the device's own type for binary16. Where not, they hold two in a word, with the same results. */
  shaderF16: boolean;
  /** Number of tensors. */
  tensors: number;
  /** Number of values in all of them. */
  parameters: number;
  /** Slots that exist, by PyTorch's names. */
  slots: string[];
}
