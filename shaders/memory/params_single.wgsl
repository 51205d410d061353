// The caller's parameters value by value: what stands behind their end is not ours.
@group(0) @binding(2) var<storage, read_write> params: array<f32>;

fn param_at(tile: Tile, k: u32) -> vec4<f32> {
  var p = vec4<f32>(0.0);
  for (var j = 0u; j < 4u && k * 4u + j < tile.length; j++) { p[j] = params[tile.param + k * 4u + j]; }
  return p;
}

fn keep_param(tile: Tile, k: u32, p: vec4<f32>) {
  for (var j = 0u; j < 4u && k * 4u + j < tile.length; j++) { params[tile.param + k * 4u + j] = p[j]; }
}
