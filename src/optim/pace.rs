//! What a step decides for one tensor.

use super::rule::{Now, Rule, row};

row! {
    /// The head of every rule's row: what changes from step to step. As in `shaders/shared/pace.wgsl`.
    pub struct Pace {
        live: u32,
        first: u32,
        factor: f32,
        unit: f32,
        limit: f32,
        lr: f32,
        correction: f32,
        root_scale: f32,
    }
}

/// 2^-64: devices may flush subnormal factors to 0.
const SMALL_UNIT: f64 = 1.0 / (1u128 << 64) as f64;

/// `1 - beta^t` without cancellation.
fn bias_correction(beta: f64, t: u64) -> f64 {
    -(t as f64 * beta.ln()).exp_m1()
}

impl Pace {
    /// Scalars prepared in f64 and rounded once.
    pub(super) fn new<R: Rule>(rule: &R, now: &Now) -> Self {
        let [beta1, beta2] = rule.betas();
        let sign = if rule.maximize() { -1.0 } else { 1.0 };
        let unit = if now.factor < 1e-30 { SMALL_UNIT } else { 1.0 };
        Self {
            live: 1,
            first: (!now.seeded).into(),
            factor: (sign * now.factor / unit) as f32,
            unit: unit as f32,
            limit: now.limit as f32,
            lr: (now.lr / (1.0 + (now.t.max(1) - 1) as f64 * rule.lr_decay())) as f32,
            correction: (1.0 / bias_correction(beta1, now.t)) as f32,
            root_scale: (1.0 / bias_correction(beta2, now.t).sqrt()) as f32,
        }
    }

    pub(super) fn is_first(&self) -> bool {
        self.first == 1
    }

    pub(super) fn lr(&self) -> f32 {
        self.lr
    }

    pub(super) fn correction(&self) -> f32 {
        self.correction
    }

    pub(super) fn root_scale(&self) -> f32 {
        self.root_scale
    }

    /// A gradient value with sign, unscaling and clipping applied; NaN compares false, and so is kept.
    pub(super) fn paced(&self, grad: f32) -> f32 {
        let g = self.factor * (self.unit * grad);
        if self.limit > 0.0 && g.abs() > self.limit { g.signum() * self.limit } else { g }
    }
}
