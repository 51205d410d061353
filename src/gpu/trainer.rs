//! The straight line: check the lengths, write the gradients, count the step, write the scalars, dispatch.

use super::arena::Arena;
use super::batch::{Batches, Grad, Halves, Standing};
use super::bind::{Dispatch, Plan};
use super::device::Gpu;
use super::encode::Ring;
use super::layout::Home;
use super::residency::Residence;
use super::staging::Staging;
use super::taking::{Grads, Params};
use super::view::{self, View};
use crate::error::Error;
use crate::optim::{Group, Groups, Ledger};

/// Parameters, gradients and slots on a device, stepped by the rule's kernels.
///
/// ```
/// # pollster::block_on(async {
/// use webgpu_optim::{AdamW, Gpu, Trainer};
/// let gpu = Gpu::new().await?;
/// let mut trainer = Trainer::new(&gpu, AdamW { lr: 0.1, ..AdamW::default() }, &[("w", &[1.0, 2.0])])?;
/// trainer.step(&[("w", &[1.0, -1.0])])?;
/// let params = trainer.params().await?;
/// assert!((params["w"][0] - 0.899).abs() < 1e-5); // 1 * (1 - 0.1 * 0.01) - 0.1
/// # Ok::<(), webgpu_optim::Error>(()) })?;
/// # Ok::<(), webgpu_optim::Error>(())
/// ```
#[derive(Debug)]
pub struct Trainer {
    pub(super) gpu: Gpu,
    pub(super) ledger: Ledger,
    pub(super) arena: Arena,
    pub(super) staging: Staging,
    pub(super) rows: Vec<u8>,
    /// Where parameters stand that are not in the arena, and where gradients were taken from last.
    pub(super) own: Vec<Option<View>>,
    pub(super) copies: Vec<Option<Halves>>,
    pub(super) grads: Vec<Grad>,
    pub(super) batches: Batches,
    pub(super) plans: Vec<Plan>,
    pub(super) accumulated: Option<Plan>,
    pub(super) ring: Option<Ring>,
    pub(super) residence: Residence,
}

pub(super) fn record(encoder: &mut wgpu::CommandEncoder, list: &[Dispatch]) {
    let mut pass = encoder.begin_compute_pass(&Default::default());
    for dispatch in list {
        pass.set_pipeline(&dispatch.pipeline);
        pass.set_bind_group(0, &dispatch.bind_group, &[]);
        pass.dispatch_workgroups(dispatch.grid.0, dispatch.grid.1, 1);
    }
}

fn check_views(gpu: &Gpu, params: &[(&str, Params)]) -> Result<(), Error> {
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    let mut views = Vec::new();
    for (name, params) in params {
        if let Params::Own(view) = params {
            views.push(("params", *name, view));
        }
    }
    views.iter().try_for_each(|(what, name, view)| view.check(gpu, what, name, usage))?;
    view::apart(&mut views)?;
    view::probe(gpu, views.iter().map(|(_, _, view)| *view).filter(|view| view.length > 0));
    Ok(())
}

impl Trainer {
    /// Takes a rule (or [`Groups`]) and copies the initial parameters to the device.
    ///
    /// # Errors
    /// As [`Ledger::new`].
    pub fn new(gpu: &Gpu, rule: impl Into<Groups>, params: &[(&str, &[f32])]) -> Result<Self, Error> {
        let lengths: Vec<_> = params.iter().map(|(name, values)| (*name, Params::Zeroed(values.len()))).collect();
        let trainer = Self::placed(gpu, rule, &lengths)?;
        for (tensor, (_, values)) in params.iter().enumerate() {
            trainer.arena.write(gpu, &trainer.arena.params, tensor, values);
        }
        trainer.start_averages();
        Ok(trainer)
    }

    /// As [`Trainer::new`], with parameters of 0 or in buffers of the caller. Others are to be written through
    /// [`Trainer::param_slices`], and [`Trainer::start`] called after that.
    ///
    /// # Errors
    /// As [`Ledger::new`]; [`Error::Unsupported`] for a tensor of 2^32 values or more; [`Error::InvalidConfig`] for a
    /// place outside its buffer, one that overlaps another, and a buffer without `STORAGE | COPY_SRC | COPY_DST`.
    pub fn placed(gpu: &Gpu, rule: impl Into<Groups>, params: &[(&str, Params)]) -> Result<Self, Error> {
        gpu.check()?;
        let tensors: Vec<_> = params.iter().map(|(name, params)| (*name, params.length())).collect();
        let ledger = Ledger::new(rule.into(), &tensors)?;
        if let Some((name, length)) = tensors.iter().find(|(_, length)| u32::try_from(*length).is_err()) {
            return Err(Error::Unsupported {
                what: format!("`{name}` has {length} values; a tensor may have at most {}", u32::MAX),
            });
        }
        check_views(gpu, params)?;
        let home = |tensor: usize| match &params[tensor].1 {
            Params::Own(view) => Home { own: true, half: view.half },
            Params::Halves(_, half) => Home { own: false, half: Some(*half) },
            Params::Zeroed(_) => Home::default(),
        };
        let given = |(tensor, (_, params)): (usize, &(&str, Params))| {
            let view = if let Params::Own(view) = params { Some(view.clone()) } else { None };
            match home(tensor).half {
                None => (view, None),
                Some(half) => (None, Some(Halves { half, own: view })),
            }
        };
        let (own, copies): (Vec<_>, Vec<Option<Halves>>) = params.iter().enumerate().map(given).unzip();
        let arena = Arena::new(gpu, &ledger, home);
        let rows = vec![0; tensors.len() * ledger.entry().hyper_size];
        let grads: Vec<_> = (0..tensors.len()).map(|tensor| Grad::Arena(home(tensor).half)).collect();
        let standing = Standing { arena: &arena, own: &own, copies: &copies, grads: &grads };
        let batches = Batches::new(gpu, &standing, ledger.values_per_submit());
        let all_ours = (0..tensors.len()).all(|tensor| !home(tensor).own);
        let mut trainer = Self {
            gpu: gpu.clone(),
            ledger,
            arena,
            staging: Staging::default(),
            rows,
            grads: if all_ours { grads } else { vec![Grad::Absent; tensors.len()] },
            own,
            copies,
            batches,
            plans: Vec::new(),
            accumulated: None,
            ring: None,
            residence: Residence::Gpu,
        };
        trainer.add_slots();
        if all_ours {
            trainer.plan();
        }
        Ok(trainer)
    }

