// Between the parameters that steps change and the halves that the model reads.
@compute @workgroup_size(WIDTH)
fn from_halves(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let tile = tile_of(group, grid);
  if (inside(tile, lane)) { keep_param(tile, lane, grad_at(tile, lane)); }
}

@compute @workgroup_size(WIDTH)
fn to_halves(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) grid: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let tile = tile_of(group, grid);
  if (inside(tile, lane)) { set_copy(tile, lane, param_at(tile, lane)); }
}
