// Gradients in the buffer of the model's halves, word by word.
fn grad_word(i: u32) -> u32 {
  return copies[i];
}
