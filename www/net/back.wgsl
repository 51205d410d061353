// dx = d W where ReLU let x through; one thread a value.
struct Shape {
  batch: u32,
  inputs: u32,
  outputs: u32,
  relu: u32,
}

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> d: array<f32>;
@group(0) @binding(2) var<storage, read> weight: array<f32>;
@group(0) @binding(3) var<storage, read> x: array<f32>;
@group(0) @binding(4) var<storage, read_write> dx: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let row = id.x / shape.inputs;
  let i = id.x % shape.inputs;
  if (row >= shape.batch) { return; }
  var sum = 0.0;
  for (var out = 0u; out < shape.outputs; out++) {
    sum += d[row * shape.outputs + out] * weight[out * shape.inputs + i];
  }
  dx[id.x] = select(0.0, sum, x[id.x] > 0.0);
}
