// The weighted mean of gradients so far: share is the newest weight over the sum of all.
@group(0) @binding(16) var<storage, read> shares: array<f32>; // one a tensor; 0 leaves its mean as it is
@group(0) @binding(17) var<storage, read_write> means: array<vec4<f32>>;

@compute @workgroup_size(WIDTH)
fn accumulate(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let tile = tile_of(group, grid);
  let share = shares[tile.segment];
  if (share == 0.0 || !inside(tile, lane)) { return; }
  let i = tile.first + lane;
  let mean = means[i];
  let g = grad_at(tile, lane);
  // The first gradient is taken as it is, whatever an earlier window left.
  means[i] = select(mean + share * (g - mean), g, share == 1.0);
}
