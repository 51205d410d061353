// Softmax cross-entropy: the gradient of the mean loss by the logits, the mean loss, and the accuracy.
const CLASSES = 10u;

@group(0) @binding(0) var<uniform> batch: u32;
@group(0) @binding(1) var<storage, read> logits: array<f32>;
@group(0) @binding(2) var<storage, read> labels: array<u32>;
@group(0) @binding(3) var<storage, read_write> d: array<f32>;
@group(0) @binding(4) var<storage, read_write> metrics: array<f32>; // loss, accuracy

var<workgroup> losses: array<f32, 64>;
var<workgroup> hits: array<f32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32) {
  for (var row = lane; row < batch; row += 64u) {
    let at = row * CLASSES;
    var best = 0u;
    for (var c = 1u; c < CLASSES; c++) { best = select(best, c, logits[at + c] > logits[at + best]); }
    let largest = logits[at + best];
    var total = 0.0;
    for (var c = 0u; c < CLASSES; c++) { total += exp(logits[at + c] - largest); }
    let label = labels[row];
    for (var c = 0u; c < CLASSES; c++) {
      let p = exp(logits[at + c] - largest) / total;
      d[at + c] = (p - select(0.0, 1.0, c == label)) / f32(batch);
    }
    losses[lane] += log(total) + largest - logits[at + label];
    hits[lane] += select(0.0, 1.0, best == label);
  }
  workgroupBarrier();
  if (lane == 0u) {
    var loss = 0.0;
    var correct = 0.0;
    for (var i = 0u; i < 64u; i++) {
      loss += losses[i];
      correct += hits[i];
    }
    metrics[0] = loss / f32(batch);
    metrics[1] = correct / f32(batch);
  }
}
