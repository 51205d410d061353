//! RMSprop.

use super::check::{non_negative, rate};
use super::pace::Pace;
use super::rule::{Binding::*, Over, Pass, Rule, Slots, Used, common_options, row};
use crate::error::Error;
use serde::{Deserialize, Serialize};

/// RMSprop, optionally centered and with momentum.
///
/// ```text
/// g   = grad + weight_decay * p                        (-grad when maximizing)
/// s   = alpha * s + (1 - alpha) * g^2
/// a   = alpha * a + (1 - alpha) * g                    if centered
/// d   = g / (sqrt(max(s - a^2, 0)) + eps)              (sqrt(s) when not centered)
/// buf = momentum * buf + d                             if momentum is above 0, else buf = d
/// p   = p - lr * buf
/// ```
///
/// Slots: `square_avg` (s), `grad_avg` (a) only when centered, `momentum_buffer` (buf) only with momentum.
/// The same as PyTorch's `torch.optim.RMSprop`, but the variance is clamped at 0 before the root, where PyTorch
/// would give NaN. Tieleman and Hinton 2012; centered: Graves 2013.
///
/// ```
/// use webgpu_optim::{HostTrainer, RmsProp};
/// let mut trainer = HostTrainer::new(RmsProp { lr: 0.01, ..RmsProp::default() }, &[("w", &[1.0])])?;
/// trainer.step(&[("w", &[2.0])])?;
/// assert!((trainer.params("w")?[0] - 0.9).abs() < 1e-6); // the first step is lr / sqrt(1 - alpha)
/// # Ok::<(), webgpu_optim::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct RmsProp {
    /// Learning rate, at least 0. Default 1e-2.
    pub lr: f64,
    /// Decay rate of the averages, in [0, 1). Default 0.99.
    pub alpha: f64,
    /// Added to the root, at least 0. Default 1e-8.
    pub eps: f64,
    /// L2 penalty, at least 0. Default 0.
    pub weight_decay: f64,
    /// Momentum, at least 0. Default 0.
    pub momentum: f64,
    /// Divide by the standard deviation instead of the root mean square. Default false.
    pub centered: bool,
    /// Ascend instead of descend. Default false.
    pub maximize: bool,
}

impl Default for RmsProp {
    fn default() -> Self {
        Self { lr: 1e-2, alpha: 0.99, eps: 1e-8, weight_decay: 0.0, momentum: 0.0, centered: false, maximize: false }
    }
}

row! {
    /// One tensor's row in `shaders/rmsprop.wgsl`.
    pub struct Hyper {
        pace: Pace,
        alpha: f32,
        fresh: f32,
        eps: f32,
        weight_decay: f32,
        momentum: f32,
        centered: u32,
    }
}

impl Rule for RmsProp {
    const KIND: &'static str = "rmsprop";
    const CLASS: &'static str = "RMSprop";
    const SLOTS: &'static [&'static str] = &["square_avg", "grad_avg", "momentum_buffer"];
    type Hyper = Hyper;

    fn check(&self) -> Result<(), Error> {
        non_negative("lr", self.lr)?;
        rate("alpha", self.alpha)?;
        non_negative("eps", self.eps)?;
        non_negative("weightDecay", self.weight_decay)?;
        non_negative("momentum", self.momentum)
    }

    common_options!();

    fn used(&self) -> Used {
        [true, self.centered, self.momentum > 0.0]
    }

    fn passes(used: Used) -> &'static [Pass] {
        const PLAIN: &[Pass] =
            &[Pass { entry: "plain", over: Over::Tiles, uses: &[Hypers, Tiles, Params, Copies, Grads, Slot(0)] }];
        const CENTERED: &[Pass] = &[Pass {
            entry: "centered",
            over: Over::Tiles,
            uses: &[Hypers, Tiles, Params, Copies, Grads, Slot(0), Slot(1)],
        }];
        const MOMENTUM: &[Pass] = &[Pass {
            entry: "momentum",
            over: Over::Tiles,
            uses: &[Hypers, Tiles, Params, Copies, Grads, Slot(0), Slot(2)],
        }];
        const BOTH: &[Pass] = &[Pass {
            entry: "centered_momentum",
            over: Over::Tiles,
            uses: &[Hypers, Tiles, Params, Copies, Grads, Slot(0), Slot(1), Slot(2)],
        }];
        match used {
            [_, false, false] => PLAIN,
            [_, true, false] => CENTERED,
            [_, false, true] => MOMENTUM,
            [_, true, true] => BOTH,
        }
    }

    fn hyper(&self, pace: Pace) -> Hyper {
        Hyper {
            pace,
            alpha: self.alpha as f32,
            fresh: (1.0 - self.alpha) as f32,
            eps: self.eps as f32,
            weight_decay: self.weight_decay as f32,
            momentum: self.momentum as f32,
            centered: self.centered.into(),
        }
    }

    fn step(h: &Hyper, params: &mut [f32], grads: &[f32], [s, a, buffer]: Slots<'_>) {
        for (i, (p, grad)) in params.iter_mut().zip(grads).enumerate() {
            let g = h.pace.paced(*grad) + h.weight_decay * *p;
            s[i] = h.alpha * s[i] + h.fresh * (g * g);
            let mut variance = s[i];
            if h.centered == 1 {
                a[i] = h.alpha * a[i] + h.fresh * g;
                variance = (s[i] - a[i] * a[i]).max(0.0);
            }
            let mut d = g / (variance.sqrt() + h.eps);
            if h.momentum > 0.0 {
                buffer[i] = h.momentum * buffer[i] + d;
                d = buffer[i];
            }
            *p -= h.pace.lr() * d;
        }
    }
}
