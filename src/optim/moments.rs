//! The two running moments that Adam, AdamW and LAMB share.

use super::check::{non_negative, rate};
use super::rule::row;
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
