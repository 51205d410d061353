// The caller's halves of the parameters word by word: they begin with a word, and what stands behind their end is not ours.
@group(0) @binding(23) var<storage, read_write> copies: array<u32>;

fn set_copy(tile: Tile, k: u32, p: vec4<f32>) {
  let h = narrow(bitcast<vec4<u32>>(p));
  for (var j = 0u; j < 4u && k * 4u + j < tile.length; j += 2u) {
    let word = (tile.copy + k * 4u + j) / 2u;
    let alone = k * 4u + j + 1u == tile.length;
    copies[word] = h[j] | select(h[j + 1u] << 16u, copies[word] & 0xffff0000u, alone);
  }
}
