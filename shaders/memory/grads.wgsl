fn grad_at(tile: Tile, k: u32) -> vec4<f32> {
  return bitcast<vec4<f32>>(grad_bits(tile, k));
}
