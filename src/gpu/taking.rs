//! Where a caller's parameters and gradients are, and taking them from there.

use super::batch::Grad;
use super::trainer::Trainer;
use super::view::{self, View};
use crate::error::Error;

/// Where a tensor's parameters are to stand.
#[derive(Debug, Clone)]
pub enum Params {
    /// In a buffer made for them, zeroed: so many values.
    Zeroed(usize),
    /// Where they stand already.
    Own(View),
}

impl Params {
    pub(super) fn length(&self) -> usize {
        match self {
            Self::Zeroed(length) => *length,
            Self::Own(view) => view.length,
        }
    }
}

/// Where a tensor's gradient is.
#[derive(Debug, Clone)]
pub enum Grads<'a> {
    /// In main memory, one value a parameter.
    Values(&'a [f32]),
    /// In a buffer of the caller, which is bound and never written.
    Own(View),
    /// In the gradient buffer of its tensor, where the caller has written it.
    Resident,
}

impl Trainer {
    /// Notes where gradients are, and writes those that are in main memory.
    pub(super) fn take(&mut self, grads: &[(&str, Grads<'_>)]) -> Result<Vec<usize>, Error> {
        let lengths = grads.iter().map(|(name, grads)| {
            let known = || self.ledger.index(name).map_or(0, |tensor| self.ledger.tensors()[tensor].length);
            let length = match grads {
                Grads::Values(values) => values.len(),
                Grads::Own(view) => view.length,
                Grads::Resident => known(),
            };
            (*name, length)
        });
        let present = self.ledger.fit_all(&lengths.collect::<Vec<_>>())?;
        self.check_views(&present, grads)?;
        self.gpu.check()?;
        self.forget_own();
        for (tensor, (_, grads)) in present.iter().zip(grads) {
            self.grads[*tensor] = match grads {
                Grads::Own(view) => Grad::Own(view.clone()),
                Grads::Values(_) | Grads::Resident => Grad::Arena,
            };
            if let Grads::Values(values) = grads {
                self.arena.write_grad(&self.gpu, *tensor, values);
            }
        }
        Ok(present)
    }

    /// Places taken by the last step were checked then.
    fn check_views(&self, present: &[usize], grads: &[(&str, Grads<'_>)]) -> Result<(), Error> {
        for (tensor, (name, grads)) in present.iter().zip(grads) {
            let Grads::Own(view) = grads else { continue };
            if matches!(&self.grads[*tensor], Grad::Own(known) if known == view) {
                continue;
            }
            view.check(&self.gpu, "grads", name, wgpu::BufferUsages::STORAGE)?;
            let beside = self.own.iter().flatten().any(|params| params.buffer == view.buffer);
            if !beside {
                continue;
            }
            if view.buffer.size() > self.gpu.window_capacity() {
                let what = format!("grads of `{name}` stand in a buffer of params that is larger than a binding");
                return Err(Error::Unsupported { what });
            }
            for (tensor, params) in self.ledger.tensors().iter().zip(&self.own) {
                let params = params.iter().filter(|params| params.buffer == view.buffer);
                let mut pair: Vec<_> = params.map(|params| ("params", tensor.name.as_str(), params)).collect();
                pair.push(("grads", name, view));
                view::apart(&mut pair)?;
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
            None => self.grads.fill(Grad::Arena),
            Some(present) => present.iter().for_each(|tensor| self.grads[*tensor] = Grad::Arena),
        }
    }
}
