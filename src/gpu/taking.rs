//! Where a caller's parameters and gradients are, and taking them from there.

use super::batch::Grad;
use super::trainer::Trainer;
use super::view::{self, View};
use crate::error::Error;
use crate::precision::Half;

/// Where a tensor's parameters are to stand.
#[derive(Debug, Clone)]
pub enum Params {
    /// In a buffer made for them, zeroed: so many values.
    Zeroed(usize),
    /// In a buffer made for them, in 16 bits: so many values. Steps change others in 32 bits, which those follow.
    Halves(usize, Half),
    /// Where they stand already. Of those in 16 bits, steps change a copy in 32, which those follow.
    Own(View),
}

impl Params {
    pub(super) fn length(&self) -> usize {
        match self {
            Self::Zeroed(length) | Self::Halves(length, _) => *length,
            Self::Own(view) => view.length,
        }
    }
}

/// Where a tensor's gradient is.
#[derive(Debug, Clone)]
pub enum Grads<'a> {
    /// In main memory, one value a parameter.
    Values(&'a [f32]),
    /// In main memory, in 16 bits.
    Halves(&'a [u16], Half),
    /// In a buffer of the caller, which is bound and never written.
    Own(View),
    /// In the gradient buffer of its tensor, where the caller has written it: in the model's own format, or in another.
    Resident,
    /// In the gradient buffer of its tensor, in 32 bits or in a format of 16.
    Written(Option<Half>),
}

impl Trainer {
    /// Notes where gradients are, and writes those that are in main memory.
    pub(super) fn take(&mut self, grads: &[(&str, Grads<'_>)]) -> Result<Vec<usize>, Error> {
        let lengths = grads.iter().map(|(name, grads)| {
            let known = || self.ledger.index(name).map_or(0, |tensor| self.ledger.tensors()[tensor].length);
            let length = match grads {
                Grads::Values(values) => values.len(),
                Grads::Halves(halves, _) => halves.len(),
                Grads::Own(view) => view.length,
                Grads::Resident | Grads::Written(_) => known(),
            };
            (*name, length)
        });
        let present = self.ledger.fit_all(&lengths.collect::<Vec<_>>())?;
        self.check_views(&present, grads)?;
        self.here()?;
        self.forget_own();
        for (tensor, (_, grads)) in present.iter().zip(grads) {
            self.grads[*tensor] = match grads {
                Grads::Own(view) => Grad::Own(view.clone()),
                Grads::Resident => self.resident(*tensor),
                Grads::Values(_) => Grad::Arena(None),
                Grads::Halves(_, half) => Grad::Arena(Some(*half)),
                Grads::Written(half) => Grad::Arena(*half),
            };
            match grads {
                Grads::Values(values) => self.arena.write_grad(&self.gpu, *tensor, values),
                Grads::Halves(halves, _) => self.arena.write_grad(&self.gpu, *tensor, halves),
                Grads::Own(_) | Grads::Resident | Grads::Written(_) => {}
            }
        }
        Ok(present)
    }

    /// The model's parameters in buffers of the caller, by tensor.
    pub(super) fn model(&self) -> impl Iterator<Item = (usize, &View)> {
        let halves = self.copies.iter().map(|halves| halves.as_ref()?.own.as_ref());
        let either = self.own.iter().zip(halves).map(|(own, halves)| own.as_ref().or(halves));
        either.enumerate().filter_map(|(tensor, view)| Some((tensor, view?)))
    }

    /// Places taken by the last step were checked then.
    fn check_views(&self, present: &[usize], grads: &[(&str, Grads<'_>)]) -> Result<(), Error> {
        for (tensor, (name, grads)) in present.iter().zip(grads) {
            let Grads::Own(view) = grads else { continue };
            if matches!(&self.grads[*tensor], Grad::Own(known) if known == view) {
                continue;
            }
            view.check(&self.gpu, "grads", name, wgpu::BufferUsages::STORAGE)?;
            let beside = self.model().any(|(_, params)| params.buffer == view.buffer);
            if !beside {
                continue;
            }
            if view.buffer.size() > self.gpu.window_capacity() {
                let what = format!("grads of `{name}` stand in a buffer of params that is larger than a binding");
                return Err(Error::Unsupported { what });
            }
            for (tensor, params) in self.model().filter(|(_, params)| params.buffer == view.buffer) {
                let other = self.ledger.tensors()[tensor].name.as_str();
                view::apart(&mut [("params", other, params), ("grads", name, view)])?;
            }
        }
        Ok(())
    }

    /// A buffer of the caller is not asked for again once a step came without it: it may be gone.
    fn forget_own(&mut self) {
        self.grads.iter_mut().filter(|grad| matches!(grad, Grad::Own(_))).for_each(|grad| *grad = Grad::Absent);
    }

    /// Lets the gradients of the tensors in `present`, or of all, be those in the gradient buffers.
    pub(super) fn take_from_arena(&mut self, present: Option<&[usize]>) {
        self.forget_own();
        match present {
            None => (0..self.grads.len()).for_each(|tensor| self.grads[tensor] = self.resident(tensor)),
            Some(present) => present.iter().for_each(|tensor| self.grads[*tensor] = self.resident(*tensor)),
        }
    }
}
