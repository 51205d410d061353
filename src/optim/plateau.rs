//! The one schedule that remembers: lower the rate when a metric stops improving.

use super::check::{non_negative, positive};
use crate::error::Error;
use serde::{Deserialize, Serialize};

/// Lowers the learning rate when a metric has stopped improving. As PyTorch's `ReduceLROnPlateau`.
///
/// ```
/// use webgpu_optim::ReduceOnPlateau;
/// let mut plateau = ReduceOnPlateau { lr: 0.1, patience: 1, ..ReduceOnPlateau::default() };
/// let lrs: Vec<f64> = [1.0, 1.0, 1.0].into_iter().map(|loss| plateau.observe(loss)).collect();
/// assert_eq!(lrs[..2], [0.1, 0.1]);
/// assert!((lrs[2] - 0.01).abs() < 1e-12); // more than one observation without improvement
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct ReduceOnPlateau {
    /// The learning rate in force, at least 0. Default 1e-3.
    pub lr: f64,
    /// What the rate is multiplied by, in (0, 1). Default 0.1.
    pub factor: f64,
    /// Observations without improvement that are borne. Default 10.
    pub patience: u64,
    /// What counts as an improvement, at least 0. Default 1e-4.
    pub threshold: f64,
    /// Whether `threshold` is a part of the best metric, or an amount. Default true.
    pub relative: bool,
    /// Whether the metric should grow. Default false.
    pub max: bool,
    /// Observations after a reduction that do not count. Default 0.
    pub cooldown: u64,
    /// The lowest rate, at least 0. Default 0.
    pub min_lr: f64,
    /// A reduction by no more than this is not made, at least 0. Default 1e-8.
    pub eps: f64,
    /// The best metric so far.
    pub best: Option<f64>,
    /// Observations without improvement.
    pub bad: u64,
    /// Observations that still do not count.
    pub cooling: u64,
}

impl Default for ReduceOnPlateau {
    fn default() -> Self {
        Self {
            lr: 1e-3,
            factor: 0.1,
            patience: 10,
            threshold: 1e-4,
            relative: true,
            max: false,
            cooldown: 0,
            min_lr: 0.0,
            eps: 1e-8,
            best: None,
            bad: 0,
            cooling: 0,
        }
    }
}

impl ReduceOnPlateau {
    /// Refuses fields out of range.
    ///
    /// # Errors
    /// [`Error::InvalidConfig`] names the field and its value.
    pub fn check(&self) -> Result<(), Error> {
        non_negative("lr", self.lr)?;
        positive("factor", self.factor)?;
        non_negative("threshold", self.threshold)?;
        non_negative("minLr", self.min_lr)?;
        non_negative("eps", self.eps)?;
        if self.factor >= 1.0 {
            return Err(Error::invalid(format!("factor must be less than 1, got {}", self.factor)));
        }
        Ok(())
    }

    fn improves(&self, metric: f64) -> bool {
        // Before the first improvement the worst there is stands for the best, as in PyTorch.
        let Some(best) = self.best else {
            return if self.max { metric > f64::NEG_INFINITY } else { metric < f64::INFINITY };
        };
        let gain = if self.relative { self.threshold * best } else { self.threshold };
        if self.max { metric > best + gain } else { metric < best - gain }
    }

    /// Takes a metric in and gives the learning rate from now on.
    pub fn observe(&mut self, metric: f64) -> f64 {
        if self.improves(metric) {
            self.best = Some(metric);
            self.bad = 0;
        } else {
            self.bad += 1;
        }
        if self.cooling > 0 {
            self.cooling -= 1;
            self.bad = 0;
        }
        if self.bad > self.patience {
            let lower = (self.lr * self.factor).max(self.min_lr);
            if self.lr - lower > self.eps {
                self.lr = lower;
            }
            self.cooling = self.cooldown;
            self.bad = 0;
        }
        self.lr
    }
}
