// Gradients in the buffer of the parameters, word by word.
fn grad_word(i: u32) -> u32 {
  return bitcast<u32>(params[i]);
}
