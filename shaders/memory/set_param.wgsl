fn set_param(tile: Tile, k: u32, p: vec4<f32>) {
  keep_param(tile, k, p);
  set_copy(tile, k, p);
}
