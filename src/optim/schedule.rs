//! Learning-rate schedules: closed forms of the 0-based step, so that a run can resume anywhere.

use super::check::{non_negative, positive};
use crate::error::Error;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// A learning rate as a function of the step. The first step has number 0.
///
/// In JavaScript and JSON a schedule is an object of one key, such as `{ cosine: { peak: 1e-3, total: 5000 } }`.
/// Rates are finite and at least 0, lengths are whole numbers of steps.
///
/// ```
/// use webgpu_optim::Schedule;
/// let schedule = Schedule::Cosine { peak: 1e-3, total: 5000, warmup: 100, start: 0.0, floor: 0.0 };
/// assert_eq!(schedule.at(50), 0.5e-3);
/// assert_eq!(schedule.at(100), 1e-3);
/// assert_eq!(schedule.at(50_000), 0.0);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub enum Schedule {
    /// `lr`, always.
    Constant {
        /// The rate.
        lr: f64,
    },
    /// `from + (to - from) * t / total`, then `to`. As optax's `linear_schedule` and PyTorch's `LinearLR`.
    Linear {
        /// Rate at step 0.
        from: f64,
        /// Rate from step `total` on.
        to: f64,
        /// Steps, at least 1.
        total: u64,
    },
    /// `lr * gamma^floor(t / every)`. As PyTorch's `StepLR`.
    Step {
        /// Rate at step 0.
        lr: f64,
        /// Steps between changes, at least 1.
        every: u64,
        /// Factor of each change, above 0. Default 0.1.
        #[serde(default = "tenth")]
        gamma: f64,
    },
    /// `lr * gamma^n`, where `n` of the steps `at` have been reached. As PyTorch's `MultiStepLR`.
    Multistep {
        /// Rate at step 0.
        lr: f64,
        /// Steps of the changes, ascending.
        at: Vec<u64>,
        /// Factor of each change, above 0. Default 0.1.
        #[serde(default = "tenth")]
        gamma: f64,
    },
    /// `lr * gamma^t`. As PyTorch's `ExponentialLR`.
    Exponential {
        /// Rate at step 0.
        lr: f64,
        /// Factor of each step, above 0.
        gamma: f64,
    },
    /// A straight line from `start` to `peak` over `warmup` steps, half a cosine down to `floor` at step `total`, then
    /// `floor`. As optax's `warmup_cosine_decay_schedule`; without warm-up PyTorch's `CosineAnnealingLR` up to `total`.
    Cosine {
        /// Highest rate.
        peak: f64,
        /// Steps, warm-up included; more than `warmup`.
        total: u64,
        /// Steps of warm-up. Default 0.
        #[serde(default)]
        warmup: u64,
        /// Rate at step 0 when there is a warm-up. Default 0.
        #[serde(default)]
        start: f64,
        /// Rate from step `total` on. Default 0.
        #[serde(default)]
        floor: f64,
    },
    /// Half a cosine from `peak` to `floor` over `period` steps, again and again, each `mult` times as long as the one
    /// before. As PyTorch's `CosineAnnealingWarmRestarts`; Loshchilov and Hutter 2017.
    CosineRestarts {
        /// Rate at each restart.
        peak: f64,
        /// Steps of the first cycle, at least 1.
        period: u64,
        /// Growth of the cycles, a whole number of at least 1. Default 1.
        #[serde(default = "one")]
        mult: u64,
        /// Lowest rate. Default 0.
        #[serde(default)]
        floor: f64,
    },
    /// Up from `peak / div_factor` to `peak`, and down to `peak / div_factor / final_div_factor` at step `total - 1`,
    /// then held. As PyTorch's `OneCycleLR`, which refuses a rise of no length where this begins at the peak;
    /// Smith and Topin 2018.
    OneCycle {
        /// Highest rate.
        peak: f64,
        /// Steps, at least 2.
        total: u64,
        /// Part of the steps that rises, between 0 and 1. Default 0.3.
        #[serde(default = "three_tenths")]
        pct_start: f64,
        /// `peak` over the first rate, above 0. Default 25.
        #[serde(default = "twenty_five")]
        div_factor: f64,
        /// The first rate over the last, above 0. Default 1e4.
        #[serde(default = "ten_thousand")]
        final_div_factor: f64,
        /// Straight lines instead of cosines. Default false.
        #[serde(default)]
        linear: bool,
        /// Down to the first rate, and then on to the last. Default false.
        #[serde(default)]
        three_phase: bool,
    },
    /// `to + (lr - to) * (1 - t / total)^power`, then `to`. As optax's `polynomial_schedule`; PyTorch's `PolynomialLR`
    /// where `to` is 0.
    Polynomial {
        /// Rate at step 0.
        lr: f64,
        /// Rate from step `total` on. Default 0.
        #[serde(default)]
        to: f64,
        /// Steps, at least 1.
        total: u64,
        /// Exponent, above 0. Default 1.
        #[serde(default = "unit")]
        power: f64,
    },
    /// `peak * min((t + 1) / warmup, sqrt(warmup / (t + 1)))`. Vaswani et al. 2017, equation 3, scaled to its peak.
    InverseSqrt {
        /// Rate at the end of the warm-up.
        peak: f64,
        /// Steps of warm-up, at least 1.
        warmup: u64,
    },
    /// One schedule after the other, each counting from its own step 0. As optax's `join_schedules`.
    Sequential {
        /// The schedules, at least one.
        schedules: Vec<Schedule>,
        /// The step at which each but the first begins, ascending.
        boundaries: Vec<u64>,
    },
}

