//! The control of a run on the CPU: the decisions that `shaders/step/` takes on a device.

use super::control::{Clip, Control, GradNorm, Move, Record, Summary};
use crate::precision::LossScaler;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// What the control of a run knows between steps: its loss scale, and what there is to tell of the last steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Progress {
    /// Of 32 bits.
    pub(crate) scale: f64,
    /// Steps without overflow since the scale last changed.
    pub(crate) good: u32,
    pub(crate) norms: Vec<GradNorm>,
    pub(crate) grad_norm: f64,
    pub(crate) clip_factor: f64,
    /// The loss scale of the last gradients.
    pub(crate) divisor: f64,
    pub(crate) history: VecDeque<Record>,
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
    // A sum of nothing is -0.
    let squares = 0.0 + finite.map(|grad| f64::from(*grad).powi(2)).sum::<f64>();
    GradNorm { norm: squares.sqrt(), nonfinite: !LossScaler::all_finite(grads) }
}

fn coefficient(bound: f64, norm: f64) -> f64 {
    (bound / (norm + 1e-6)).min(1.0)
}

impl Progress {
    pub(crate) fn new(control: &Control, tensors: usize) -> Self {
        let (scale, norms) = (control.scaling().init.into(), vec![GradNorm::default(); tensors]);
        Self { scale, good: 0, norms, grad_norm: 0.0, clip_factor: 1.0, divisor: 1.0, history: VecDeque::new() }
    }

    /// Decides on a step by its gradients, each with the place of its tensor, and takes note of it.
    pub(super) fn decide<'a>(
        &mut self,
        control: &Control,
        grads: impl ExactSizeIterator<Item = (usize, &'a [f32])>,
    ) -> Decision {
        if control.is_none() {
            return Decision { skip: false, factors: vec![1.0; grads.len()], limit: 0.0 };
        }
        self.divisor = self.scale;
        let inverse = 1.0 / self.divisor;
        self.norms.fill(GradNorm::default());
        let mut places = Vec::with_capacity(grads.len());
        for (place, grads) in grads {
            let raw = norm(grads);
            self.norms[place] = GradNorm { norm: raw.norm * inverse, ..raw };
            places.push(place);
        }
        self.grad_norm = self.norms.iter().map(|it| it.norm * it.norm).sum::<f64>().sqrt();
        let skip = self.found() && control.skips();
        self.rescale(control);
        let (mut global, mut limit) = (1.0, 0.0);
        let mut factors: Vec<f64> = vec![inverse; places.len()];
        match control.clip {
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

    fn rescale(&mut self, control: &Control) {
        let mut scaler = LossScaler::resumed(control.scaling(), self.scale as f32, self.good);
        scaler.update(self.found());
        (self.scale, self.good) = (scaler.scale().into(), scaler.good());
    }

    /// Takes down the step just decided on, the last of `keep`: its number, and each tensor's parameters before and after.
    pub(super) fn record<'a>(
        &mut self,
        keep: u32,
        step: u64,
        skipped: bool,
        tensors: impl Iterator<Item = [&'a [f32]; 2]>,
    ) {
        let of = |(grad, [before, after]): (&GradNorm, [&[f32]; 2])| {
            let update: Vec<f32> = before.iter().zip(after).map(|(before, after)| after - before).collect();
            Move { grad: *grad, update: norm(&update).norm, param: norm(after).norm }
        };
        let tensors = self.norms.iter().zip(tensors).map(of).collect();
        let (grad_norm, clip_factor, loss_scale) = (self.grad_norm, self.clip_factor, self.divisor);
        self.history.push_back(Record { step, skipped, grad_norm, clip_factor, loss_scale, tensors });
        self.keep(keep);
    }

    /// Forgets all but the last steps.
    pub(crate) fn keep(&mut self, steps: u32) {
        while self.history.len() > steps as usize {
            self.history.pop_front();
        }
    }

    /// Whether the last gradients held an infinity or NaN.
    pub(crate) fn found(&self) -> bool {
        self.norms.iter().any(|it| it.nonfinite)
    }

    pub(crate) fn summary(&self, control: &Control, step: u64, skipped: u64) -> Option<Summary> {
        (!control.is_none()).then(|| Summary {
            step,
            skipped,
            grad_norm: self.grad_norm,
            clip_factor: self.clip_factor,
            loss_scale: self.scale,
            found_nonfinite: self.found(),
            tensors: self.norms.clone(),
            history: self.history.iter().cloned().collect(),
        })
    }

    /// With the tensors in another order: the place of each in this one, none for one that is not here.
    pub(crate) fn arranged(self, places: &[Option<usize>]) -> Self {
        let norms = places.iter().map(|place| place.map_or(GradNorm::default(), |place| self.norms[place])).collect();
        let record = |it: Record| {
            let tensors = places.iter().map(|place| place.map_or(Move::default(), |place| it.tensors[place]));
            Record { tensors: tensors.collect(), ..it }
        };
        Self { norms, history: self.history.into_iter().map(record).collect(), ..self }
    }
}
