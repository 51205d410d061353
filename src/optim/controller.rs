//! The control of a run on the CPU: the decisions that `shaders/step/` takes on a device.

use super::control::{Clip, Control, GradNorm, Move, Record, Summary};
use crate::error::Error;
use crate::precision::LossScaler;
use std::collections::VecDeque;

/// The control of a run on the CPU.
#[derive(Debug, Clone)]
pub(super) struct Controller {
    control: Control,
    scaler: LossScaler,
    skipped: u64,
    norms: Vec<GradNorm>,
    grad_norm: f64,
    clip_factor: f64,
    /// The loss scale of the last gradients.
    divisor: f64,
    history: VecDeque<Record>,
}

/// What to do with each tensor of a step.
pub(super) struct Decision {
    pub skip: bool,
    pub factors: Vec<f64>,
    pub limit: f64,
}

/// Norm of the finite values, and whether there are others.
fn norm(grads: &[f32]) -> GradNorm {
    let finite = grads.iter().filter(|grad| grad.is_finite());
    let squares: f64 = finite.map(|grad| f64::from(*grad).powi(2)).sum();
    GradNorm { norm: squares.sqrt(), nonfinite: !LossScaler::all_finite(grads) }
}

fn coefficient(bound: f64, norm: f64) -> f64 {
    (bound / (norm + 1e-6)).min(1.0)
}

impl Controller {
    pub fn new(control: Control, tensors: usize) -> Result<Self, Error> {
        let scaler = LossScaler::new(control.scaling())?;
        let norms = vec![GradNorm::default(); tensors];
        Ok(Self {
            control,
            scaler,
            skipped: 0,
            norms,
            grad_norm: 0.0,
            clip_factor: 1.0,
            divisor: 1.0,
            history: VecDeque::new(),
        })
    }

    /// Decides on a step by its gradients, each with the place of its tensor, and takes note of it.
    pub fn decide<'a>(&mut self, grads: impl ExactSizeIterator<Item = (usize, &'a [f32])>) -> Decision {
        if self.control.is_none() {
            return Decision { skip: false, factors: vec![1.0; grads.len()], limit: 0.0 };
        }
        self.divisor = self.scaler.scale().into();
        let inverse = 1.0 / self.divisor;
        self.norms.fill(GradNorm::default());
        let mut places = Vec::with_capacity(grads.len());
        for (place, grads) in grads {
            let raw = norm(grads);
            self.norms[place] = GradNorm { norm: raw.norm * inverse, ..raw };
            places.push(place);
        }
        self.grad_norm = self.norms.iter().map(|it| it.norm * it.norm).sum::<f64>().sqrt();
        let skip = self.found() && self.control.skips();
        self.skipped += u64::from(skip);
        self.scaler.update(self.found());
        let (mut global, mut limit) = (1.0, 0.0);
        let mut factors: Vec<f64> = vec![inverse; places.len()];
        match self.control.clip {
            Some(Clip::GlobalNorm(bound)) => global = coefficient(bound, self.grad_norm),
            Some(Clip::TensorNorm(bound)) => {
                let norms = places.iter().map(|place| self.norms[*place].norm);
                factors.iter_mut().zip(norms).for_each(|(factor, norm)| *factor *= coefficient(bound, norm));
            }
            Some(Clip::Value(bound)) => limit = bound,
            None => {}
        }
        self.clip_factor = global;
        factors.iter_mut().for_each(|factor| *factor *= global);
        Decision { skip, factors, limit }
    }

    /// Whether steps are kept.
    pub fn keeps(&self) -> bool {
        self.control.history > 0
    }

    /// Takes down the step just decided on: steps taken since, and each tensor's parameters before and after.
    pub fn record<'a>(&mut self, taken: u64, skipped: bool, tensors: impl Iterator<Item = [&'a [f32]; 2]>) {
        let of = |(grad, [before, after]): (&GradNorm, [&[f32]; 2])| {
            let update: Vec<f32> = before.iter().zip(after).map(|(before, after)| after - before).collect();
            Move { grad: *grad, update: norm(&update).norm, param: norm(after).norm }
        };
        let tensors = self.norms.iter().zip(tensors).map(of).collect();
        let (grad_norm, clip_factor, loss_scale) = (self.grad_norm, self.clip_factor, self.divisor);
        let step = taken + self.skipped;
        self.history.push_back(Record { step, skipped, grad_norm, clip_factor, loss_scale, tensors });
        while self.history.len() > self.control.history as usize {
            self.history.pop_front();
        }
    }

    fn found(&self) -> bool {
        self.norms.iter().any(|it| it.nonfinite)
    }

    pub fn summary(&self, step: u64) -> Option<Summary> {
        (!self.control.is_none()).then(|| Summary {
            step,
            skipped: self.skipped,
            grad_norm: self.grad_norm,
            clip_factor: self.clip_factor,
            loss_scale: self.scaler.scale().into(),
            found_nonfinite: self.found(),
            tensors: self.norms.clone(),
            history: self.history.iter().cloned().collect(),
        })
    }
}
