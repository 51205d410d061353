// Gradients in the buffer of the parameters: one buffer cannot be bound as read-only and for writing at once.
fn grad_bits(tile: Tile, k: u32) -> vec4<u32> {
  return bitcast<vec4<u32>>(params[tile.grad + k]);
}
