//! The straight line: check the lengths, write the gradients, count the step, write the scalars, dispatch.

use super::arena::{Arena, Windows};
use super::bind::{ACCUMULATE, Dispatch, STEP, STEP_ACCUMULATED};
use super::control;
use super::device::Gpu;
use super::staging::Staging;
use crate::error::Error;
use crate::optim::{Group, Groups, Ledger, Summary};
use std::collections::HashMap;

/// Where a tensor's values stand on the device. Starts on a 256-byte boundary.
#[derive(Debug, Clone)]
pub struct Slice {
    /// The buffer.
    pub buffer: wgpu::Buffer,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
}

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
    staging: Staging,
    rows: Vec<u8>,
    /// The step of the gradients in the gradient buffers, that of accumulated ones, and the accumulation.
    pub(super) dispatches: [Vec<Dispatch>; 3],
}

impl Trainer {
    /// Takes a rule (or [`Groups`]) and copies the initial parameters to the device.
    ///
    /// # Errors
    /// As [`Ledger::new`].
    pub fn new(gpu: &Gpu, rule: impl Into<Groups>, params: &[(&str, &[f32])]) -> Result<Self, Error> {
        let lengths: Vec<_> = params.iter().map(|(name, values)| (*name, values.len())).collect();
        let trainer = Self::zeroed(gpu, rule, &lengths)?;
        for (tensor, (_, values)) in params.iter().enumerate() {
            trainer.arena.write(gpu, &trainer.arena.params, tensor, values);
        }
        trainer.start_averages();
        Ok(trainer)
    }

    /// As [`Trainer::new`], with parameters of 0: the caller writes them through [`Trainer::param_slices`].
    ///
    /// # Errors
    /// As [`Ledger::new`]; [`Error::Unsupported`] for a tensor of 2^32 values or more.
    pub fn zeroed(gpu: &Gpu, rule: impl Into<Groups>, tensors: &[(&str, usize)]) -> Result<Self, Error> {
        gpu.check()?;
        let ledger = Ledger::new(rule.into(), tensors)?;
        if let Some((name, length)) = tensors.iter().find(|(_, length)| u32::try_from(*length).is_err()) {
            return Err(Error::Unsupported {
                what: format!("`{name}` has {length} values; a tensor may have at most {}", u32::MAX),
            });
        }
        let arena = Arena::new(gpu, &ledger);
        let rows = vec![0; tensors.len() * ledger.entry().hyper_size];
        let mut trainer =
            Self { gpu: gpu.clone(), ledger, arena, staging: Staging::default(), rows, dispatches: Default::default() };
        trainer.bind();
        Ok(trainer)
    }

    /// One step. `grads` holds one value a parameter; tensors without a gradient stay untouched.
    /// Enqueues and returns: nothing waits for the device.
    ///
    /// # Errors
    /// [`Error::UnknownParam`], [`Error::LengthMismatch`], [`Error::InvalidConfig`] for a name given twice: nothing has
    /// changed then. [`Error::Gpu`] and [`Error::DeviceLost`] tell of work before this step.
    pub fn step(&mut self, grads: &[(&str, &[f32])]) -> Result<(), Error> {
        self.ledger.no_window()?;
        let present = self.write_grads(grads)?;
        self.run(Some(&present))
    }

    fn write_grads(&self, grads: &[(&str, &[f32])]) -> Result<Vec<usize>, Error> {
        let present = self.ledger.fit_all(grads)?;
        self.gpu.check()?;
        for (tensor, (_, values)) in present.iter().zip(grads) {
            self.arena.write(&self.gpu, &self.arena.grads, *tensor, values);
        }
        Ok(present)
    }

