// Parameters in whole vec4s: ours, or the caller's where their place and length allow it.
@group(0) @binding(2) var<storage, read_write> params: array<vec4<f32>>;

fn param_at(tile: Tile, k: u32) -> vec4<f32> {
  return params[tile.param + k];
}

fn keep_param(tile: Tile, k: u32, p: vec4<f32>) {
  params[tile.param + k] = p;
}
