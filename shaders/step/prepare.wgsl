// One workgroup decides on a step and writes the pace of every tensor.
struct Settings {
  clip: u32, // 0 none, 1 by global norm, 2 by tensor norm, 3 by value
  bound: f32,
  skips: u32,
  growth_factor: f32,
  backoff_factor: f32,
  growth_interval: u32,
  lowest: f32,
  highest: f32,
  stride: u32, // words of a row
  tensors: u32,
  groups: u32,
  fresh: f32,  // 1 minus the decay of the averages; 0 where none are kept
  warmup: u32,
  history: u32, // steps that are kept
}

struct Plan {
  group: u32,
  seeds: u32,
  sign: f32,
  ln_beta1: f32,
  ln_beta2: f32,
  lr_decay: f32,
}

struct Standing {
  scale: f32,
  taken: u32,
  skipped: u32,
  good: u32,
  found: u32,
  largest: f32, // the global norm is largest * root
  root: f32,
  clip_factor: f32,
  divisor: f32, // the scale of the gradients that norms were taken of
}

struct Count {
  steps: u32,
  seeded: u32,
}

// The rate of step t stands at t modulo this.
const RING = 4096u;

@group(0) @binding(11) var<storage, read> plans: array<Plan>;
@group(0) @binding(12) var<storage, read> rates: array<f32>;
@group(0) @binding(13) var<storage, read_write> counts: array<Count>;
@group(0) @binding(14) var<storage, read_write> standing: Standing;
@group(0) @binding(18) var<storage, read_write> share: f32;
@group(0) @binding(15) var<storage, read> settings: Settings;

// 1 - e^x for x <= 0, without cancellation.
fn one_minus_exp(x: f32) -> f32 {
  if (x < -0.5) { return 1.0 - exp(max(x, -100.0)); }
  var sum = 1.0;
  for (var n = 10.0; n > 1.0; n -= 1.0) { sum = 1.0 + x / n * sum; }
  return -x * sum;
}

// The factor and its unit: min(1, bound / (norm + 1e-6)), of a norm that may lie beyond the largest f32.
fn coefficient(largest: f32, root: f32) -> vec2<f32> {
  if (largest > 1e30) { return vec2<f32>(min(1.0 / SMALL_UNIT, settings.bound / (largest * SMALL_UNIT) / root), SMALL_UNIT); }
  return vec2<f32>(min(1.0, settings.bound / (largest * root + 1e-6)), 1.0);
}

// A step takes up the rate of its own number, or the oldest there still is.
fn rate_row(before: Standing) -> u32 {
  let asked = before.taken + before.skipped;
  return max(before.taken, asked - min(asked, RING - 1u)) % RING;
}

fn write_pace(at: u32, plan: Plan, count: Count, lr: f32, factor: vec2<f32>) {
  let t = f32(count.steps + 1u);
  rows[at] = 1u;
  rows[at + 1u] = 1u - count.seeded;
  rows[at + 2u] = bitcast<u32>(plan.sign * factor.x);
  rows[at + 3u] = bitcast<u32>(factor.y);
  rows[at + 4u] = bitcast<u32>(select(0.0, settings.bound, settings.clip == 3u));
  rows[at + 5u] = bitcast<u32>(lr / (1.0 + (t - 1.0) * plan.lr_decay));
  rows[at + 6u] = bitcast<u32>(1.0 / one_minus_exp(t * plan.ln_beta1));
  rows[at + 7u] = bitcast<u32>(1.0 / sqrt(one_minus_exp(t * plan.ln_beta2)));
}

fn scaled_after(before: Standing, found: bool) -> Standing {
  var after = before;
  after.good = select(before.good + 1u, 0u, found);
  if (found) { after.scale = max(before.scale * settings.backoff_factor, settings.lowest); }
  if (after.good == settings.growth_interval) {
    after.scale = min(before.scale * settings.growth_factor, settings.highest);
    after.good = 0u;
  }
  return after;
}

fn share_after(taken: u32) -> f32 {
  let t = f32(taken);
  return select(settings.fresh, max(settings.fresh, 9.0 / (10.0 + t)), settings.warmup == 1u && settings.fresh > 0.0);
}

@compute @workgroup_size(WIDTH)
fn prepare(@builtin(local_invocation_index) lane: u32) {
  let before = standing;
  var top = vec2<f32>(0.0);
  for (var i = lane; i < settings.tensors; i += WIDTH) { top = max(top, vec2<f32>(norms[i].x, f32(norms[i].y < 0.0))); }
  top = max_over_workgroup(lane, top);
  var sum = 0.0;
  for (var i = lane; i < settings.tensors; i += WIDTH) { sum += rescaled(norms[i], top.x); }
  let root = sqrt(sum_over_workgroup(lane, vec2<f32>(sum, 0.0)).x);
  let skip = top.y > 0.0 && settings.skips == 1u;
  let global = select(vec2<f32>(1.0), coefficient(top.x / before.scale, root), settings.clip == 1u);

  for (var i = lane; i < settings.tensors; i += WIDTH) {
    let at = i * settings.stride;
    if (rows[at] == 0u) { continue; }
    if (skip) {
      rows[at] = 0u;
      continue;
    }
    let own = select(vec2<f32>(1.0), coefficient(norms[i].x / before.scale, sqrt(squares_of(norms[i]))), settings.clip == 2u);
    let lr = rates[rate_row(before) * settings.groups + plans[i].group];
    write_pace(at, plans[i], counts[i], lr, vec2<f32>(global.x * own.x / before.scale, global.y * own.y));
    counts[i] = Count(counts[i].steps + 1u, max(counts[i].seeded, plans[i].seeds));
  }

  if (lane == 0u) {
    var after = scaled_after(before, top.y > 0.0);
    after.taken += select(1u, 0u, skip);
    after.skipped += select(0u, 1u, skip);
    after.found = u32(top.y);
    after.largest = top.x / before.scale;
    after.root = root;
    after.clip_factor = global.x * global.y;
    after.divisor = before.scale;
    standing = after;
    share = select(share_after(after.taken), 0.0, skip);
  }
}
