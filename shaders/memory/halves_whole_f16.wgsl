// Gradients in halves, in the device's own type.
@group(0) @binding(3) var<storage, read> grads: array<vec4<f16>>;

fn grad_at(tile: Tile, k: u32) -> vec4<f32> {
  return vec4<f32>(grads[tile.grad + k]);
}
