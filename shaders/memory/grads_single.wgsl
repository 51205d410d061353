fn grad_bits(tile: Tile, k: u32) -> vec4<u32> {
  var bits = vec4<u32>(0u);
  for (var j = 0u; j < 4u && k * 4u + j < tile.length; j++) { bits[j] = grad_word(tile.grad + k * 4u + j); }
  return bits;
}
