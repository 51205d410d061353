//! What is read back from the device, as of the call and whatever steps follow.

use super::control;
use super::staging::Source;
use super::trainer::Trainer;
use super::view::View;
use crate::error::Error;
use crate::optim::rule::Binding;
use crate::optim::{HostState, Summary};
use std::collections::HashMap;

impl Trainer {
    /// The parameters by name, as of the call, whatever steps follow. One readback.
    ///
    /// # Errors
    /// The future yields [`Error::Gpu`] or [`Error::DeviceLost`].
    pub fn params(&self) -> impl Future<Output = Result<HashMap<String, Vec<f32>>, Error>> + use<> {
        self.read(Binding::Params)
    }

    /// One slot of every tensor, by PyTorch's name for it, as of the call.
    ///
    /// # Errors
    /// [`Error::InvalidConfig`] when these options have no such slot; the future as [`Trainer::params`].
    pub fn slot(
        &self,
        slot: &str,
    ) -> Result<impl Future<Output = Result<HashMap<String, Vec<f32>>, Error>> + use<>, Error> {
        Ok(self.read(Binding::Slot(self.ledger.slot(slot)?)))
    }

    /// How the run stands as of the call: steps taken and skipped, norm and clipping of the last step, loss scale.
    /// Only a run with a [`Control`](crate::Control) has it on the device.
    ///
    /// # Errors
    /// The future as [`Trainer::params`].
    pub fn summary(&self) -> impl Future<Output = Result<Option<Summary>, Error>> + use<> {
        let (control, tensors) = (self.ledger.control().clone(), self.ledger.tensors().len());
        let parked = self.parked().map(HostState::summary);
        let buffers = self.arena.control.iter().flat_map(|it| [&it.standing, &it.norms, &it.records]);
        let buffers = buffers.filter(|_| parked.is_none());
        let reading = self.staging.read(&self.gpu, &buffers.map(Source::whole).collect::<Vec<_>>());
        async move {
            match parked {
                Some(summary) => Ok(summary),
                None => Ok(control::summary(&reading.await?, &control, tensors)),
            }
        }
    }

    /// Reads one of the sets of windows.
    pub(super) fn read(&self, set: Binding) -> impl Future<Output = Result<HashMap<String, Vec<f32>>, Error>> + use<> {
        let own: &[Option<View>] = if set == Binding::Params { &self.own } else { &[] };
        let parked = self.parked().map(|state| state.named(set));
        let mut sources: Vec<_> = self.arena.set(set).iter().map(Source::whole).collect();
        let mut place = |(index, tensor): (usize, &crate::optim::Tensor)| {
            let parts = match own.get(index) {
                Some(Some(view)) => {
                    sources.push(Source::new(&view.buffer, view.offset, view.length as u64 * 4));
                    vec![(sources.len() - 1, 0..view.length)]
                }
                _ => {
                    let pieces = self.arena.layout.pieces(index).iter();
                    pieces.map(|piece| (piece.window, piece.at..piece.at + piece.values.len())).collect()
                }
            };
            (tensor.name.clone(), parts)
        };
        let places: Vec<_> = self.ledger.tensors().iter().enumerate().map(&mut place).collect();
        let reading = self.staging.read(&self.gpu, if parked.is_some() { &[] } else { &sources });
        async move {
            if let Some(values) = parked {
                return Ok(values);
            }
            let values = reading.await?;
            let gather = |parts: Vec<(usize, std::ops::Range<usize>)>| {
                parts.into_iter().flat_map(|(source, range)| &values[source][range]).copied().collect()
            };
            Ok(places.into_iter().map(|(name, parts)| (name, gather(parts))).collect())
        }
    }
}
