// Copies the digits of a batch into the network's input.
struct Batch {
  size: u32,
  first: u32,  // the first digit of the range
  count: u32,  // digits in the range
  seed: u32,
  step: u32,
  random: u32, // 1 draws from the range, 0 takes it in order
}

@group(0) @binding(0) var<uniform> batch: Batch;
@group(0) @binding(1) var<storage, read> pixels: array<f32>;
@group(0) @binding(2) var<storage, read> labels: array<u32>;
@group(0) @binding(3) var<storage, read_write> x: array<f32>;
@group(0) @binding(4) var<storage, read_write> y: array<u32>;

fn hash(value: u32) -> u32 {
  let state = value * 747796405u + 2891336453u;
  let word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
  return (word >> 22u) ^ word;
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let place = group.x;
  if (place >= batch.size) { return; }
  var digit = place;
  if (batch.random == 1u) {
    digit = hash(batch.seed ^ hash(batch.step * batch.size + place)) % batch.count;
  }
  digit += batch.first;
  x[place * 64u + lane] = pixels[digit * 64u + lane];
  if (lane == 0u) { y[place] = labels[digit]; }
}
