//! The straight line: check the lengths, write the gradients, count the step, write the scalars, dispatch.

use super::Tile;
use super::arena::{Arena, Windows};
use super::control;
use super::device::Gpu;
use super::pipeline::{Shader, kernel};
use super::staging::Staging;
use crate::error::Error;
use crate::optim::rule::{Binding, Over, Pass};
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

#[derive(Debug)]
struct Dispatch {
    pipeline: wgpu::ComputePipeline,
    bind_group: wgpu::BindGroup,
    grid: (u32, u32),
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
/// # Ok::<(), webgpu_optim::Error>(()) }).unwrap();
/// ```
#[derive(Debug)]
pub struct Trainer {
    gpu: Gpu,
    ledger: Ledger,
    arena: Arena,
    staging: Staging,
    rows: Vec<u8>,
    dispatches: Vec<Dispatch>,
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
            Self { gpu: gpu.clone(), ledger, arena, staging: Staging::default(), rows, dispatches: Vec::new() };
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
        let present = self.ledger.fit_all(grads)?;
        self.gpu.check()?;
        for (tensor, (_, values)) in present.iter().zip(grads) {
            self.arena.write(&self.gpu, &self.arena.grads, *tensor, values);
        }
        self.run(Some(&present))
    }

    /// One step with what stands in the gradient buffers, of the tensors in `present` or of all.
    ///
    /// # Errors
    /// [`Error::Gpu`] and [`Error::DeviceLost`], of work before this step.
    pub fn run(&mut self, present: Option<&[usize]>) -> Result<(), Error> {
        self.gpu.check()?;
        if let Some(control) = &self.arena.control {
            control.write_rates(&self.gpu, &self.ledger);
        }
        self.rows.fill(0); // a row of zeros leaves its tensor alone
        let (rows, size) = (&mut self.rows, self.ledger.entry().hyper_size);
        self.ledger.advance(present, |tensor, group, now| {
            group.rule.write_hyper(now, &mut rows[tensor * size..][..size]);
        });
        self.gpu.queue.write_buffer(&self.arena.hypers, 0, &self.rows);
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        for dispatch in &self.dispatches {
            pass.set_pipeline(&dispatch.pipeline);
            pass.set_bind_group(0, &dispatch.bind_group, &[]);
            pass.dispatch_workgroups(dispatch.grid.0, dispatch.grid.1, 1);
        }
        drop(pass);
        self.gpu.queue.submit([encoder.finish()]);
        Ok(())
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

    fn read(&self, set: &Windows) -> impl Future<Output = Result<HashMap<String, Vec<f32>>, Error>> + use<> {
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

    /// Adds the slots that are needed and not there yet, and binds every pass to its buffers.
    fn bind(&mut self) {
        for (slot, name) in self.ledger.slots() {
            if self.arena.slots[slot].is_empty() {
                self.arena.add_slot(&self.gpu, slot, name);
                self.fill(slot);
            }
        }
        self.dispatches.clear();
        if self.arena.control.is_some() {
            self.add(control::SHADER, control::PASSES);
        }
        self.add(self.ledger.entry().into(), self.ledger.passes());
    }

    fn add(&mut self, shader: Shader, passes: &[Pass]) {
        let counts = |tiles: Vec<Vec<Tile>>| tiles.iter().map(Vec::len).enumerate().collect::<Vec<_>>();
        let (tiles, blocks) = (counts(self.arena.layout.tiles()), counts(self.arena.layout.blocks()));
        for pass in passes {
            match pass.over {
                Over::Tiles => tiles.iter().for_each(|(window, count)| self.dispatch(shader, pass, *window, *count)),
                Over::Blocks => blocks.iter().for_each(|(window, count)| self.dispatch(shader, pass, *window, *count)),
                Over::Tensors => self.dispatch(shader, pass, 0, self.ledger.tensors().len()),
                Over::Once => self.dispatch(shader, pass, 0, 1),
            }
        }
    }

    fn fill(&self, slot: usize) {
        for (index, tensor) in self.ledger.tensors().iter().enumerate() {
            let initial = self.ledger.initial(index, slot);
            if initial != 0.0 {
                self.arena.write(&self.gpu, &self.arena.slots[slot], index, &vec![initial; tensor.length]);
            }
        }
    }

    fn dispatch(&mut self, shader: Shader, pass: &Pass, window: usize, workgroups: usize) {
        let kernel = kernel(&self.gpu, shader, pass);
        let entry = |binding: &Binding| {
            let buffer = self.arena.buffer(*binding, window)?;
            Some(wgpu::BindGroupEntry { binding: binding.number(), resource: buffer.as_entire_binding() })
        };
        let entries: Vec<_> = pass.uses.iter().filter_map(entry).collect();
        let bind_group = self.gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("webgpu-optim.step"),
            layout: &kernel.layout,
            entries: &entries,
        });
        let grid = self.gpu.fold(workgroups);
        self.dispatches.push(Dispatch { pipeline: kernel.pipeline, bind_group, grid });
    }
}
