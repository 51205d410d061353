// Decay rates of the two moments, and 1 minus each.
struct Moments {
  beta1: f32,
  fresh1: f32,
  beta2: f32,
  fresh2: f32,
}
