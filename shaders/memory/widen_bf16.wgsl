// The same numbers in 32 bits; a NaN becomes quiet.
fn widen(halves: vec4<u32>) -> vec4<u32> {
  let nan = (halves & vec4<u32>(0x7fffu)) > vec4<u32>(0x7f80u);
  return (halves << vec4<u32>(16u)) | select(vec4<u32>(0u), vec4<u32>(0x400000u), nan);
}
