//! A run out of the device and back: what checkpoints, snapshots and moves are made of.

use super::control::{self, ControlBuffers};
use super::device::Gpu;
use super::image::{Image, PIECE, Part};
use super::staging::Source;
use super::taking::Params;
use super::trainer::Trainer;
use crate::error::Error;
use crate::optim::rule::Binding;
use crate::optim::{Groups, HostState, Outline, Section, extent};
use crate::precision::Half;

impl Trainer {
    /// All of the run but its values, as of the call: counters where the device keeps them.
    ///
    /// # Errors
    /// The future as [`Trainer::params`].
    pub fn outline(&self) -> impl Future<Output = Result<Outline, Error>> + use<> {
        let mut outline = self.known();
        let buffers = self.arena.control.iter().flat_map(ControlBuffers::carried);
        let control = self.staging.read(&self.gpu, &buffers.map(Source::whole).collect::<Vec<_>>());
        async move {
            if let Some(progress) = control::taken_up(&control.await?, &mut outline.ledger) {
                outline.progress = progress;
            }
            Ok(outline)
        }
    }

    /// Copies all values of the run on the device, in the order of [`Ledger::sections`](crate::optim::Ledger::sections):
    /// steps that follow change nothing in the copy.
    pub fn image(&self) -> Image {
        let sections = self.ledger.sections();
        let image = Image::new(&self.gpu, extent(&sections));
        self.copy(&image, &sections, true);
        image
    }

    /// The whole run as of the call, in main memory. Steps that follow change nothing in it.
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
    /// let state = trainer.state().await?;
    /// let again = Trainer::restored(&Gpu::new().await?, &state, &[])?;
    /// assert_eq!(again.params().await?, trainer.params().await?);
    /// # Ok::<(), webgpu_optim::Error>(()) })?;
    /// # Ok::<(), webgpu_optim::Error>(())
    /// ```
    pub fn state(&self) -> impl Future<Output = Result<HostState, Error>> + use<> {
        let taken = self.parked().cloned().map(Box::new).map_or_else(
            || {
                let (outline, image) = (self.outline(), self.image());
                // What fits one piece is here as soon as the outline is.
                let first = image.read(0..PIECE);
                Ok((outline, image, first))
            },
            Err,
        );
        let sections = self.ledger.sections();
        async move {
            let (outline, image, mut reading) = match taken {
                Ok(taken) => taken,
                Err(parked) => return Ok(*parked),
            };
            let mut state = HostState::empty(outline.await?);
            for at in (0..image.len()).step_by(PIECE as usize) {
                let values = reading.await?;
                reading = image.read(at + PIECE..at + 2 * PIECE);
                state.write(&sections, at, &values);
            }
            Ok(state)
        }
    }

    /// A run in main memory on a device. `own` names the tensors whose parameters are to stand in buffers of the caller;
    /// their values are written there.
    ///
    /// # Errors
    /// As [`Trainer::placed`]; [`Error::UnknownParam`] and [`Error::LengthMismatch`] for a tensor of `own`.
    pub fn restored(gpu: &Gpu, state: &HostState, own: &[(&str, Params)]) -> Result<Self, Error> {
        let mut trainer = Self::outlined(gpu, &state.outline, own)?;
        let sections = state.ledger().sections();
        let image = Image::new(gpu, extent(&sections));
        for at in (0..image.len()).step_by(PIECE as usize) {
            image.write(at, &state.read(&sections, at..image.len().min(at + PIECE)))?;
        }
        trainer.resume(&state.outline, &sections, &image);
        Ok(trainer)
    }

    /// As [`Trainer::restored`], with parameters of 0 and slots as they are made.
    ///
    /// # Errors
    /// As [`Trainer::restored`].
    pub fn outlined(gpu: &Gpu, outline: &Outline, own: &[(&str, Params)]) -> Result<Self, Error> {
        let Outline { ledger, halves, .. } = outline;
        for (name, params) in own {
            ledger.fit("params", name, params.length())?;
        }
        let place = |name: &str, length, half: Option<Half>| {
            let given = own.iter().find(|(own, _)| *own == name).map(|(_, params)| params.clone());
            given.unwrap_or(half.map_or(Params::Zeroed(length), |half| Params::Halves(length, half)))
        };
        let tensors = ledger.tensors().iter().zip(halves);
        let places: Vec<_> = tensors.map(|(it, half)| (it.name.as_str(), place(&it.name, it.length, *half))).collect();
        let groups = Groups { list: ledger.groups().to_vec(), control: ledger.control().clone() };
        let mut trainer = Self::placed(gpu, groups, &places)?;
        trainer.ledger = ledger.clone();
        trainer.add_slots();
        Ok(trainer)
    }

    /// The run as far as it is known without asking the device.
    pub fn known(&self) -> Outline {
        let halves = self.copies.iter().map(|halves| Some(halves.as_ref()?.half)).collect();
        Outline { halves, ..Outline::new(self.ledger.clone()) }
    }

    /// Lets the run be as a checkpoint has it: what [`Checkpoint::fit`](crate::checkpoint::Checkpoint::fit) gives for this
    /// run, and an image of the file's values. Buffers stay the same ones.
    ///
    /// # Panics
    /// For sections of another run.
    pub fn resume(&mut self, outline: &Outline, sections: &[Section], image: &Image) {
        self.ledger.resume(&outline.ledger.counters());
        if self.ledger.is_accumulating() {
            self.plan_accumulation();
        }
        self.copy(image, sections, false);
        if let Some(control) = &self.arena.control {
            control.resume(&self.gpu, &self.ledger, &outline.progress);
        }
        self.round();
    }

    fn copy(&self, image: &Image, sections: &[Section], into: bool) {
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        for section in sections {
            image.copy(&mut encoder, section, &self.parts(section.set, section.tensor), into);
        }
        self.gpu.queue.submit([encoder.finish()]);
    }

    fn parts(&self, set: Binding, tensor: usize) -> Vec<Part> {
        match &self.own[tensor] {
            Some(view) if set == Binding::Params => vec![(view.buffer.clone(), view.offset, view.size())],
            _ => {
                let windows = self.arena.set(set);
                let pieces = self.arena.layout.pieces(tensor).iter();
                let part = |piece: &super::Piece| {
                    (windows[piece.window].clone(), piece.at as u64 * 4, piece.values.len() as u64 * 4)
                };
                pieces.map(part).collect()
            }
        }
    }
}
