//! The loss scaler: keeps small gradients above the smallest half-precision number.

use crate::error::Error;
use serde::{Deserialize, Serialize};

/// How a loss scale adapts. As PyTorch's `torch.amp.GradScaler`, with a lower and an upper limit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct Scaling {
    /// The scale to begin with, between `min` and `max`. Default 65,536.
    pub init: f32,
    /// What the scale grows by, at least 1. Default 2.
    pub growth_factor: f32,
    /// What the scale is multiplied by on overflow, in (0, 1]. Default 0.5.
    pub backoff_factor: f32,
    /// Steps without overflow before it grows, at least 1. Default 2,000.
    pub growth_interval: u32,
    /// The lowest scale, above 0. Default 1.
    pub min: f32,
    /// The highest scale. Default 8,388,608.
    pub max: f32,
}

impl Default for Scaling {
    fn default() -> Self {
        Self {
            init: 65_536.0,
            growth_factor: 2.0,
            backoff_factor: 0.5,
            growth_interval: 2000,
            min: 1.0,
            max: 65_536.0 * 128.0,
        }
    }
}

impl Scaling {
    /// A scale that never changes.
    pub fn fixed(scale: f32) -> Self {
        Self { init: scale, growth_factor: 1.0, backoff_factor: 1.0, min: scale, max: scale, ..Self::default() }
    }

    /// Refuses fields out of range.
    ///
    /// # Errors
    /// [`Error::InvalidConfig`] names the field and its value.
    pub fn check(&self) -> Result<(), Error> {
        let ensure = |ok: bool, field: &str, range: &str, value: f32| {
            let refusal = || Error::invalid(format!("lossScale: {field} must be {range}, got {value}"));
            if ok { Ok(()) } else { Err(refusal()) }
        };
        ensure(self.min > 0.0 && self.min.is_finite(), "min", "finite and greater than 0", self.min)?;
        ensure(self.max >= self.min && self.max.is_finite(), "max", "finite and at least min", self.max)?;
        ensure((self.min..=self.max).contains(&self.init), "init", "between min and max", self.init)?;
        ensure(
            self.growth_factor >= 1.0 && self.growth_factor.is_finite(),
            "growthFactor",
            "at least 1",
            self.growth_factor,
        )?;
        let backoff = self.backoff_factor;
        ensure(backoff > 0.0 && backoff <= 1.0, "backoffFactor", "above 0 and at most 1", backoff)?;
        ensure(self.growth_interval > 0, "growthInterval", "at least 1", 0.0)
    }
}

/// A loss scale and how it came about. Unscaling, checking and updating are three calls: a step of many tensors
/// updates once.
///
/// ```
/// use webgpu_optim::{LossScaler, Scaling};
/// let mut scaler = LossScaler::new(Scaling { growth_interval: 2, ..Scaling::default() })?;
/// let mut grads = [65_536.0, f32::INFINITY];
/// assert!(!LossScaler::all_finite(&grads));
/// scaler.unscale(&mut grads);
/// assert_eq!(grads[0], 1.0);
/// scaler.update(true);
/// assert_eq!(scaler.scale(), 32_768.0);
/// scaler.update(false);
/// scaler.update(false);
/// assert_eq!(scaler.scale(), 65_536.0);
/// # Ok::<(), webgpu_optim::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LossScaler {
    scaling: Scaling,
    scale: f32,
    good: u32,
}

impl LossScaler {
    /// Begins with the initial scale.
    ///
    /// # Errors
    /// As [`Scaling::check`].
    pub fn new(scaling: Scaling) -> Result<Self, Error> {
        scaling.check()?;
        Ok(Self { scale: scaling.init, scaling, good: 0 })
    }

    /// Goes on with a scale that so many steps without overflow came before.
    pub(crate) fn resumed(scaling: Scaling, scale: f32, good: u32) -> Self {
        Self { scaling, scale, good }
    }

    /// Steps without overflow since the scale last changed.
    pub(crate) fn good(&self) -> u32 {
        self.good
    }

    /// What the loss is to be multiplied by.
    pub fn scale(&self) -> f32 {
        self.scale
    }

    /// How it adapts.
    pub fn scaling(&self) -> &Scaling {
        &self.scaling
    }

    /// Divides gradients of the scaled loss by the scale, in place.
    pub fn unscale(&self, grads: &mut [f32]) {
        let inverse = 1.0 / self.scale;
        grads.iter_mut().for_each(|grad| *grad *= inverse);
    }

    /// Whether no value is infinite or NaN.
    pub fn all_finite(grads: &[f32]) -> bool {
        grads.iter().all(|grad| grad.is_finite())
    }

    /// Takes note of one step: an overflow lowers the scale, enough steps without one raise it.
    pub fn update(&mut self, overflow: bool) {
        let Scaling { growth_factor, backoff_factor, growth_interval, min, max, .. } = self.scaling;
        if overflow {
            self.scale = (self.scale * backoff_factor).max(min);
            self.good = 0;
            return;
        }
        self.good += 1;
        if self.good == growth_interval {
            self.scale = (self.scale * growth_factor).min(max);
            self.good = 0;
        }
    }
}
