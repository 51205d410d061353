// The caller's halves of the parameters one by one, in the device's own type.
@group(0) @binding(23) var<storage, read_write> copies: array<f16>;

fn set_copy(tile: Tile, k: u32, p: vec4<f32>) {
  for (var j = 0u; j < 4u && k * 4u + j < tile.length; j++) { copies[tile.copy + k * 4u + j] = f16(p[j]); }
}
