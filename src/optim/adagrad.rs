//! Adagrad.

use super::check::non_negative;
use super::pace::Pace;
use super::rule::{Binding::*, Over, Pass, Rule, Slots, Used, common_options, row};
use crate::error::Error;
use serde::{Deserialize, Serialize};

/// Adagrad.
///
/// ```text
/// g   = grad + weight_decay * p                        (-grad when maximizing)
/// sum = sum + g^2                                      starts at initial_accumulator
/// p   = p - lr / (1 + (t - 1) * lr_decay) * g / (sqrt(sum) + eps)
/// ```
///
/// Slots: `sum`. The same as PyTorch's `torch.optim.Adagrad`, whose `initial_accumulator_value` is
/// `initialAccumulator` here. Duchi, Hazan and Singer 2011.
///
/// ```
/// use webgpu_optim::{Adagrad, HostTrainer};
/// let mut trainer = HostTrainer::new(Adagrad { lr: 0.1, ..Adagrad::default() }, &[("w", &[1.0])])?;
/// trainer.step(&[("w", &[2.0])])?;
/// assert!((trainer.params("w")?[0] - 0.9).abs() < 1e-6); // the first step is lr long
/// # Ok::<(), webgpu_optim::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct Adagrad {
    /// Learning rate, at least 0. Default 1e-2.
    pub lr: f64,
    /// Decay of the learning rate with a tensor's own steps, at least 0. Default 0.
    pub lr_decay: f64,
    /// L2 penalty, at least 0. Default 0.
    pub weight_decay: f64,
    /// What the sum of squares starts with, at least 0; read when the optimizer is made. Default 0.
    pub initial_accumulator: f64,
    /// Added to the root, at least 0. Default 1e-10.
    pub eps: f64,
    /// Ascend instead of descend. Default false.
    pub maximize: bool,
}

impl Default for Adagrad {
    fn default() -> Self {
        Self { lr: 1e-2, lr_decay: 0.0, weight_decay: 0.0, initial_accumulator: 0.0, eps: 1e-10, maximize: false }
    }
}

row! {
    /// One tensor's row in `shaders/adagrad.wgsl`.
    pub struct Hyper {
        pace: Pace,
        eps: f32,
        weight_decay: f32,
    }
}

impl Rule for Adagrad {
    const KIND: &'static str = "adagrad";
    const CLASS: &'static str = "Adagrad";
    const SLOTS: &'static [&'static str] = &["sum"];
    type Hyper = Hyper;

    fn check(&self) -> Result<(), Error> {
        non_negative("lr", self.lr)?;
        non_negative("lrDecay", self.lr_decay)?;
        non_negative("weightDecay", self.weight_decay)?;
        non_negative("initialAccumulator", self.initial_accumulator)?;
        non_negative("eps", self.eps)
    }

    common_options!();

    fn lr_decay(&self) -> f64 {
        self.lr_decay
    }

    fn used(&self) -> Used {
        [true, false, false]
    }

    fn initial(&self, _slot: usize) -> f32 {
        self.initial_accumulator as f32
    }

    fn passes(_used: Used) -> &'static [Pass] {
        &[Pass { entry: "plain", over: Over::Tiles, uses: &[Hypers, Tiles, Params, Copies, Grads, Slot(0)] }]
    }

    fn hyper(&self, pace: Pace) -> Hyper {
        Hyper { pace, eps: self.eps as f32, weight_decay: self.weight_decay as f32 }
    }

    fn step(h: &Hyper, params: &mut [f32], grads: &[f32], [sum, ..]: Slots<'_>) {
        for (i, (p, grad)) in params.iter_mut().zip(grads).enumerate() {
            let g = h.pace.paced(*grad) + h.weight_decay * *p;
            sum[i] += g * g;
            *p -= h.pace.lr() * (g / (sum[i].sqrt() + h.eps));
        }
    }
}
