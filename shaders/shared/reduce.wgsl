// Both go over the workgroup in the same order always, and give every thread the result.
var<workgroup> sums: array<vec2<f32>, WIDTH>;

fn sum_over_workgroup(lane: u32, value: vec2<f32>) -> vec2<f32> {
  workgroupBarrier();
  sums[lane] = value;
  for (var span = WIDTH / 2u; span > 0u; span /= 2u) {
    workgroupBarrier();
    if (lane < span) { sums[lane] += sums[lane + span]; }
  }
  workgroupBarrier();
  return sums[0];
}

fn max_over_workgroup(lane: u32, value: vec2<f32>) -> vec2<f32> {
  workgroupBarrier();
  sums[lane] = value;
  for (var span = WIDTH / 2u; span > 0u; span /= 2u) {
    workgroupBarrier();
    if (lane < span) { sums[lane] = max(sums[lane], sums[lane + span]); }
  }
  workgroupBarrier();
  return sums[0];
}
