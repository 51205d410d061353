// The caller's gradients in halves one by one, in the device's own type.
@group(0) @binding(3) var<storage, read> grads: array<f16>;

fn grad_at(tile: Tile, k: u32) -> vec4<f32> {
  var g = vec4<f32>(0.0);
  for (var j = 0u; j < 4u && k * 4u + j < tile.length; j++) { g[j] = f32(grads[tile.grad + k * 4u + j]); }
  return g;
}
