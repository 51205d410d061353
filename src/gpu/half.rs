//! The model's own parameters in 16 bits, beside those in 32 that steps change.

use super::batch::{Batches, Grad, Standing};
use super::pipeline::Shader;
use super::trainer::Trainer;
use crate::error::Error;
use crate::optim::rule::{Binding, Over, Pass};

pub(super) const SHADER: Shader = Shader {
    stem: "half",
    source: concat!(include_str!("../../shaders/shared/grid.wgsl"), include_str!("../../shaders/step/half.wgsl")),
};

pub(super) const FROM_HALVES: Pass =
    Pass { entry: "from_halves", over: Over::Tiles, uses: &[Binding::Tiles, Binding::Params, Binding::Grads] };

pub(super) const TO_HALVES: Pass =
    Pass { entry: "to_halves", over: Over::Tiles, uses: &[Binding::Tiles, Binding::Params, Binding::Copies] };

impl Trainer {
    /// Begins a run of which the parameters were written after [`Trainer::placed`]: those in 32 bits follow those in 16,
    /// and averages begin with them. Of the tensors named, those in 16 bits follow what was written to
    /// [`Trainer::master_slices`] instead.
    ///
    /// # Errors
    /// [`Error::UnknownParam`].
    pub fn start(&self, masters: &[&str]) -> Result<(), Error> {
        let masters = masters.iter().map(|name| self.ledger.index(name)).collect::<Result<Vec<_>, _>>()?;
        let follows = |(tensor, halves): (usize, &Option<_>)| match halves {
            Some(_) if !masters.contains(&tensor) => Grad::Copies,
            _ => Grad::Absent,
        };
        let grads: Vec<_> = self.copies.iter().enumerate().map(follows).collect();
        if grads.contains(&Grad::Copies) {
            let batches = Batches::new(&self.gpu, &Standing { grads: &grads, ..self.standing() }, u64::MAX);
            self.submit(&self.dispatches(SHADER, &[FROM_HALVES], &batches, Binding::Grads));
        }
        if !masters.is_empty() {
            self.round();
        }
        self.start_averages();
        Ok(())
    }

    /// Lets the parameters in 16 bits follow those in 32.
    pub(super) fn round(&self) {
        if self.copies.iter().any(Option::is_some) {
            self.submit(&self.dispatches(SHADER, &[TO_HALVES], &self.batches, Binding::Grads));
        }
    }
}
