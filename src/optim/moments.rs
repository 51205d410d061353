//! The two running moments that Adam, AdamW and LAMB share, and what else Adam and AdamW have in common.

use super::check::{non_negative, rate};
use super::pace::Pace;
use super::rule::{Binding::*, Over, Pass, Used, row};
use crate::error::Error;

row! {
    /// Decay rates with their complements, taken in f64: `1 - 0.999f32` would be off by 1e-5.
    pub struct Moments {
        beta1: f32,
        fresh1: f32,
        beta2: f32,
        fresh2: f32,
    }
}

impl Moments {
    /// Refuses rates outside [0, 1) and a negative eps.
    pub(crate) fn check(beta1: f64, beta2: f64, eps: f64) -> Result<(), Error> {
        rate("beta1", beta1)?;
        rate("beta2", beta2)?;
        non_negative("eps", eps)
    }

    pub(crate) fn new(beta1: f64, beta2: f64) -> Self {
        Self { beta1: beta1 as f32, fresh1: (1.0 - beta1) as f32, beta2: beta2 as f32, fresh2: (1.0 - beta2) as f32 }
    }

    /// `m = beta1 * m + (1 - beta1) * g` and `v = beta2 * v + (1 - beta2) * g^2`.
    pub(crate) fn update(&self, m: &mut f32, v: &mut f32, g: f32) {
        *m = self.beta1 * *m + self.fresh1 * g;
        *v = self.beta2 * *v + self.fresh2 * (g * g);
    }
}

row! {
    /// One tensor's row in `shaders/adam.wgsl` and `shaders/adamw.wgsl`.
    pub struct AdamHyper {
        pace: Pace,
        moments: Moments,
        eps: f32,
        weight_decay: f32,
        amsgrad: u32,
    }
}

impl AdamHyper {
    pub(super) fn new(pace: Pace, [beta1, beta2]: [f64; 2], eps: f64, weight_decay: f64, amsgrad: bool) -> Self {
        let moments = Moments::new(beta1, beta2);
        Self { pace, moments, eps: eps as f32, weight_decay: weight_decay as f32, amsgrad: amsgrad.into() }
    }

    pub(super) fn passes(used: Used) -> &'static [Pass] {
        const PLAIN: &[Pass] = &[Pass {
            entry: "plain",
            over: Over::Tiles,
            uses: &[Hypers, Tiles, Params, Copies, Grads, Slot(0), Slot(1)],
        }];
        const AMSGRAD: &[Pass] = &[Pass {
            entry: "amsgrad",
            over: Over::Tiles,
            uses: &[Hypers, Tiles, Params, Copies, Grads, Slot(0), Slot(1), Slot(2)],
        }];
        if used[2] { AMSGRAD } else { PLAIN }
    }

    /// What changes from step to step.
    pub(super) fn pace(&self) -> &Pace {
        &self.pace
    }

    /// The weight decay of the options.
    pub(super) fn weight_decay(&self) -> f32 {
        self.weight_decay
    }

    /// Updates m, v and, with AMSGrad, n by one gradient value; what is to be taken off the parameter.
    pub(super) fn update(&self, m: &mut f32, v: &mut f32, n: Option<&mut f32>, g: f32) -> f32 {
        self.moments.update(m, v, g);
        let second = match n {
            Some(n) if self.amsgrad == 1 => {
                *n = n.max(*v);
                *n
            }
            _ => *v,
        };
        self.pace.lr() * self.pace.correction() * (*m / (second.sqrt() * self.pace.root_scale() + self.eps))
    }
}
