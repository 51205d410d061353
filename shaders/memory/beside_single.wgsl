// Gradients in the buffer of the parameters, value by value.
fn grad_bits(tile: Tile, k: u32) -> vec4<u32> {
  var bits = vec4<u32>(0u);
  for (var j = 0u; j < 4u && k * 4u + j < tile.length; j++) { bits[j] = bitcast<u32>(params[tile.grad + k * 4u + j]); }
  return bits;
}
