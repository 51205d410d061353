// Conversions to 16-bit numbers and back.
import assert from "node:assert/strict";
import { test } from "node:test";
import init, { bfloat16ToFloat32, float16ToFloat32, float32ToBfloat16, float32ToFloat16 } from "../../dist/index.js";

await init();
const all = Uint16Array.from({ length: 65536 }, (_, bits) => bits);
const isNan = (bits, infinity) => (bits & 0x7fff) > infinity;

test("every 16-bit number comes back, NaN quiet", () => {
  for (const [narrow, wide, infinity, quiet] of [
    [float32ToFloat16, float16ToFloat32, 0x7c00, 0x200],
    [float32ToBfloat16, bfloat16ToFloat32, 0x7f80, 0x40],
  ]) {
    const back = narrow(wide(all));
    all.forEach((bits) => assert.equal(back[bits], isNan(bits, infinity) ? bits | quiet : bits));
  }
});

test("arrays longer than a piece, empty and at odd offsets are converted whole", () => {
  for (const length of [0, 1, 3, 65535, 65536, 65537, 200_001]) {
    const values = new Float32Array(length + 1).map((_, i) => i * 0.25 - 1000).subarray(1);
    const halves = float32ToFloat16(values);
    assert.equal(halves.length, length);
    const bits = new Uint16Array(length + 1);
    bits.set(halves, 1);
    const back = float16ToFloat32(bits.subarray(1));
    for (let i = 0; i < length; i += 997) assert.ok(Math.abs(back[i] - values[i]) <= Math.abs(values[i]) / 2048);
    if (length > 2) assert.equal(back[length - 1], float16ToFloat32(Uint16Array.of(halves[length - 1]))[0]);
  }
});

test("overflow is infinity, or the largest number on request", () => {
  const values = Float32Array.of(65519, 65520, -1e30, Number.POSITIVE_INFINITY);
  assert.deepEqual([...float32ToFloat16(values)], [0x7bff, 0x7c00, 0xfc00, 0x7c00]);
  assert.deepEqual([...float32ToFloat16(values, { saturate: true })], [0x7bff, 0x7bff, 0xfbff, 0x7bff]);
  assert.deepEqual([...float32ToBfloat16(Float32Array.of(3.4e38, 1, Number.NaN), { saturate: true })].map((bits) => bits & 0x7fc0), [0x7f40, 0x3f80, 0x7fc0]);
});

test("other arrays are refused", () => {
  assert.throws(() => float32ToFloat16([1, 2]), { code: "WRONG_TYPE" });
  assert.throws(() => float32ToBfloat16(new Float64Array(1)), { code: "WRONG_TYPE" });
  assert.throws(() => float16ToFloat32(new Uint8Array(2)), { code: "WRONG_TYPE" });
});
