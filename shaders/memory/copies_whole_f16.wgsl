// The model's own halves of the parameters, in the device's own type.
@group(0) @binding(23) var<storage, read_write> copies: array<vec4<f16>>;

fn set_copy(tile: Tile, k: u32, p: vec4<f32>) {
  copies[tile.copy + k] = vec4<f16>(p);
}