fn tenth() -> f64 {
    0.1
}

fn three_tenths() -> f64 {
    0.3
}

fn twenty_five() -> f64 {
    25.0
}

fn ten_thousand() -> f64 {
    1e4
}

fn unit() -> f64 {
    1.0
}

fn one() -> u64 {
    1
}

/// Half a cosine from `a` at 0 to `b` at 1.
fn half_cosine(a: f64, b: f64, part: f64) -> f64 {
    b + (a - b) * 0.5 * (1.0 + (PI * part).cos())
}

fn line(a: f64, b: f64, part: f64) -> f64 {
    a + (b - a) * part
}

/// `step` as a part of `total`, at most 1.
fn part(step: u64, total: u64) -> f64 {
    (step as f64 / total as f64).min(1.0)
}

/// How far a step is into its cycle, from 0 to 1.
fn restarts(step: u64, period: u64, mult: u64) -> f64 {
    if mult == 1 {
        return part(step % period, period);
    }
    let (mut left, mut length) = (step, period);
    while left >= length {
        left -= length;
        length = length.saturating_mul(mult);
    }
    part(left, length)
}

impl Schedule {
    /// The learning rate at a 0-based step.
    pub fn at(&self, step: u64) -> f64 {
        let t = step;
        match *self {
            Self::Constant { lr } => lr,
            Self::Linear { from, to, total } => line(from, to, part(t, total)),
            Self::Step { lr, every, gamma } => lr * gamma.powf((t / every) as f64),
            Self::Multistep { lr, ref at, gamma } => {
                lr * gamma.powf(at.iter().filter(|reached| **reached <= t).count() as f64)
            }
            Self::Exponential { lr, gamma } => lr * gamma.powf(t as f64),
            Self::Cosine { peak, warmup, start, .. } if t < warmup => line(start, peak, part(t, warmup)),
            Self::Cosine { peak, total, warmup, floor, .. } => {
                half_cosine(peak, floor, part(t - warmup, total.saturating_sub(warmup)))
            }
            Self::CosineRestarts { peak, period, mult, floor } => half_cosine(peak, floor, restarts(t, period, mult)),
            Self::OneCycle { .. } => self.one_cycle(t),
            Self::Polynomial { lr, to, total, power } => to + (lr - to) * (1.0 - part(t, total)).powf(power),
            Self::InverseSqrt { peak, warmup } => {
                let (t, warmup) = (t as f64 + 1.0, warmup as f64);
                peak * (t / warmup).min((warmup / t).sqrt())
            }
            Self::Sequential { ref schedules, ref boundaries } => {
                let place = boundaries.iter().filter(|boundary| **boundary <= t).count();
                let begin = if place == 0 { 0 } else { boundaries[place - 1] };
                schedules[place].at(t - begin)
            }
        }
    }

