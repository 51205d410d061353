// Norms that no finite input overflows. A norm is kept as its largest value x and y = sum of (g / x)^2;
// where an infinity or NaN was met, as -1 - y.
const TINY = 1.2e-38; // below it a quotient is not to be relied on
const SMALL_UNIT = 5.421010862427522e-20; // 2^-64

@group(0) @binding(0) var<storage, read_write> rows: array<u32>;
@group(0) @binding(7) var<storage, read_write> partials: array<vec2<f32>>;
@group(0) @binding(9) var<storage, read> spans: array<vec2<u32>>;
@group(0) @binding(10) var<storage, read_write> norms: array<vec2<f32>>;

// What both sides of a quotient are multiplied by: the inverse of a very large divisor may be flushed to 0.
fn unit_for(divisor: f32) -> f32 {
  return select(1.0, SMALL_UNIT, divisor > 1e30);
}

fn squares_of(norm: vec2<f32>) -> f32 {
  return select(norm.y, -1.0 - norm.y, norm.y < 0.0);
}

// The squares of a norm in units of another largest value.
fn rescaled(norm: vec2<f32>, largest: f32) -> f32 {
  if (norm.x < TINY) { return 0.0; }
  let unit = unit_for(largest);
  let part = (norm.x * unit) / (largest * unit);
  return squares_of(norm) * part * part;
}

fn marked(largest: f32, squares: f32, bad: bool) -> vec2<f32> {
  return vec2<f32>(largest, select(squares, -1.0 - squares, bad));
}

// One workgroup a block. Each thread keeps the largest value it has met, and its squares in units of that.
@compute @workgroup_size(WIDTH)
fn block_norm(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let block = tile_of(group, grid);
  let live = rows[block.segment * settings.stride] == 1u;
  var own = vec2<f32>(0.0);
  var inverse = 0.0;
  var unit = 1.0;
  var bad = false;
  for (var k = lane; live && k * 4u < block.length; k += WIDTH) {
    let bits = grad_bits(block, k);
    let within = vec4<u32>(0u, 1u, 2u, 3u) + k * 4u < vec4<u32>(block.length);
    let g = abs(select(vec4<f32>(0.0), bitcast<vec4<f32>>(bits), finite(bits) & within));
    bad = bad || any(!finite(bits) & within);
    let largest = max(max(g.x, g.y), max(g.z, g.w));
    if (largest > own.x && largest >= TINY) {
      own = vec2<f32>(largest, rescaled(own, largest));
      unit = unit_for(largest);
      inverse = 1.0 / (largest * unit);
    }
    let part = (g * unit) * inverse;
    own.y += dot(part, part);
  }
  let top = max_over_workgroup(lane, vec2<f32>(own.x, f32(bad)));
  let sum = sum_over_workgroup(lane, vec2<f32>(rescaled(own, top.x), 0.0));
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
