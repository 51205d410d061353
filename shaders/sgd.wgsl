struct Hyper {
  pace: Pace,
  momentum: f32,
  undamped: f32,
  weight_decay: f32,
  nesterov: u32,
}

@group(0) @binding(0) var<storage, read> hypers: array<Hyper>;
@group(0) @binding(4) var<storage, read_write> momentum_buffer: array<vec4<f32>>;

@compute @workgroup_size(WIDTH)
fn plain(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let tile = tile_of(group, grid);
  let h = hypers[tile.segment];
  if (h.pace.live == 0u || !inside(tile, lane)) { return; }
  let i = tile.first + lane;
  let p = param_at(tile, lane);
  let g = paced(h.pace, grad_at(tile, lane)) + h.weight_decay * p;
  set_param(tile, lane, p - h.pace.lr * g);
}

@compute @workgroup_size(WIDTH)
fn momentum(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let tile = tile_of(group, grid);
  let h = hypers[tile.segment];
  if (h.pace.live == 0u || !inside(tile, lane)) { return; }
  let i = tile.first + lane;
  let p = param_at(tile, lane);
  let g = paced(h.pace, grad_at(tile, lane)) + h.weight_decay * p;
  var d = g;
  if (h.momentum > 0.0) {
    let buf = select(h.momentum * momentum_buffer[i] + h.undamped * g, g, h.pace.first == 1u);
    momentum_buffer[i] = buf;
    d = select(buf, g + h.momentum * buf, h.nesterov == 1u);
  }
  set_param(tile, lane, p - h.pace.lr * d);
}
