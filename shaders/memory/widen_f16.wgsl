// The same numbers in 32 bits; a NaN becomes quiet.
fn widen(halves: vec4<u32>) -> vec4<u32> {
  let magnitude = halves & vec4<u32>(0x7fffu);
  let normal = (magnitude << vec4<u32>(13u)) + vec4<u32>(112u << 23u);
  let subnormal = bitcast<vec4<u32>>(vec4<f32>(magnitude) * 5.9604644775390625e-8); // 2^-24
  let quiet = select(vec4<u32>(0u), vec4<u32>(0x400000u), magnitude > vec4<u32>(0x7c00u));
  let beyond = (magnitude << vec4<u32>(13u)) | vec4<u32>(0x7f800000u) | quiet;
  let finite = select(normal, subnormal, magnitude < vec4<u32>(0x400u));
  let bits = select(finite, beyond, magnitude >= vec4<u32>(0x7c00u));
  return bits | ((halves & vec4<u32>(0x8000u)) << vec4<u32>(16u));
}
