struct Hyper {
  pace: Pace,
  alpha: f32,
  fresh: f32, // 1 - alpha
  eps: f32,
  weight_decay: f32,
  momentum: f32,
  centered: u32,
}

@group(0) @binding(0) var<storage, read> hypers: array<Hyper>;
@group(0) @binding(4) var<storage, read_write> square_avg: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> grad_avg: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> momentum_buffer: array<vec4<f32>>;

fn gradient(h: Hyper, tile: Tile, lane: u32, p: vec4<f32>) -> vec4<f32> {
  return paced(h.pace, grad_at(tile, lane)) + h.weight_decay * p;
}

fn square(h: Hyper, i: u32, g: vec4<f32>) -> vec4<f32> {
  let s = h.alpha * square_avg[i] + h.fresh * (g * g);
  square_avg[i] = s;
  return s;
}

// The variance may round below zero; it is clamped before the root.
fn variance(h: Hyper, i: u32, g: vec4<f32>) -> vec4<f32> {
  let s = square(h, i, g);
  if (h.centered == 0u) { return s; }
  let a = h.alpha * grad_avg[i] + h.fresh * g;
  grad_avg[i] = a;
  return max(s - a * a, vec4<f32>(0.0));
}

fn speed(h: Hyper, i: u32, d: vec4<f32>) -> vec4<f32> {
  if (h.momentum == 0.0) { return d; }
  let buf = h.momentum * momentum_buffer[i] + d;
  momentum_buffer[i] = buf;
  return buf;
}

@compute @workgroup_size(WIDTH)
fn plain(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let tile = tile_of(group, grid);
  let h = hypers[tile.segment];
  if (h.pace.live == 0u || !inside(tile, lane)) { return; }
  let i = tile.first + lane;
  let p = param_at(tile, lane);
  let g = gradient(h, tile, lane, p);
  set_param(tile, lane, p - h.pace.lr * (g / (sqrt(square(h, i, g)) + h.eps)));
}

@compute @workgroup_size(WIDTH)
fn centered(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let tile = tile_of(group, grid);
  let h = hypers[tile.segment];
  if (h.pace.live == 0u || !inside(tile, lane)) { return; }
  let i = tile.first + lane;
  let p = param_at(tile, lane);
  let g = gradient(h, tile, lane, p);
  set_param(tile, lane, p - h.pace.lr * (g / (sqrt(variance(h, i, g)) + h.eps)));
}

@compute @workgroup_size(WIDTH)
fn momentum(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let tile = tile_of(group, grid);
  let h = hypers[tile.segment];
  if (h.pace.live == 0u || !inside(tile, lane)) { return; }
  let i = tile.first + lane;
  let p = param_at(tile, lane);
  let g = gradient(h, tile, lane, p);
  set_param(tile, lane, p - h.pace.lr * speed(h, i, g / (sqrt(square(h, i, g)) + h.eps)));
}

@compute @workgroup_size(WIDTH)
fn centered_momentum(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let tile = tile_of(group, grid);
  let h = hypers[tile.segment];
  if (h.pace.live == 0u || !inside(tile, lane)) { return; }
  let i = tile.first + lane;
  let p = param_at(tile, lane);
  let g = gradient(h, tile, lane, p);
  set_param(tile, lane, p - h.pace.lr * speed(h, i, g / (sqrt(variance(h, i, g)) + h.eps)));
}
