// The caller's gradients word by word.
@group(0) @binding(3) var<storage, read> grads: array<u32>;

fn grad_word(i: u32) -> u32 {
  return grads[i];
}