    /// One step. `grads` holds one value a parameter; tensors without a gradient stay untouched.
    /// Enqueues and returns: nothing waits for the device.
    ///
    /// # Errors
    /// [`Error::UnknownParam`], [`Error::LengthMismatch`], [`Error::InvalidConfig`] for a name given twice: nothing has
    /// changed then. [`Error::Gpu`] and [`Error::DeviceLost`] tell of work before this step.
    pub fn step(&mut self, grads: &[(&str, &[f32])]) -> Result<(), Error> {
        let grads: Vec<_> = grads.iter().map(|(name, values)| (*name, Grads::Values(values))).collect();
        self.step_from(&grads)
    }

    /// As [`Trainer::step`], with gradients wherever they are.
    ///
    /// # Errors
    /// As [`Trainer::step`]; [`Error::InvalidConfig`] for a place outside its buffer, one that overlaps parameters, and a
    /// buffer without `STORAGE`.
    pub fn step_from(&mut self, grads: &[(&str, Grads<'_>)]) -> Result<(), Error> {
        self.ledger.no_window()?;
        let present = self.take(grads)?;
        self.decide_now(Some(&present));
        let plan = self.plan();
        self.submit(&self.plans[plan].step);
        Ok(())
    }

    /// One step with what stands in the gradient buffers, of the tensors in `present` or of all.
    ///
    /// # Errors
    /// [`Error::Gpu`] and [`Error::DeviceLost`], of work before this step.
    pub fn run(&mut self, present: Option<&[usize]>) -> Result<(), Error> {
        self.ledger.no_window()?;
        self.here()?;
        self.take_from_arena(present);
        self.decide_now(present);
        let plan = self.plan();
        self.submit(&self.plans[plan].step);
        Ok(())
    }

    pub(super) fn decide_now(&mut self, present: Option<&[usize]>) {
        let share = self.decide(present);
        self.gpu.queue.write_buffer(&self.arena.hypers, 0, &self.rows);
        if let Some(share) = share {
            self.gpu.queue.write_buffer(&self.arena.share, 0, bytemuck::bytes_of(&share));
        }
    }

    /// Counts the step and fills the scalars of every tensor in it; what comes back is the share of the averages.
    pub(super) fn decide(&mut self, present: Option<&[usize]>) -> Option<f32> {
        if let Some(control) = &self.arena.control {
            control.write_rates(&self.gpu, &self.ledger);
        }
        self.rows.fill(0); // a row of zeros leaves its tensor alone
        let (rows, size) = (&mut self.rows, self.ledger.entry().hyper_size);
        self.ledger.advance(present, |tensor, group, now| {
            group.rule.write_hyper(now, &mut rows[tensor * size..][..size]);
        });
        let ema = self.ledger.ema().ok().filter(|_| self.arena.control.is_none());
        ema.map(|ema| ema.share(self.ledger.steps()) as f32)
    }

    pub(super) fn submit(&self, list: &[Dispatch]) {
        let (most, mut values) = (self.ledger.values_per_submit(), list.first().map_or(0, |first| first.values));
        let together = |_: &Dispatch, next: &Dispatch| {
            values = values.saturating_add(next.values);
            let fits = values <= most;
            values = if fits { values } else { next.values };
            fits
        };
        for list in list.chunk_by(together) {
            let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
            record(&mut encoder, list);
            self.gpu.queue.submit([encoder.finish()]);
        }
    }

    /// Replaces the options of a group from the next step on; see [`Ledger::set`].
    ///
    /// # Errors
    /// As [`Ledger::set`].
    pub fn set(&mut self, index: usize, group: Group) -> Result<(), Error> {
        self.here()?;
        self.ledger.set(index, group)?;
        if let Some(control) = &self.arena.control {
            control.write_plans(&self.gpu, &self.ledger);
            control.write_all_rates(&self.gpu, &self.ledger);
        }
        self.add_slots();
        Ok(())
    }

    /// Replaces a group's learning rate, and with it any schedule.
    ///
    /// # Errors
    /// As [`Ledger::set`].
    pub fn set_lr(&mut self, index: usize, lr: f64) -> Result<(), Error> {
        let group = self.ledger.with_lr(index, lr)?;
        self.set(index, group)
    }

    /// As [`Trainer::set_lr`], for the next step alone: the steps before it that a device may still make up for keep theirs.
    ///
    /// # Errors
    /// As [`Ledger::set`].
    pub fn follow(&mut self, index: usize, lr: f64) -> Result<(), Error> {
        self.here()?;
        let group = self.ledger.with_lr(index, lr)?;
        self.ledger.set(index, group)
    }

    /// Names, groups and counters.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The device.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }
}
