// Sums a pair of values over the workgroup, always in the same order.
var<workgroup> sums: array<vec2<f32>, WIDTH>;

fn sum_over_workgroup(lane: u32, value: vec2<f32>) -> vec2<f32> {
  sums[lane] = value;
  for (var half = WIDTH / 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half) { sums[lane] += sums[lane + half]; }
  }
  workgroupBarrier();
  return sums[0];
}
