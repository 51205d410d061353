// dW = d^T x and db = sum of d, straight into the optimizer's gradient buffers; one thread a value.
struct Shape {
  batch: u32,
  inputs: u32,
  outputs: u32,
  relu: u32,
}

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> d: array<f32>;
@group(0) @binding(3) var<storage, read_write> weight_grad: array<f32>;
@group(0) @binding(4) var<storage, read_write> bias_grad: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let weights = shape.outputs * shape.inputs;
  var sum = 0.0;
  if (id.x < weights) {
    let out = id.x / shape.inputs;
    let i = id.x % shape.inputs;
    for (var row = 0u; row < shape.batch; row++) { sum += d[row * shape.outputs + out] * x[row * shape.inputs + i]; }
    weight_grad[id.x] = sum;
  } else if (id.x < weights + shape.outputs) {
    let out = id.x - weights;
    for (var row = 0u; row < shape.batch; row++) { sum += d[row * shape.outputs + out]; }
    bias_grad[out] = sum;
  }
}
