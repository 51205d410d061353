//! Accumulating gradients on the device: a weighted mean over micro-batches.

use super::pipeline::Shader;
use super::taking::Grads;
use super::trainer::Trainer;
use crate::error::Error;
use crate::optim::rule::{Binding, Over, Pass};

pub(super) const SHADER: Shader = Shader {
    stem: "accumulate",
    source: concat!(include_str!("../../shaders/shared/grid.wgsl"), include_str!("../../shaders/step/accumulate.wgsl"),),
};

pub(super) const PASSES: &[Pass] = &[Pass {
    entry: "accumulate",
    over: Over::Tiles,
    uses: &[Binding::Tiles, Binding::Grads, Binding::Shares, Binding::Means],
}];

impl Trainer {
    /// Adds the gradients of a micro-batch to the weighted mean that [`Trainer::step_accumulated`] takes. A weight is a
    /// number of samples or tokens; 0 adds nothing. The first call makes a buffer of the parameters' size.
    ///
    /// # Errors
    /// As [`Trainer::step`]; [`Error::InvalidConfig`] for a weight that is negative or not finite.
    pub fn accumulate(&mut self, grads: &[(&str, &[f32])], weight: f64) -> Result<(), Error> {
        let grads: Vec<_> = grads.iter().map(|(name, values)| (*name, Grads::Values(values))).collect();
        self.accumulate_from(&grads, weight)
    }

    /// As [`Trainer::accumulate`], with gradients wherever they are.
    ///
    /// # Errors
    /// As [`Trainer::step_from`]; [`Error::InvalidConfig`] for a weight that is negative or not finite.
    pub fn accumulate_from(&mut self, grads: &[(&str, Grads<'_>)], weight: f64) -> Result<(), Error> {
        self.ledger.check_weight(weight)?;
        let present = self.take(grads)?;
        self.add(Some(&present), weight)
    }

    /// As [`Trainer::accumulate`], with what stands in the gradient buffers of the tensors in `present` or of all.
    ///
    /// # Errors
    /// As [`Trainer::accumulate`].
    pub fn accumulate_resident(&mut self, present: Option<&[usize]>, weight: f64) -> Result<(), Error> {
        self.here()?;
        self.ledger.check_weight(weight)?;
        self.take_from_arena(present);
        self.add(present, weight)
    }

    fn add(&mut self, present: Option<&[usize]>, weight: f64) -> Result<(), Error> {
        let shares: Vec<f32> = self.ledger.weigh(present, weight)?.into_iter().map(|share| share as f32).collect();
        let plan = self.plan_accumulation();
        self.gpu.queue.write_buffer(&self.arena.shares, 0, bytemuck::cast_slice(&shares));
        self.submit(&self.plans[plan].accumulate);
        Ok(())
    }

    /// One step with the weighted mean of the gradients accumulated since the last.
    ///
    /// # Errors
    /// [`Error::InvalidConfig`] when there are none; as [`Trainer::run`].
    pub fn step_accumulated(&mut self) -> Result<(), Error> {
        self.ledger.not_swapped()?;
        self.here()?;
        let waiting = self.ledger.close_window();
        if waiting.is_empty() {
            return Err(Error::invalid("no gradients were accumulated"));
        }
        self.decide_now(Some(&waiting));
        self.plan_accumulation();
        self.submit(self.accumulated.as_ref().map_or(&[], |plan| &plan.step));
        Ok(())
    }
}
