//! Adam.

use super::check::non_negative;
use super::moments::{AdamHyper, Moments};
use super::pace::Pace;
use super::rule::{Pass, Rule, Slots, Used, common_options};
use crate::error::Error;
use serde::{Deserialize, Serialize};

/// Adam, with the weight decay added to the gradient and optionally AMSGrad.
///
/// ```text
/// g = grad + weight_decay * p                          (-grad when maximizing)
/// m = beta1 * m + (1 - beta1) * g
/// v = beta2 * v + (1 - beta2) * g^2
/// n = max(n, v) if amsgrad, else v
/// p = p - lr / (1 - beta1^t) * m / (sqrt(n) / sqrt(1 - beta2^t) + eps)
/// ```
///
/// Slots: `exp_avg` (m), `exp_avg_sq` (v), and `max_exp_avg_sq` (n) with AMSGrad.
/// The same as PyTorch's `torch.optim.Adam`; eps stands outside the root and after the bias correction, where
/// TensorFlow's `epsilon-hat` form puts it before. Kingma and Ba 2015; AMSGrad: Reddi et al. 2018.
///
/// ```
/// use webgpu_optim::{Adam, HostTrainer};
/// let mut trainer = HostTrainer::new(Adam { lr: 0.1, ..Adam::default() }, &[("w", &[1.0])])?;
/// trainer.step(&[("w", &[2.0])])?;
/// assert!((trainer.params("w")?[0] - 0.9).abs() < 1e-6); // the first step is lr long
/// # Ok::<(), webgpu_optim::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct Adam {
    /// Learning rate, at least 0. Default 1e-3.
    pub lr: f64,
    /// Decay rate of the first moment, in [0, 1). Default 0.9.
    pub beta1: f64,
    /// Decay rate of the second moment, in [0, 1). Default 0.999.
    pub beta2: f64,
    /// Added to the root, at least 0. Default 1e-8.
    pub eps: f64,
    /// L2 penalty, at least 0, added to the gradient. Default 0.
    pub weight_decay: f64,
    /// Divide by the largest second moment so far. Default false.
    pub amsgrad: bool,
    /// Ascend instead of descend. Default false.
    pub maximize: bool,
}

impl Default for Adam {
    fn default() -> Self {
        Self { lr: 1e-3, beta1: 0.9, beta2: 0.999, eps: 1e-8, weight_decay: 0.0, amsgrad: false, maximize: false }
    }
}

impl Rule for Adam {
    const KIND: &'static str = "adam";
    const CLASS: &'static str = "Adam";
    const SLOTS: &'static [&'static str] = &["exp_avg", "exp_avg_sq", "max_exp_avg_sq"];
    type Hyper = AdamHyper;

    fn check(&self) -> Result<(), Error> {
        non_negative("lr", self.lr)?;
        non_negative("weightDecay", self.weight_decay)?;
        Moments::check(self.beta1, self.beta2, self.eps)
    }

    common_options!();

    fn betas(&self) -> [f64; 2] {
        [self.beta1, self.beta2]
    }

    fn used(&self) -> Used {
        [true, true, self.amsgrad]
    }

    fn passes(used: Used) -> &'static [Pass] {
        AdamHyper::passes(used)
    }

    fn hyper(&self, pace: Pace) -> AdamHyper {
        AdamHyper::new(pace, self.betas(), self.eps, self.weight_decay, self.amsgrad)
    }

    fn step(h: &AdamHyper, params: &mut [f32], grads: &[f32], [m, v, n]: Slots<'_>) {
        for (i, (p, grad)) in params.iter_mut().zip(grads).enumerate() {
            let g = h.pace().paced(*grad) + h.weight_decay() * *p;
            *p -= h.update(&mut m[i], &mut v[i], n.get_mut(i), g);
        }
    }
}
