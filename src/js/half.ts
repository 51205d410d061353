import { narrow, widen } from "./wasm/webgpu_optim.js";
import { OptimError } from "./error.js";

/** How numbers beyond the largest are rounded. */
export interface NarrowOptions {
  /** To the largest there is instead of to infinity. Default false. */
  saturate?: boolean;
}

// Values pass through wasm memory in pieces of this size, so that it never grows for a large array.
const PIECE = 1 << 16;

function pieces(length: number, convert: (from: number, to: number) => void): void {
  for (let from = 0; from < length; from += PIECE) convert(from, Math.min(from + PIECE, length));
}

function toHalves(bfloat: boolean, values: Float32Array, saturate: boolean): Uint16Array<ArrayBuffer> {
  if (!(values instanceof Float32Array)) throw new OptimError("the values to convert must be a Float32Array", "WRONG_TYPE");
  const halves = new Uint16Array(values.length);
  pieces(values.length, (from, to) => narrow(bfloat, saturate, values.subarray(from, to), halves.subarray(from, to)));
  return halves;
}

function fromHalves(bfloat: boolean, halves: Uint16Array): Float32Array<ArrayBuffer> {
  if (!(halves instanceof Uint16Array)) throw new OptimError("the halves to convert must be a Uint16Array", "WRONG_TYPE");
  const values = new Float32Array(halves.length);
  pieces(halves.length, (from, to) => widen(bfloat, halves.subarray(from, to), values.subarray(from, to)));
  return values;
}

/**
 * The bits of each value as IEEE 754's binary16: the nearest number, of two the even one; from 65,520 on infinity. Subnormal numbers
 * are kept, and NaN stays NaN and becomes quiet. Call it after `init()`.
 *
 * @throws `WRONG_TYPE`.
 */
export function float32ToFloat16(values: Float32Array, { saturate = false }: NarrowOptions = {}): Uint16Array<ArrayBuffer> {
  return toHalves(false, values, saturate);
}

/** The value of each binary16, exactly. Call it after `init()`. @throws `WRONG_TYPE`. */
export function float16ToFloat32(halves: Uint16Array): Float32Array<ArrayBuffer> {
  return fromHalves(false, halves);
}

/** The bits of each value as bfloat16; rounded as by {@link float32ToFloat16}. Call it after `init()`. @throws `WRONG_TYPE`. */
export function float32ToBfloat16(values: Float32Array, { saturate = false }: NarrowOptions = {}): Uint16Array<ArrayBuffer> {
  return toHalves(true, values, saturate);
}

/** The value of each bfloat16, exactly. Call it after `init()`. @throws `WRONG_TYPE`. */
export function bfloat16ToFloat32(halves: Uint16Array): Float32Array<ArrayBuffer> {
  return fromHalves(true, halves);
}
