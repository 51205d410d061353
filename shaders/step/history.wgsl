// What each step did to each tensor, for the last steps.
@group(0) @binding(9) var<storage, read> spans: array<vec2<u32>>;
@group(0) @binding(10) var<storage, read_write> norms: array<vec2<f32>>;
@group(0) @binding(14) var<storage, read_write> standing: array<u32, 9>;
@group(0) @binding(15) var<storage, read> settings: array<u32, 14>;
@group(0) @binding(20) var<storage, read_write> previous: array<vec4<f32>>;
@group(0) @binding(21) var<storage, read_write> moves: array<vec4<f32>>;
@group(0) @binding(22) var<storage, read_write> records: array<vec2<u32>>;

const HEAD = 5u; // pairs of words before the tensors' own three: gradient, update, parameters

@compute @workgroup_size(WIDTH)
fn remember(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let tile = tile_of(group, grid);
  if (!inside(tile, lane)) { return; }
  previous[tile.first + lane] = param_at(tile, lane);
}

fn magnitudes(values: vec4<f32>, inside: vec4<bool>) -> vec4<f32> {
  return abs(select(vec4<f32>(0.0), values, finite(bitcast<vec4<u32>>(values)) & inside));
}

// One workgroup a block: the norm of the update and that of the parameters.
@compute @workgroup_size(WIDTH)
fn block_moves(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let block = tile_of(group, grid);
  var update = Sum(vec2<f32>(0.0), 0.0, 1.0);
  var own = update;
  for (var k = lane; k * 4u < block.length; k += WIDTH) {
    let p = param_at(block, k);
    update = add_squares(update, magnitudes(p - previous[block.first + k], within(block, k)));
    own = add_squares(own, magnitudes(p, within(block, k)));
  }
  let top = max_over_workgroup(lane, vec2<f32>(update.norm.x, own.norm.x));
  let sum = sum_over_workgroup(lane, vec2<f32>(rescaled(update.norm, top.x), rescaled(own.norm, top.y)));
  if (lane == 0u && block.length > 0u) { moves[block.number] = vec4<f32>(top.x, sum.x, top.y, sum.y); }
}

// One workgroup a tensor; the first takes down what holds for all.
@compute @workgroup_size(WIDTH)
fn record(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let segment = unfold(group, grid);
  let tensors = settings[9];
  if (segment >= tensors) { return; }
  let span = spans[segment];
  var top = vec2<f32>(0.0);
  for (var i = lane; i < span.y; i += WIDTH) { top = max(top, moves[span.x + i].xz); }
  top = max_over_workgroup(lane, top);
  var sum = vec2<f32>(0.0);
  for (var i = lane; i < span.y; i += WIDTH) {
    let found = moves[span.x + i];
    sum += vec2<f32>(rescaled(found.xy, top.x), rescaled(found.zw, top.y));
  }
  sum = sum_over_workgroup(lane, sum);
  if (lane > 0u) { return; }
  // Steps are counted by taken and skipped ones.
  let slot = (standing[1] + standing[2] - 1u) % settings[13];
  let row = slot * (HEAD + 3u * tensors);
  let at = row + HEAD + 3u * segment;
  records[at] = bitcast<vec2<u32>>(norms[segment]);
  records[at + 1u] = bitcast<vec2<u32>>(vec2<f32>(top.x, sum.x));
  records[at + 2u] = bitcast<vec2<u32>>(vec2<f32>(top.y, sum.y));
  if (segment == 0u) {
    for (var i = 0u; i < 4u; i++) { records[row + i] = vec2<u32>(standing[2u * i], standing[2u * i + 1u]); }
    records[row + 4u] = vec2<u32>(standing[8], 0u);
  }
}
