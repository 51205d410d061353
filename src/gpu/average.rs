//! The moving average of the parameters on the device.

use super::device::Gpu;
use super::pipeline::Shader;
use super::trainer::Trainer;
use crate::error::Error;
use crate::optim::rule::{Binding, Over, Pass};
use std::collections::HashMap;

pub(super) const SHADER: Shader = Shader {
    stem: "average",
    source: concat!(include_str!("../../shaders/shared/grid.wgsl"), include_str!("../../shaders/step/average.wgsl"),),
};

pub(super) const PASSES: &[Pass] = &[Pass {
    entry: "average",
    over: Over::Tiles,
    uses: &[Binding::Tiles, Binding::Params, Binding::Share, Binding::Averages],
}];

/// Exchanges the contents of two buffers of one size.
fn exchange(gpu: &Gpu, one: &wgpu::Buffer, other: &wgpu::Buffer) {
    let usage = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    let label = Some("webgpu-optim.exchange");
    let size = one.size();
    let third = gpu.device.create_buffer(&wgpu::BufferDescriptor { label, size, usage, mapped_at_creation: false });
    let mut encoder = gpu.device.create_command_encoder(&Default::default());
    for (from, to) in [(one, &third), (other, one), (&third, other)] {
        encoder.copy_buffer_to_buffer(from, 0, to, 0, size);
    }
    gpu.queue.submit([encoder.finish()]);
    third.destroy();
}

impl Trainer {
    /// Lets the averages begin with the parameters as they stand.
    pub fn start_averages(&self) {
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        for (params, averages) in self.arena.params.iter().zip(&self.arena.averages) {
            encoder.copy_buffer_to_buffer(params, 0, averages, 0, params.size());
        }
        self.gpu.queue.submit([encoder.finish()]);
    }

    /// The moving averages of the parameters by name, as of the call.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a run without [`Ema`](crate::Ema); the future as [`Trainer::params`].
    pub fn averages(&self) -> Result<impl Future<Output = Result<HashMap<String, Vec<f32>>, Error>> + use<>, Error> {
        self.ledger.ema()?;
        Ok(self.read(&self.arena.averages))
    }

    /// Puts the averages in the parameters' place, or the parameters back in theirs, bit for bit. No step is taken
    /// while the averages stand there.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a run without [`Ema`](crate::Ema), [`Error::Gpu`], [`Error::DeviceLost`].
    pub fn swap_ema(&mut self) -> Result<(), Error> {
        self.gpu.check()?;
        self.ledger.swap()?;
        for (params, averages) in self.arena.params.iter().zip(&self.arena.averages) {
            exchange(&self.gpu, params, averages);
        }
        Ok(())
    }
}
