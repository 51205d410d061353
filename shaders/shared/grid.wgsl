// One workgroup a tile: up to 1,024 neighbouring values of one tensor, four a thread.
const WIDTH = 256u;

struct Tile {
  segment: u32, // the tensor, and so the row of scalars
  first: u32,   // its first vec4 in the window
  length: u32,  // values in it, padding not counted
  number: u32,  // its place among the tiles of all windows
  param: u32,   // where its parameters begin, in vec4s or, where they are taken one by one, in values
  grad: u32,    // and its gradients
  copy: u32,    // and the model's halves of them
}

@group(0) @binding(1) var<storage, read> tiles: array<Tile>;

// Past 65,535 workgroups the grid is folded into two dimensions.
fn unfold(group: vec3<u32>, grid: vec3<u32>) -> u32 {
  return group.y * grid.x + group.x;
}

// The tile of a workgroup; an empty one for the workgroups that folding adds.
fn tile_of(group: vec3<u32>, grid: vec3<u32>) -> Tile {
  let number = unfold(group, grid);
  if (number >= arrayLength(&tiles)) {
    return Tile();
  }
  return tiles[number];
}

// Whether a thread's four values begin inside the tile.
fn inside(tile: Tile, lane: u32) -> bool {
  return lane * 4u < tile.length;
}
