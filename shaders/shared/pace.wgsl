// What a step decides for one tensor: by the host, or by prepare.wgsl when steps can be skipped on the device.
struct Pace {
  live: u32,       // 0 leaves the tensor as it is
  first: u32,      // 1 while the slots are as they were made
  factor: f32,     // what gradients are multiplied by: sign, unscaling, clipping by norm
  unit: f32,       // and this: 1, or a small power of 2 where the factor alone would be subnormal
  limit: f32,      // the largest magnitude of a gradient value after that; 0 for none
  lr: f32,
  correction: f32, // 1 / (1 - beta1^t)
  root_scale: f32, // 1 / sqrt(1 - beta2^t)
}

// NaN compares false, and so is kept.
fn paced(pace: Pace, grad: vec4<f32>) -> vec4<f32> {
  let g = pace.factor * (pace.unit * grad);
  let over = vec4<bool>(pace.limit > 0.0) & (abs(g) > vec4<f32>(pace.limit));
  return select(g, sign(g) * pace.limit, over);
}
