// Gradients in whole vec4s, as bits: a NaN may change when it is loaded as a float.
@group(0) @binding(3) var<storage, read> grads: array<vec4<u32>>;

fn grad_bits(tile: Tile, k: u32) -> vec4<u32> {
  return grads[tile.grad + k];
}