    /// Adds the gradients of a micro-batch to the weighted mean that [`Trainer::step_accumulated`] takes. A weight is a
    /// number of samples or tokens; 0 adds nothing. The first call makes a buffer of the parameters' size.
    ///
    /// # Errors
    /// As [`Trainer::step`]; [`Error::InvalidConfig`] for a weight that is negative or not finite.
    pub fn accumulate(&mut self, grads: &[(&str, &[f32])], weight: f64) -> Result<(), Error> {
        self.ledger.check_weight(weight)?;
        let present = self.write_grads(grads)?;
        self.accumulate_resident(Some(&present), weight)
    }

    /// As [`Trainer::accumulate`], with what stands in the gradient buffers of the tensors in `present` or of all.
    ///
    /// # Errors
    /// As [`Trainer::accumulate`].
    pub fn accumulate_resident(&mut self, present: Option<&[usize]>, weight: f64) -> Result<(), Error> {
        self.gpu.check()?;
        let shares: Vec<f32> = self.ledger.weigh(present, weight)?.into_iter().map(|share| share as f32).collect();
        if self.arena.means.is_empty() {
            self.arena.add_means(&self.gpu);
            self.bind();
        }
        self.gpu.queue.write_buffer(&self.arena.shares, 0, bytemuck::cast_slice(&shares));
        self.submit(ACCUMULATE);
        Ok(())
    }

    /// One step with the weighted mean of the gradients accumulated since the last.
    ///
    /// # Errors
    /// [`Error::InvalidConfig`] when there are none; as [`Trainer::run`].
    pub fn step_accumulated(&mut self) -> Result<(), Error> {
        self.ledger.not_swapped()?;
        self.gpu.check()?;
        let waiting = self.ledger.close_window();
        if waiting.is_empty() {
            return Err(Error::invalid("no gradients were accumulated"));
        }
        self.decide(Some(&waiting));
        self.submit(STEP_ACCUMULATED);
        Ok(())
    }

    /// One step with what stands in the gradient buffers, of the tensors in `present` or of all.
    ///
    /// # Errors
    /// [`Error::Gpu`] and [`Error::DeviceLost`], of work before this step.
    pub fn run(&mut self, present: Option<&[usize]>) -> Result<(), Error> {
        self.ledger.no_window()?;
        self.gpu.check()?;
        self.decide(present);
        self.submit(STEP);
        Ok(())
    }

    /// Counts the step and writes the scalars of every tensor in it.
    fn decide(&mut self, present: Option<&[usize]>) {
        if let Some(control) = &self.arena.control {
            control.write_rates(&self.gpu, &self.ledger);
        }
        self.rows.fill(0); // a row of zeros leaves its tensor alone
        let (rows, size) = (&mut self.rows, self.ledger.entry().hyper_size);
        self.ledger.advance(present, |tensor, group, now| {
            group.rule.write_hyper(now, &mut rows[tensor * size..][..size]);
        });
        self.gpu.queue.write_buffer(&self.arena.hypers, 0, &self.rows);
        if let (Ok(ema), None) = (self.ledger.ema(), &self.arena.control) {
            let share = ema.share(self.ledger.steps()) as f32;
            self.gpu.queue.write_buffer(&self.arena.share, 0, bytemuck::bytes_of(&share));
        }
    }

    fn submit(&self, list: usize) {
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        for dispatch in &self.dispatches[list] {
            pass.set_pipeline(&dispatch.pipeline);
            pass.set_bind_group(0, &dispatch.bind_group, &[]);
            pass.dispatch_workgroups(dispatch.grid.0, dispatch.grid.1, 1);
        }
        drop(pass);
        self.gpu.queue.submit([encoder.finish()]);
    }

    /// The parameters by name, as of the call, whatever steps follow. One readback.
    ///
    /// # Errors
    /// The future yields [`Error::Gpu`] or [`Error::DeviceLost`].
    pub fn params(&self) -> impl Future<Output = Result<HashMap<String, Vec<f32>>, Error>> + use<> {
        self.read(&self.arena.params)
    }

