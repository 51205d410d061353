// The norm of each tensor's gradient.
@group(0) @binding(0) var<storage, read_write> rows: array<u32>;
@group(0) @binding(7) var<storage, read_write> partials: array<vec2<f32>>;
@group(0) @binding(9) var<storage, read> spans: array<vec2<u32>>;
@group(0) @binding(10) var<storage, read_write> norms: array<vec2<f32>>;

// One workgroup a block. Each thread keeps the largest value it has met, and its squares in units of that.
@compute @workgroup_size(WIDTH)
fn block_norm(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let block = tile_of(group, grid);
  let live = rows[block.segment * settings.stride] == 1u;
  var own = Sum(vec2<f32>(0.0), 0.0, 1.0);
  var bad = false;
  for (var k = lane; live && k * 4u < block.length; k += WIDTH) {
    let bits = grad_bits(block, k);
    let inside = within(block, k);
    bad = bad || any(!finite(bits) & inside);
    own = add_squares(own, abs(select(vec4<f32>(0.0), bitcast<vec4<f32>>(bits), finite(bits) & inside)));
  }
  let top = max_over_workgroup(lane, vec2<f32>(own.norm.x, f32(bad)));
  let sum = sum_over_workgroup(lane, vec2<f32>(rescaled(own.norm, top.x), 0.0));
  if (lane == 0u && block.length > 0u) { partials[block.number] = marked(top.x, sum.x, top.y > 0.0); }
}

// One workgroup a tensor.
@compute @workgroup_size(WIDTH)
fn tensor_norm(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let segment = unfold(group, grid);
  if (segment >= settings.tensors) { return; }
  // A tensor without a gradient keeps the sums of an earlier step.
  let span = select(vec2<u32>(0u), spans[segment], rows[segment * settings.stride] == 1u);
  var top = vec2<f32>(0.0);
  for (var i = lane; i < span.y; i += WIDTH) {
    let norm = partials[span.x + i];
    top = max(top, vec2<f32>(norm.x, f32(norm.y < 0.0)));
  }
  top = max_over_workgroup(lane, top);
  var sum = 0.0;
  for (var i = lane; i < span.y; i += WIDTH) { sum += rescaled(partials[span.x + i], top.x); }
  let total = sum_over_workgroup(lane, vec2<f32>(sum, 0.0));
  if (lane == 0u) { norms[segment] = marked(top.x, total.x, top.y > 0.0); }
}
