fn grad_bits(tile: Tile, k: u32) -> vec4<u32> {
  var halves = vec4<u32>(0u);
  for (var j = 0u; j < 4u && k * 4u + j < tile.length; j++) {
    let i = tile.grad + k * 4u + j;
    halves[j] = (grad_word(i / 2u) >> (i % 2u * 16u)) & 0xffffu;
  }
  return widen(halves);
}
