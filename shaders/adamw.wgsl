struct Hyper {
  pace: Pace,
  moments: Moments,
  eps: f32,
  weight_decay: f32,
  amsgrad: u32,
}

@group(0) @binding(0) var<storage, read> hypers: array<Hyper>;
@group(0) @binding(4) var<storage, read_write> exp_avg: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> exp_avg_sq: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> max_exp_avg_sq: array<vec4<f32>>;

@compute @workgroup_size(WIDTH)
fn plain(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let tile = tile_of(group, grid);
  let h = hypers[tile.segment];
  if (h.pace.live == 0u || !inside(tile, lane)) { return; }
  let i = tile.first + lane;
  let g = paced(h.pace, grad_at(tile, lane));
  let p = param_at(tile, lane) - h.pace.lr * h.weight_decay * param_at(tile, lane);
  let m = h.moments.beta1 * exp_avg[i] + h.moments.fresh1 * g;
  let v = h.moments.beta2 * exp_avg_sq[i] + h.moments.fresh2 * (g * g);
  exp_avg[i] = m;
  exp_avg_sq[i] = v;
  set_param(tile, lane, p - h.pace.lr * h.pace.correction * (m / (sqrt(v) * h.pace.root_scale + h.eps)));
}

@compute @workgroup_size(WIDTH)
fn amsgrad(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let tile = tile_of(group, grid);
  let h = hypers[tile.segment];
  if (h.pace.live == 0u || !inside(tile, lane)) { return; }
  let i = tile.first + lane;
  let g = paced(h.pace, grad_at(tile, lane));
  let p = param_at(tile, lane) - h.pace.lr * h.weight_decay * param_at(tile, lane);
  let m = h.moments.beta1 * exp_avg[i] + h.moments.fresh1 * g;
  let v = h.moments.beta2 * exp_avg_sq[i] + h.moments.fresh2 * (g * g);
  exp_avg[i] = m;
  exp_avg_sq[i] = v;
  var n = v;
  if (h.amsgrad == 1u) {
    n = max(max_exp_avg_sq[i], v);
    max_exp_avg_sq[i] = n;
  }
  set_param(tile, lane, p - h.pace.lr * h.pace.correction * (m / (sqrt(n) * h.pace.root_scale + h.eps)));
}
