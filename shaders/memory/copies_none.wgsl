fn set_copy(tile: Tile, k: u32, p: vec4<f32>) {}
