// Norms that no finite input overflows. A norm is kept as its largest value x and y = sum of (g / x)^2;
// where an infinity or NaN was met, as -1 - y.
const TINY = 1.2e-38; // below it a quotient is not to be relied on
const SMALL_UNIT = 5.421010862427522e-20; // 2^-64

// What both sides of a quotient are multiplied by: the inverse of a very large divisor may be flushed to 0.
fn unit_for(divisor: f32) -> f32 {
  return select(1.0, SMALL_UNIT, divisor > 1e30);
}

fn squares_of(norm: vec2<f32>) -> f32 {
  return select(norm.y, -1.0 - norm.y, norm.y < 0.0);
}

// The squares of a norm in units of another largest value.
fn rescaled(norm: vec2<f32>, largest: f32) -> f32 {
  if (norm.x < TINY) { return 0.0; }
  let unit = unit_for(largest);
  let part = (norm.x * unit) / (largest * unit);
  return squares_of(norm) * part * part;
}

fn marked(largest: f32, squares: f32, bad: bool) -> vec2<f32> {
  return vec2<f32>(largest, select(squares, -1.0 - squares, bad));
}

// Squares so far, in units of the largest value so far.
struct Sum {
  norm: vec2<f32>,
  inverse: f32,
  unit: f32,
}

// Adds the squares of four values, none of them negative, infinite or NaN.
fn add_squares(sum: Sum, g: vec4<f32>) -> Sum {
  var now = sum;
  let largest = max(max(g.x, g.y), max(g.z, g.w));
  if (largest > now.norm.x && largest >= TINY) {
    now.norm = vec2<f32>(largest, rescaled(now.norm, largest));
    now.unit = unit_for(largest);
    now.inverse = 1.0 / (largest * now.unit);
  }
  let part = (g * now.unit) * now.inverse;
  now.norm.y += dot(part, part);
  return now;
}

// Which of four values are the tensor's own, and not the padding after its end.
fn within(tile: Tile, k: u32) -> vec4<bool> {
  return vec4<u32>(0u, 1u, 2u, 3u) + k * 4u < vec4<u32>(tile.length);
}
