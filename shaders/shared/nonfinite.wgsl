// Reads exponent bits: `x != x` is compiled away on several backends.
fn finite(bits: vec4<u32>) -> vec4<bool> {
  return (bits & vec4<u32>(0x7f800000u)) != vec4<u32>(0x7f800000u);
}
