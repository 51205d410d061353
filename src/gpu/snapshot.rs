//! A run as it stands, in main memory, and a trainer from it: what outlives a lost device.

use super::control::ControlBuffers;
use super::device::Gpu;
use super::staging::Source;
use super::taking::Params;
use super::trainer::Trainer;
use crate::error::Error;
use crate::optim::rule::Binding;
use crate::optim::{Groups, Ledger};
use crate::precision::Half;
use std::collections::HashMap;

type Tensors = HashMap<String, Vec<f32>>;

/// A run as of the call that took it: parameters, slots, averages, accumulated gradients, counters, the loss scale.
#[derive(Debug, Clone)]
pub struct Snapshot {
    ledger: Ledger,
    params: Tensors,
    /// The model's own format of each tensor that has 16 bits there.
    halves: Vec<Option<Half>>,
    sets: Vec<(Binding, Tensors)>,
    /// Standing, counts, rates and records of a controlled run, as the device has them.
    control: Vec<Vec<f32>>,
}

impl Snapshot {
    /// Steps taken or, where steps can be skipped, asked for.
    pub fn steps(&self) -> u64 {
        self.ledger.steps()
    }

    /// Number of tensors.
    pub fn tensors(&self) -> usize {
        self.ledger.tensors().len()
    }
}

impl Trainer {
    /// Copies everything on the device now; the future yields it in main memory. Steps that follow change nothing in it.
    ///
    /// # Errors
    /// The future as [`Trainer::params`].
    ///
    /// ```
    /// # pollster::block_on(async {
    /// use webgpu_optim::{Adam, Gpu, Trainer};
    /// let gpu = Gpu::new().await?;
    /// let mut trainer = Trainer::new(&gpu, Adam::default(), &[("w", &[1.0])])?;
    /// trainer.step(&[("w", &[0.5])])?;
    /// let snapshot = trainer.snapshot().await?;
    /// let again = Trainer::restored(&Gpu::new().await?, &snapshot, &[])?;
    /// assert_eq!(again.params().await?, trainer.params().await?);
    /// # Ok::<(), webgpu_optim::Error>(()) })?;
    /// # Ok::<(), webgpu_optim::Error>(())
    /// ```
    pub fn snapshot(&self) -> impl Future<Output = Result<Snapshot, Error>> + use<> {
        let ledger = self.ledger.clone();
        let params = self.params();
        let halves = self.copies.iter().map(|halves| Some(halves.as_ref()?.half)).collect();
        let slots = ledger.slots().map(|(slot, _)| Binding::Slot(slot));
        let averages = ledger.ema().is_ok().then_some(Binding::Averages);
        let means = ledger.is_accumulating().then_some(Binding::Means);
        let sets = slots.chain(averages).chain(means);
        let sets: Vec<_> = sets.map(|set| (set, self.read(self.arena.set(set), &[]))).collect();
        let buffers = self.arena.control.iter().flat_map(ControlBuffers::carried);
        let control = self.staging.read(&self.gpu, &buffers.map(Source::whole).collect::<Vec<_>>());
        async move {
            let params = params.await?;
            let mut read = Vec::with_capacity(sets.len());
            for (set, reading) in sets {
                read.push((set, reading.await?));
            }
            Ok(Snapshot { ledger, params, halves, sets: read, control: control.await? })
        }
    }

    /// The run of a snapshot on another device, or back on the same. `own` names the tensors whose parameters are to stand
    /// in buffers of the caller; their values are written there.
    ///
    /// # Errors
    /// As [`Trainer::placed`]; [`Error::UnknownParam`] and [`Error::LengthMismatch`] for a tensor of `own`.
    pub fn restored(gpu: &Gpu, snapshot: &Snapshot, own: &[(&str, Params)]) -> Result<Self, Error> {
        let ledger = &snapshot.ledger;
        for (name, params) in own {
            ledger.fit("params", name, params.length())?;
        }
        let place = |name: &str, length, half: Option<Half>| {
            let given = own.iter().find(|(own, _)| *own == name).map(|(_, params)| params.clone());
            given.unwrap_or(half.map_or(Params::Zeroed(length), |half| Params::Halves(length, half)))
        };
        let tensors = ledger.tensors().iter().zip(&snapshot.halves);
        let places: Vec<_> = tensors.map(|(it, half)| (it.name.as_str(), place(&it.name, it.length, *half))).collect();
        let groups = Groups { list: ledger.groups().to_vec(), control: ledger.control().clone() };
        let mut trainer = Self::placed(gpu, groups, &places)?;
        trainer.ledger = ledger.clone();
        trainer.add_slots();
        trainer.write_back(snapshot)?;
        Ok(trainer)
    }

    fn write_back(&mut self, snapshot: &Snapshot) -> Result<(), Error> {
        if self.ledger.is_accumulating() {
            self.plan_accumulation();
        }
        for (set, values) in &snapshot.sets {
            let set = self.arena.set(*set);
            for (tensor, page) in self.ledger.tensors().iter().enumerate() {
                self.arena.write(&self.gpu, set, tensor, values.get(&page.name).map_or(&[], Vec::as_slice));
            }
        }
        for (name, values) in &snapshot.params {
            let mut bytes = bytemuck::cast_slice::<f32, u8>(values);
            for slice in self.master_slices(name)? {
                let (own, rest) = bytes.split_at(slice.size as usize);
                self.gpu.queue.write_buffer(&slice.buffer, slice.offset, own);
                bytes = rest;
            }
        }
        let buffers = self.arena.control.iter().flat_map(ControlBuffers::carried);
        for (buffer, words) in buffers.zip(&snapshot.control) {
            self.gpu.queue.write_buffer(buffer, 0, bytemuck::cast_slice(words));
        }
        self.round();
        Ok(())
    }
}
