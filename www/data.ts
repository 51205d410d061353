import file from "./digits/digits.bin?url";

/** Images of 64 pixels from 0 to 1, row by row, and the digits they show. */
export interface Digits {
  pixels: Float32Array;
  labels: Uint32Array;
}

export const TRAIN = 1437;
export const TEST = 360;
const ROW = 65;

export async function loadDigits(): Promise<Digits> {
  const response = await fetch(file);
  if (!response.ok) throw new Error(`the digits could not be loaded: ${response.status} ${response.statusText}`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  const count = bytes.length / ROW;
  const labels = Uint32Array.from({ length: count }, (_, row) => bytes[row * ROW + 64]!);
  const pixels = Float32Array.from({ length: count * 64 }, (_, i) => bytes[Math.floor(i / 64) * ROW + (i % 64)]! / 16);
  return { pixels, labels };
}

/** Some of the digits, by number. */
export function take({ pixels, labels }: Digits, numbers: readonly number[]): Digits {
  const chosen = new Float32Array(numbers.length * 64);
  numbers.forEach((number, row) => chosen.set(pixels.subarray(number * 64, number * 64 + 64), row * 64));
  return { pixels: chosen, labels: Uint32Array.from(numbers, (number) => labels[number]!) };
}

export const testDigits = (digits: Digits): Digits => take(digits, Array.from({ length: TEST }, (_, i) => TRAIN + i));
