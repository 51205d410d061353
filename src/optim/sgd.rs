//! Stochastic gradient descent with momentum.

use super::check::{non_negative, rate};
use super::pace::Pace;
use super::rule::{Binding::*, Over, Pass, Rule, Slots, Used, common_options, row};
use crate::error::Error;
use serde::{Deserialize, Serialize};

/// Stochastic gradient descent, with momentum, dampening and Nesterov's form.
///
/// ```text
/// g    = grad + weight_decay * p                      (-grad when maximizing)
/// buf  = g                                            first step of a tensor
/// buf  = momentum * buf + (1 - dampening) * g         later steps
/// d    = g + momentum * buf   if nesterov, else buf   (g when momentum is 0)
/// p    = p - lr * d
/// ```
///
/// Slots: `momentum_buffer`, only when `momentum` is above 0.
/// The same as PyTorch's `torch.optim.SGD`. Momentum: Polyak 1964; Nesterov's form: Sutskever et al. 2013.
///
/// ```
/// use webgpu_optim::{HostTrainer, Sgd};
/// let mut trainer = HostTrainer::new(Sgd { lr: 0.1, ..Sgd::default() }, &[("w", &[1.0])])?;
/// trainer.step(&[("w", &[2.0])])?;
/// assert_eq!(trainer.params("w")?, &[0.8]);
/// # Ok::<(), webgpu_optim::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct Sgd {
    /// Learning rate, at least 0. Default 1e-3.
    pub lr: f64,
    /// Momentum, at least 0. Default 0.
    pub momentum: f64,
    /// Dampening of the momentum, at least 0 and less than 1; needs momentum above 0. Default 0.
    pub dampening: f64,
    /// L2 penalty, at least 0. Default 0.
    pub weight_decay: f64,
    /// Nesterov's form; needs momentum above 0 and dampening 0. Default false.
    pub nesterov: bool,
    /// Ascend instead of descend. Default false.
    pub maximize: bool,
}

impl Default for Sgd {
    fn default() -> Self {
        Self { lr: 1e-3, momentum: 0.0, dampening: 0.0, weight_decay: 0.0, nesterov: false, maximize: false }
    }
}

row! {
    /// One tensor's row in `shaders/sgd.wgsl`.
    pub struct Hyper {
        pace: Pace,
        momentum: f32,
        undamped: f32,
        weight_decay: f32,
        nesterov: u32,
    }
}

impl Rule for Sgd {
    const KIND: &'static str = "sgd";
    const CLASS: &'static str = "SGD";
    const SLOTS: &'static [&'static str] = &["momentum_buffer"];
    type Hyper = Hyper;

    fn check(&self) -> Result<(), Error> {
        non_negative("lr", self.lr)?;
        non_negative("momentum", self.momentum)?;
        rate("dampening", self.dampening)?;
        non_negative("weightDecay", self.weight_decay)?;
        if self.dampening != 0.0 && self.momentum == 0.0 {
            return Err(Error::invalid(format!("dampening needs momentum above 0, got dampening {}", self.dampening)));
        }
        if self.nesterov && (self.momentum == 0.0 || self.dampening != 0.0) {
            return Err(Error::invalid(format!(
                "nesterov needs momentum above 0 and dampening 0, got momentum {} and dampening {}",
                self.momentum, self.dampening
            )));
        }
        Ok(())
    }

    common_options!();

    fn used(&self) -> Used {
        [self.momentum > 0.0, false, false]
    }

    fn passes(used: Used) -> &'static [Pass] {
        const PLAIN: &[Pass] =
            &[Pass { entry: "plain", over: Over::Tiles, uses: &[Hypers, Tiles, Params, Copies, Grads] }];
        const MOMENTUM: &[Pass] =
            &[Pass { entry: "momentum", over: Over::Tiles, uses: &[Hypers, Tiles, Params, Copies, Grads, Slot(0)] }];
        if used[0] { MOMENTUM } else { PLAIN }
    }

    fn hyper(&self, pace: Pace) -> Hyper {
        Hyper {
            pace,
            momentum: self.momentum as f32,
            undamped: (1.0 - self.dampening) as f32,
            weight_decay: self.weight_decay as f32,
            nesterov: self.nesterov.into(),
        }
    }

    fn step(h: &Hyper, params: &mut [f32], grads: &[f32], [buffer, ..]: Slots<'_>) {
        for (i, (p, grad)) in params.iter_mut().zip(grads).enumerate() {
            let g = h.pace.paced(*grad) + h.weight_decay * *p;
            let mut d = g;
            if h.momentum > 0.0 {
                buffer[i] = if h.pace.is_first() { g } else { h.momentum * buffer[i] + h.undamped * g };
                d = if h.nesterov == 1 { g + h.momentum * buffer[i] } else { buffer[i] };
            }
            *p -= h.pace.lr() * d;
        }
    }
}
