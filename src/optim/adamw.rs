//! Adam with decoupled weight decay.

use super::check::non_negative;
use super::moments::Moments;
use super::pace::Pace;
use super::rule::{Binding::*, Over, Pass, Rule, Slots, Used, row};
use crate::error::Error;
use serde::{Deserialize, Serialize};

/// Adam with decoupled weight decay, optionally with AMSGrad.
///
/// ```text
/// g = grad                                             (-grad when maximizing)
/// p = p - lr * weight_decay * p
/// m = beta1 * m + (1 - beta1) * g
/// v = beta2 * v + (1 - beta2) * g^2
/// n = max(n, v) if amsgrad, else v
/// p = p - lr / (1 - beta1^t) * m / (sqrt(n) / sqrt(1 - beta2^t) + eps)
/// ```
///
/// Slots: `exp_avg` (m), `exp_avg_sq` (v), and `max_exp_avg_sq` (n) with AMSGrad.
/// The same as PyTorch's `torch.optim.AdamW`: the decay is multiplied by the learning rate in force, after any schedule.
/// Loshchilov and Hutter 2019; AMSGrad: Reddi et al. 2018.
///
/// ```
/// use webgpu_optim::{AdamW, HostTrainer};
/// let mut trainer = HostTrainer::new(AdamW { lr: 0.1, weight_decay: 0.5, ..AdamW::default() }, &[("w", &[1.0])])?;
/// trainer.step(&[("w", &[2.0])])?;
/// assert!((trainer.params("w")?[0] - 0.85).abs() < 1e-6); // 1 * (1 - 0.1 * 0.5) - 0.1
/// # Ok::<(), webgpu_optim::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct AdamW {
    /// Learning rate, at least 0. Default 1e-3.
    pub lr: f64,
    /// Decay rate of the first moment, in [0, 1). Default 0.9.
    pub beta1: f64,
    /// Decay rate of the second moment, in [0, 1). Default 0.999.
    pub beta2: f64,
    /// Added to the root, at least 0. Default 1e-8.
    pub eps: f64,
    /// Decoupled weight decay, at least 0. Default 0.01.
    pub weight_decay: f64,
    /// Divide by the largest second moment so far. Default false.
    pub amsgrad: bool,
    /// Ascend instead of descend. Default false.
    pub maximize: bool,
}

impl Default for AdamW {
    fn default() -> Self {
        Self { lr: 1e-3, beta1: 0.9, beta2: 0.999, eps: 1e-8, weight_decay: 0.01, amsgrad: false, maximize: false }
    }
}

row! {
    /// One tensor's row in `shaders/adamw.wgsl`.
    pub struct Hyper {
        pace: Pace,
        moments: Moments,
        eps: f32,
        weight_decay: f32,
        amsgrad: u32,
    }
}

impl Rule for AdamW {
    const KIND: &'static str = "adamw";
    const CLASS: &'static str = "AdamW";
    const SLOTS: &'static [&'static str] = &["exp_avg", "exp_avg_sq", "max_exp_avg_sq"];
    type Hyper = Hyper;

    fn check(&self) -> Result<(), Error> {
        non_negative("lr", self.lr)?;
        non_negative("weightDecay", self.weight_decay)?;
        Moments::check(self.beta1, self.beta2, self.eps)
    }

    fn lr(&self) -> f64 {
        self.lr
    }

    fn lr_mut(&mut self) -> &mut f64 {
        &mut self.lr
    }

    fn maximize(&self) -> bool {
        self.maximize
    }

    fn betas(&self) -> [f64; 2] {
        [self.beta1, self.beta2]
    }

    fn used(&self) -> Used {
        [true, true, self.amsgrad]
    }

    fn passes(used: Used) -> &'static [Pass] {
        const PLAIN: &[Pass] =
            &[Pass { entry: "plain", over: Over::Tiles, uses: &[Hypers, Tiles, Params, Grads, Slot(0), Slot(1)] }];
        const AMSGRAD: &[Pass] = &[Pass {
            entry: "amsgrad",
            over: Over::Tiles,
            uses: &[Hypers, Tiles, Params, Grads, Slot(0), Slot(1), Slot(2)],
        }];
        if used[2] { AMSGRAD } else { PLAIN }
    }

    fn hyper(&self, pace: Pace) -> Hyper {
        Hyper {
            pace,
            moments: Moments::new(self.beta1, self.beta2),
            eps: self.eps as f32,
            weight_decay: self.weight_decay as f32,
            amsgrad: self.amsgrad.into(),
        }
    }

    fn step(h: &Hyper, params: &mut [f32], grads: &[f32], [m, v, n]: Slots<'_>) {
        for (i, (p, grad)) in params.iter_mut().zip(grads).enumerate() {
            let g = h.pace.paced(*grad);
            *p -= h.pace.lr() * h.weight_decay * *p;
            h.moments.update(&mut m[i], &mut v[i], g);
            let mut second = v[i];
            if h.amsgrad == 1 {
                n[i] = n[i].max(v[i]);
                second = n[i];
            }
            *p -= h.pace.lr() * h.pace.correction() * (m[i] / (second.sqrt() * h.pace.root_scale() + h.eps));
        }
    }
}
