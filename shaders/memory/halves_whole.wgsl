// Gradients in halves, four at a time.
@group(0) @binding(3) var<storage, read> grads: array<vec2<u32>>;

fn grad_bits(tile: Tile, k: u32) -> vec4<u32> {
  let words = grads[tile.grad + k];
  return widen(vec4<u32>(words.x & 0xffffu, words.x >> 16u, words.y & 0xffffu, words.y >> 16u));
}