    /// One slot of every tensor, by PyTorch's name for it, as of the call.
    ///
    /// # Errors
    /// [`Error::InvalidConfig`] when these options have no such slot; the future as [`Trainer::params`].
    pub fn slot(
        &self,
        slot: &str,
    ) -> Result<impl Future<Output = Result<HashMap<String, Vec<f32>>, Error>> + use<>, Error> {
        Ok(self.read(&self.arena.slots[self.ledger.slot(slot)?]))
    }

    /// How the run stands as of the call: steps taken and skipped, norm and clipping of the last step, loss scale.
    /// Only a run with a [`Control`](crate::Control) has it on the device.
    ///
    /// # Errors
    /// The future as [`Trainer::params`].
    pub fn summary(&self) -> impl Future<Output = Result<Option<Summary>, Error>> + use<> {
        let (control, tensors) = (self.arena.control.as_ref(), self.ledger.tensors().len());
        let buffers = control.map(|it| vec![it.standing.clone(), it.norms.clone()]).unwrap_or_default();
        let reading = self.staging.read(&self.gpu, &buffers);
        async move {
            let words = reading.await?;
            let [standing, norms] = words.as_slice() else { return Ok(None) };
            Ok(control::summary(standing, norms, tensors))
        }
    }

    /// Replaces the options of a group from the next step on; see [`Ledger::set`].
    ///
    /// # Errors
    /// As [`Ledger::set`].
    pub fn set(&mut self, index: usize, group: Group) -> Result<(), Error> {
        let used = self.ledger.used();
        self.ledger.set(index, group)?;
        if let Some(control) = &self.arena.control {
            control.write_plans(&self.gpu, &self.ledger);
        }
        if used != self.ledger.used() {
            self.bind();
        }
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

    /// Where a tensor's gradient stands: one slice, more when it is larger than a window, none when it is empty.
    ///
    /// # Errors
    /// [`Error::UnknownParam`].
    pub fn grad_slices(&self, name: &str) -> Result<Vec<Slice>, Error> {
        Ok(self.slices(&self.arena.grads, self.ledger.index(name)?))
    }

    /// Where a tensor's parameters stand; as [`Trainer::grad_slices`].
    ///
    /// # Errors
    /// [`Error::UnknownParam`].
    pub fn param_slices(&self, name: &str) -> Result<Vec<Slice>, Error> {
        Ok(self.slices(&self.arena.params, self.ledger.index(name)?))
    }

    /// Where the loss scale for the next step stands, for the shader that computes the loss. Only a run with a
    /// [`Control`](crate::Control) has it.
    pub fn loss_scale_slice(&self) -> Option<Slice> {
        let control = self.arena.control.as_ref()?;
        Some(Slice { buffer: control.standing.clone(), offset: 0, size: 4 })
    }

    /// Names, groups and counters.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The device.
    pub fn gpu(&self) -> &Gpu {
        &self.gpu
    }

    fn slices(&self, set: &Windows, tensor: usize) -> Vec<Slice> {
        let slice = |piece: &super::Piece| Slice {
            buffer: set[piece.window].clone(),
            offset: piece.at as u64 * 4,
            size: piece.values.len() as u64 * 4,
        };
        self.arena.layout.pieces(tensor).iter().map(slice).collect()
    }

    pub(super) fn read(&self, set: &Windows) -> impl Future<Output = Result<HashMap<String, Vec<f32>>, Error>> + use<> {
        let places: Vec<_> = self.ledger.tensors().iter().map(|tensor| tensor.name.clone()).collect();
        let places: Vec<_> =
            places.into_iter().enumerate().map(|(i, name)| (name, self.arena.layout.pieces(i).to_vec())).collect();
        let windows = self.staging.read(&self.gpu, set);
        async move {
            let windows = windows.await?;
            let gather = |pieces: Vec<super::Piece>| {
                pieces
                    .iter()
                    .flat_map(|piece| &windows[piece.window][piece.at..][..piece.values.len()])
                    .copied()
                    .collect()
            };
            Ok(places.into_iter().map(|(name, pieces)| (name, gather(pieces))).collect())
        }
    }
}
