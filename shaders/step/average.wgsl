// A moving average of the parameters; share is 1 minus the decay, and 0 after a step that was skipped.
@group(0) @binding(18) var<storage, read_write> share: f32;
@group(0) @binding(19) var<storage, read_write> averages: array<vec4<f32>>;

@compute @workgroup_size(WIDTH)
fn average(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let tile = tile_of(group, grid);
  if (share == 0.0 || !inside(tile, lane)) { return; }
  let i = tile.first + lane;
  averages[i] += share * (param_at(tile, lane) - averages[i]);
}
