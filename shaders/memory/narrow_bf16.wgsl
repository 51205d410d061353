// The nearest halves, of two the even one.
fn narrow(bits: vec4<u32>) -> vec4<u32> {
  let upper = bits >> vec4<u32>(16u);
  let nearest = (bits + vec4<u32>(0x7fffu) + (upper & vec4<u32>(1u))) >> vec4<u32>(16u);
  let nan = (bits & vec4<u32>(0x7fffffffu)) > vec4<u32>(0x7f800000u);
  return select(nearest, upper | vec4<u32>(0x40u), nan);
}
