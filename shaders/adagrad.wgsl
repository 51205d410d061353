struct Hyper {
  pace: Pace,
  eps: f32,
  weight_decay: f32,
}

@group(0) @binding(0) var<storage, read> hypers: array<Hyper>;
@group(0) @binding(4) var<storage, read_write> sum: array<vec4<f32>>;

@compute @workgroup_size(WIDTH)
fn plain(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let tile = tile_of(group, grid);
  let h = hypers[tile.segment];
  if (h.pace.live == 0u || !inside(tile, lane)) { return; }
  let i = tile.first + lane;
  let p = param_at(tile, lane);
  let g = paced(h.pace, grad_at(tile, lane)) + h.weight_decay * p;
  let s = sum[i] + g * g;
  sum[i] = s;
  set_param(tile, lane, p - h.pace.lr * (g / (sqrt(s) + h.eps)));
}
