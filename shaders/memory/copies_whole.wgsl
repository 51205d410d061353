// The model's own halves of the parameters, two a word.
@group(0) @binding(23) var<storage, read_write> copies: array<vec2<u32>>;

fn set_copy(tile: Tile, k: u32, p: vec4<f32>) {
  let h = narrow(bitcast<vec4<u32>>(p));
  copies[tile.copy + k] = h.xz | (h.yw << vec2<u32>(16u));
}
