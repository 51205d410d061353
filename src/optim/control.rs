//! What is decided once a step for all tensors: clipping, skipping, loss scaling.

use super::check::positive;
use super::rule::row;
use crate::error::Error;
use crate::precision::Scaling;
use serde::{Deserialize, Serialize};

/// A bound on gradients, after unscaling. Each is finite and greater than 0.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Clip {
    /// On the norm over all tensors together. As PyTorch's `clip_grad_norm_`: `g * min(1, bound / (norm + 1e-6))`.
    GlobalNorm(f64),
    /// On the norm of each tensor by itself.
    TensorNorm(f64),
    /// On the magnitude of each value. As PyTorch's `clip_grad_value_`.
    Value(f64),
}

/// What a step does with gradients that hold an infinity or NaN.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Nonfinite {
    /// Leaves everything as it is: parameters, slots, step counters and the schedule.
    Skip,
    /// Steps, as PyTorch does. Such values are left out of norms.
    #[default]
    Propagate,
}

/// A loss scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LossScale {
    /// Adapts; a step with an overflow is always skipped.
    Dynamic(Scaling),
    /// Stays.
    Fixed(f32),
}

/// What is decided once a step. Asked for nothing, a step costs no pass of its own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct Control {
    /// Clipping. Default none.
    pub clip: Option<Clip>,
    /// The policy on infinities and NaN. Default to propagate.
    pub nonfinite: Nonfinite,
    /// What the loss was multiplied by. Default nothing.
    pub loss_scale: Option<LossScale>,
    /// A moving average of the parameters. Default none.
    pub ema: Option<Ema>,
    /// The most values that one submission to a device updates, at least 1; a step of more is several, so that a desktop
    /// stays alive beside long steps. Rounded up to blocks of up to 65,536. Default no bound.
    pub values_per_submit: Option<u64>,
    /// How many of the last steps are kept with the norms of every tensor's gradient, update and parameters. It takes a copy
    /// of the parameters, and reading and writing them once more. Default 0.
    pub history: u32,
}

/// An exponential moving average of the parameters, taken after every step: `e = e + (1 - d) * (p - e)`. It begins with
/// the initial parameters. With warm-up `d = min(decay, (1 + t) / (10 + t))` after step t, as in TensorFlow's
/// `ExponentialMovingAverage`; else `d = decay`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct Ema {
    /// In [0, 1). Default 0.999.
    pub decay: f64,
    /// Whether early averages follow faster. Default false.
    pub warmup: bool,
}

impl Default for Ema {
    fn default() -> Self {
        Self { decay: 0.999, warmup: false }
    }
}

impl Ema {
    /// What the step after which `t` are taken adds of the parameters to the averages.
    pub(crate) fn share(&self, t: u64) -> f64 {
        let t = t as f64;
        1.0 - if self.warmup { self.decay.min((1.0 + t) / (10.0 + t)) } else { self.decay }
    }
}

impl Control {
    /// Whether there is nothing to decide on a step.
    pub fn is_none(&self) -> bool {
        Self { ema: None, values_per_submit: None, ..self.clone() } == Self::default()
    }

    /// Refuses bounds and scales out of range.
    ///
    /// # Errors
    /// [`Error::InvalidConfig`] names the option and its value.
    pub fn check(&self) -> Result<(), Error> {
        match self.clip {
            Some(Clip::GlobalNorm(bound)) => positive("clip.globalNorm", bound)?,
            Some(Clip::TensorNorm(bound)) => positive("clip.tensorNorm", bound)?,
            Some(Clip::Value(bound)) => positive("clip.value", bound)?,
            None => {}
        }
        if let Some(ema) = &self.ema {
            super::check::rate("ema.decay", ema.decay)?;
        }
        if self.values_per_submit == Some(0) {
            return Err(Error::invalid("valuesPerSubmit must be at least 1, got 0"));
        }
        self.scaling().check()
    }

    pub(crate) fn scaling(&self) -> Scaling {
        match &self.loss_scale {
            None => Scaling::fixed(1.0),
            Some(LossScale::Fixed(scale)) => Scaling::fixed(*scale),
            Some(LossScale::Dynamic(scaling)) => scaling.clone(),
        }
    }

    /// Whether a step with an infinity or NaN is skipped.
    pub fn skips(&self) -> bool {
        self.nonfinite == Nonfinite::Skip || matches!(self.loss_scale, Some(LossScale::Dynamic(_)))
    }

