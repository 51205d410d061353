// y = x W^T + b, through ReLU where asked; one thread a value.
struct Shape {
  batch: u32,
  inputs: u32,
  outputs: u32,
  relu: u32,
}

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> weight: array<f32>;
@group(0) @binding(3) var<storage, read> bias: array<f32>;
@group(0) @binding(4) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let row = id.x / shape.outputs;
  let out = id.x % shape.outputs;
  if (row >= shape.batch) { return; }
  var sum = bias[out];
  for (var i = 0u; i < shape.inputs; i++) {
    sum += x[row * shape.inputs + i] * weight[out * shape.inputs + i];
  }
  y[id.x] = select(sum, max(sum, 0.0), shape.relu == 1u);
}
