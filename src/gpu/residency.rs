//! Whether a run stands on the device or, to make room there, in main memory.

use super::taking::Params;
use super::trainer::Trainer;
use super::view::View;
use crate::error::Error;
use crate::optim::HostState;

/// Where a run stands.
#[derive(Debug, Default)]
pub(super) enum Residence {
    #[default]
    Gpu,
    /// On its way to main memory: what a step would do now would be lost.
    #[cfg_attr(not(all(feature = "js", target_arch = "wasm32")), allow(dead_code, reason = "Rust lends the trainer"))]
    Leaving,
    Cpu(Box<HostState>),
}

impl Trainer {
    /// Refuses work on a device that is lost or that the run has left.
    pub(crate) fn here(&self) -> Result<(), Error> {
        self.gpu.check()?;
        match self.residence {
            Residence::Gpu => Ok(()),
            _ => Err(Error::Unsupported { what: "the run stands in main memory: move it to the GPU first".into() }),
        }
    }

    /// The run where it stands in main memory.
    pub fn parked(&self) -> Option<&HostState> {
        if let Residence::Cpu(state) = &self.residence { Some(state) } else { None }
    }

    /// Moves parameters, slots and everything else to main memory and gives the device's memory back. Until
    /// [`Trainer::move_to_gpu`], values can be read, and everything else is refused. Does nothing where the run stands
    /// there already. Buffers of the caller stay the caller's.
    ///
    /// # Errors
    /// [`Error::Gpu`] and [`Error::DeviceLost`]; the run stays then.
    ///
    /// ```
    /// # pollster::block_on(async {
    /// use webgpu_optim::{Adam, Gpu, Trainer};
    /// let mut trainer = Trainer::new(&Gpu::new().await?, Adam::default(), &[("w", &[1.0])])?;
    /// trainer.move_to_cpu().await?;
    /// assert!(trainer.step(&[("w", &[0.5])]).is_err());
    /// assert_eq!(trainer.params().await?["w"], [1.0]);
    /// trainer.move_to_gpu()?;
    /// trainer.step(&[("w", &[0.5])])?;
    /// # Ok::<(), webgpu_optim::Error>(()) })?;
    /// # Ok::<(), webgpu_optim::Error>(())
    /// ```
    pub async fn move_to_cpu(&mut self) -> Result<(), Error> {
        if self.parked().is_none() {
            let state = self.state().await?;
            self.park(state);
        }
        Ok(())
    }

    /// Moves the run back to its device, bit for bit. Parameters that stood in buffers of the caller stand there again,
    /// others in new ones. Does nothing where it is there already.
    ///
    /// # Errors
    /// As [`Trainer::restored`]; the run stays in main memory then.
    pub fn move_to_gpu(&mut self) -> Result<(), Error> {
        let Some(state) = self.parked() else { return Ok(()) };
        let own = self.own_places();
        let own: Vec<_> = own.iter().map(|(name, params)| (name.as_str(), params.clone())).collect();
        *self = Self::restored(&self.gpu, state, &own)?;
        Ok(())
    }

    /// [`Trainer::move_to_cpu`], by the name it once had elsewhere.
    ///
    /// # Errors
    /// As [`Trainer::move_to_cpu`].
    #[deprecated(since = "0.1.0", note = "use `move_to_cpu`")]
    pub async fn to_cpu(&mut self) -> Result<(), Error> {
        self.move_to_cpu().await
    }

    /// [`Trainer::move_to_gpu`], by the name it once had elsewhere.
    ///
    /// # Errors
    /// As [`Trainer::move_to_gpu`].
    #[deprecated(since = "0.1.0", note = "use `move_to_gpu`")]
    pub fn to_gpu(&mut self) -> Result<(), Error> {
        self.move_to_gpu()
    }

    /// Refuses steps from now on, or takes them again.
    #[cfg(all(feature = "js", target_arch = "wasm32"))]
    pub(crate) fn leave(&mut self, leaves: bool) {
        if self.parked().is_none() {
            self.residence = if leaves { Residence::Leaving } else { Residence::Gpu };
        }
    }

    /// Gives the device's memory back: the run stands in `state`.
    pub(crate) fn park(&mut self, state: HostState) {
        self.arena.destroy();
        self.plans.clear();
        self.accumulated = None;
        self.ring = None;
        self.residence = Residence::Cpu(Box::new(state));
    }

    /// The parameters in buffers of the caller, for [`Trainer::restored`].
    pub(crate) fn own_places(&self) -> Vec<(String, Params)> {
        let place =
            |(tensor, view): (usize, &View)| (self.ledger.tensors()[tensor].name.clone(), Params::Own(view.clone()));
        self.model().map(place).collect()
    }
}
