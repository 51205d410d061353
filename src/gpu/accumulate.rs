//! Accumulating gradients on the device: a weighted mean over micro-batches.

use super::pipeline::Shader;
use crate::optim::rule::{Binding, Over, Pass};

pub(super) const SHADER: Shader = Shader {
    stem: "accumulate",
    source: concat!(include_str!("../../shaders/shared/grid.wgsl"), include_str!("../../shaders/step/accumulate.wgsl"),),
};

pub(super) const PASSES: &[Pass] = &[Pass {
    entry: "accumulate",
    over: Over::Tiles,
    uses: &[Binding::Tiles, Binding::Grads, Binding::Shares, Binding::Means],
}];
