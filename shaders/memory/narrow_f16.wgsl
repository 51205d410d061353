// The nearest halves, of two the even one; what is to be cut off is looked at as an integer, since WGSL leaves rounding open.
fn narrow(bits: vec4<u32>) -> vec4<u32> {
  let magnitude = bits & vec4<u32>(0x7fffffffu);
  let rebiased = magnitude - vec4<u32>(112u << 23u);
  let normal = (rebiased + vec4<u32>(0xfffu) + ((rebiased >> vec4<u32>(13u)) & vec4<u32>(1u))) >> vec4<u32>(13u);
  // Below 2^-14 the last place is 2^-24.
  let whole = (magnitude & vec4<u32>(0x7fffffu)) | vec4<u32>(0x800000u);
  let cut = clamp(vec4<u32>(126u) - min(magnitude >> vec4<u32>(23u), vec4<u32>(125u)), vec4<u32>(1u), vec4<u32>(25u));
  let kept = whole >> cut;
  let rest = whole - (kept << cut);
  let half = vec4<u32>(1u) << (cut - vec4<u32>(1u));
  let up = (rest > half) | ((rest == half) & ((kept & vec4<u32>(1u)) == vec4<u32>(1u)));
  let subnormal = kept + select(vec4<u32>(0u), vec4<u32>(1u), up);
  let finite = select(normal, subnormal, magnitude < vec4<u32>(0x38800000u));
  let infinite = select(finite, vec4<u32>(0x7c00u), magnitude >= vec4<u32>(0x477ff000u)); // 65,520
  let nan = vec4<u32>(0x7e00u) | ((magnitude >> vec4<u32>(13u)) & vec4<u32>(0x3ffu));
  return select(infinite, nan, magnitude > vec4<u32>(0x7f800000u)) | ((bits >> vec4<u32>(16u)) & vec4<u32>(0x8000u));
}