    /// The ends of the phases lie between steps, as PyTorch has them.
    fn one_cycle(&self, step: u64) -> f64 {
        let Self::OneCycle { peak, total, pct_start, div_factor, final_div_factor, linear, three_phase } = *self else {
            return 0.0;
        };
        let (first, total) = (peak / div_factor, total as f64);
        let (last, end) = (first / final_div_factor, total - 1.0);
        let rise = pct_start * total - 1.0;
        let phases: &[(f64, f64, f64)] = if three_phase {
            &[(rise, first, peak), (2.0 * pct_start * total - 2.0, peak, first), (end, first, last)]
        } else {
            &[(rise, first, peak), (end, peak, last)]
        };
        let (t, mut begin) = ((step as f64).min(end), 0.0);
        for &(until, a, b) in phases {
            if t <= until {
                // A rise of no length is at its peak.
                let part = if until > begin { (t - begin) / (until - begin) } else { 1.0 };
                return if linear { line(a, b, part) } else { half_cosine(a, b, part) };
            }
            begin = until;
        }
        last
    }

    /// Refuses fields out of range.
    ///
    /// # Errors
    /// [`Error::InvalidConfig`] names the field and its value.
    pub fn check(&self) -> Result<(), Error> {
        match self {
            Self::Constant { lr } => non_negative("lr", *lr),
            Self::Linear { from, to, total } => {
                non_negative("from", *from)?;
                non_negative("to", *to)?;
                at_least("total", *total, 1)
            }
            Self::Step { lr, every, gamma } => {
                non_negative("lr", *lr)?;
                at_least("every", *every, 1)?;
                positive("gamma", *gamma)
            }
            Self::Multistep { lr, at, gamma } => {
                non_negative("lr", *lr)?;
                ascending("at", at)?;
                positive("gamma", *gamma)
            }
            Self::Exponential { lr, gamma } => {
                non_negative("lr", *lr)?;
                positive("gamma", *gamma)
            }
            Self::Cosine { peak, total, warmup, start, floor } => {
                non_negative("peak", *peak)?;
                non_negative("start", *start)?;
                non_negative("floor", *floor)?;
                at_least("total", *total, warmup.saturating_add(1))
            }
            Self::CosineRestarts { peak, period, mult, floor } => {
                non_negative("peak", *peak)?;
                non_negative("floor", *floor)?;
                at_least("period", *period, 1)?;
                at_least("mult", *mult, 1)
            }
            Self::OneCycle { peak, total, pct_start, div_factor, final_div_factor, three_phase, .. } => {
                non_negative("peak", *peak)?;
                at_least("total", *total, 2)?;
                positive("divFactor", *div_factor)?;
                positive("finalDivFactor", *final_div_factor)?;
                share("pctStart", *pct_start, if *three_phase { 0.5 } else { 1.0 })
            }
            Self::Polynomial { lr, to, total, power } => {
                non_negative("lr", *lr)?;
                non_negative("to", *to)?;
                at_least("total", *total, 1)?;
                positive("power", *power)
            }
            Self::InverseSqrt { peak, warmup } => {
                non_negative("peak", *peak)?;
                at_least("warmup", *warmup, 1)
            }
            Self::Sequential { schedules, boundaries } => sequence(schedules, boundaries),
        }
    }
}

fn at_least(option: &str, value: u64, least: u64) -> Result<(), Error> {
    if value >= least {
        return Ok(());
    }
    Err(Error::invalid(format!("{option} must be at least {least}, got {value}")))
}

fn share(option: &str, value: f64, most: f64) -> Result<(), Error> {
    if value > 0.0 && value < most {
        return Ok(());
    }
    Err(Error::invalid(format!("{option} must be between 0 and {most}, got {value}")))
}

fn ascending(option: &str, steps: &[u64]) -> Result<(), Error> {
    if steps.is_sorted_by(|a, b| a < b) {
        return Ok(());
    }
    Err(Error::invalid(format!("{option} must ascend, got {steps:?}")))
}

fn sequence(schedules: &[Schedule], boundaries: &[u64]) -> Result<(), Error> {
    if schedules.len() != boundaries.len() + 1 {
        let (schedules, boundaries) = (schedules.len(), boundaries.len());
        let what = format!("boundaries must be one fewer than schedules, got {boundaries} and {schedules}");
        return Err(Error::invalid(what));
    }
    ascending("boundaries", boundaries)?;
    schedules.iter().try_for_each(Schedule::check)
}