    /// The settings that `shaders/step/prepare.wgsl` reads.
    pub(crate) fn settings(&self, stride: usize, tensors: usize, groups: usize) -> Settings {
        let (kind, bound) = match self.clip {
            None => (0, 0.0),
            Some(Clip::GlobalNorm(bound)) => (1, bound),
            Some(Clip::TensorNorm(bound)) => (2, bound),
            Some(Clip::Value(bound)) => (3, bound),
        };
        let scaling = self.scaling();
        Settings {
            clip: kind,
            bound: bound as f32,
            skips: self.skips().into(),
            growth_factor: scaling.growth_factor,
            backoff_factor: scaling.backoff_factor,
            growth_interval: scaling.growth_interval,
            lowest: scaling.min,
            highest: scaling.max,
            stride: stride as u32,
            tensors: tensors as u32,
            groups: groups as u32,
            fresh: self.ema.map_or(0.0, |ema| (1.0 - ema.decay) as f32),
            warmup: self.ema.is_some_and(|ema| ema.warmup).into(),
            history: self.history,
        }
    }
}

row! {
    /// The part of a [`Control`] that stays; as in `shaders/step/prepare.wgsl`.
    pub struct Settings {
        clip: u32,
        bound: f32,
        skips: u32,
        growth_factor: f32,
        backoff_factor: f32,
        growth_interval: u32,
        lowest: f32,
        highest: f32,
        stride: u32,
        tensors: u32,
        groups: u32,
        fresh: f32,
        warmup: u32,
        history: u32,
    }
}

row! {
    /// What a device needs to know of a tensor to pace it; as in `shaders/step/prepare.wgsl`.
    pub struct Plan {
        group: u32,
        seeds: u32,
        sign: f32,
        ln_beta1: f32,
        ln_beta2: f32,
        lr_decay: f32,
    }
}

impl Plan {
    pub(super) fn new(group: usize, seeds: bool, maximize: bool, betas: [f64; 2], lr_decay: f64) -> Self {
        // WGSL has no infinity to rely on; e^-1e30 is 0 all the same.
        let ln = |beta: f64| beta.ln().max(-1e30) as f32;
        let sign = if maximize { -1.0 } else { 1.0 };
        let [ln_beta1, ln_beta2] = betas.map(ln);
        Self { group: group as u32, seeds: seeds.into(), sign, ln_beta1, ln_beta2, lr_decay: lr_decay as f32 }
    }
}

/// The last step's gradient of one tensor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GradNorm {
    /// Its norm, unscaled and before clipping; infinities and NaN left out. 0 where the step had no gradient for it.
    pub norm: f64,
    /// Whether it held an infinity or NaN.
    pub nonfinite: bool,
}

/// What a step did to one tensor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Move {
    /// Its gradient.
    pub grad: GradNorm,
    /// Norm of what the step added to the parameters, infinities and NaN left out. 0 for a step that was skipped.
    pub update: f64,
    /// Norm of the parameters after the step, infinities and NaN left out.
    pub param: f64,
}

/// A step that is kept; see [`Control::history`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Record {
    /// Its number, 1 for the first, skipped ones counted.
    pub step: u64,
    /// Whether it was skipped.
    pub skipped: bool,
    /// As in [`Summary`].
    pub grad_norm: f64,
    /// As in [`Summary`].
    pub clip_factor: f64,
    /// The loss scale of its gradients.
    pub loss_scale: f64,
    /// What it did to each tensor, in the ledger's order.
    pub tensors: Vec<Move>,
}

/// How a run stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Steps taken.
    pub step: u64,
    /// Steps skipped.
    pub skipped: u64,
    /// Norm of the last step's gradients over all tensors, unscaled and before clipping; infinities and NaN left out.
    pub grad_norm: f64,
    /// What the last step's gradients were multiplied by to clip their global norm, in (0, 1].
    pub clip_factor: f64,
    /// The loss scale for the next step.
    pub loss_scale: f64,
    /// Whether the last step's gradients held an infinity or NaN.
    pub found_nonfinite: bool,
    /// The last step's gradient of each tensor, in the ledger's order.
    pub tensors: Vec<GradNorm>,
    /// The last steps, the oldest first.
    pub history: Vec<Record>,
}
