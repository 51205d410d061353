struct Hyper {
  pace: Pace,
  moments: Moments,
  eps: f32,
  weight_decay: f32,
  trust_low: f32,
  trust_high: f32,
  exclude: u32,
}

struct Span {
  first: u32,  // the tensor's first block
  length: u32, // its number of blocks
}

@group(0) @binding(0) var<storage, read> hypers: array<Hyper>;
@group(0) @binding(4) var<storage, read_write> exp_avg: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> exp_avg_sq: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read_write> partials: array<vec2<f32>>;
@group(0) @binding(8) var<storage, read_write> trust: array<f32>;
@group(0) @binding(9) var<storage, read> spans: array<Span>;

fn direction(h: Hyper, p: vec4<f32>, m: vec4<f32>, v: vec4<f32>) -> vec4<f32> {
  return m * h.pace.correction / (sqrt(v) * h.pace.root_scale + h.eps) + h.weight_decay * p;
}

// One workgroup a block: updates the moments and leaves |p|^2 and |u|^2.
@compute @workgroup_size(WIDTH)
fn moments(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let block = tile_of(group, grid);
  let h = hypers[block.segment];
  var squares = vec2<f32>(0.0);
  for (var k = lane; h.pace.live == 1u && k * 4u < block.length; k += WIDTH) {
    let i = block.first + k;
    let p = param_at(block, k);
    let g = paced(h.pace, grad_at(block, k));
    let m = h.moments.beta1 * exp_avg[i] + h.moments.fresh1 * g;
    let v = h.moments.beta2 * exp_avg_sq[i] + h.moments.fresh2 * (g * g);
    exp_avg[i] = m;
    exp_avg_sq[i] = v;
    // The padding after a tensor's end takes no part in its norm.
    let within = vec4<u32>(0u, 1u, 2u, 3u) + k * 4u < vec4<u32>(block.length);
    let u = select(vec4<f32>(0.0), direction(h, p, m, v), within);
    squares += vec2<f32>(dot(p, p), dot(u, u));
  }
  squares = sum_over_workgroup(lane, squares);
  if (lane == 0u && block.length > 0u) { partials[block.number] = squares; }
}

// One workgroup a tensor: trust = |p| / |u|, 1 where either is 0.
@compute @workgroup_size(WIDTH)
fn finish(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let segment = unfold(group, grid);
  if (segment >= arrayLength(&spans)) { return; }
  let h = hypers[segment];
  let span = spans[segment];
  var squares = vec2<f32>(0.0);
  for (var i = lane; i < span.length; i += WIDTH) { squares += partials[span.first + i]; }
  squares = sum_over_workgroup(lane, squares);
  if (lane == 0u) {
    let known = h.exclude == 0u && squares.x > 0.0 && squares.y > 0.0;
    let ratio = clamp(sqrt(squares.x) / sqrt(squares.y), h.trust_low, h.trust_high);
    trust[segment] = select(1.0, ratio, known);
  }
}

@compute @workgroup_size(WIDTH)
fn apply(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let tile = tile_of(group, grid);
  let h = hypers[tile.segment];
  if (h.pace.live == 0u || !inside(tile, lane)) { return; }
  let i = tile.first + lane;
  let p = param_at(tile, lane);
  set_param(tile, lane, p - h.pace.lr * trust[tile.segment] * direction(h, p, exp_avg[i], exp_avg_sq[i]));
}
