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

/// Where some parameters stand, and where their averages do.
struct Pair {
    params: (wgpu::Buffer, u64),
    averages: (wgpu::Buffer, u64),
    size: u64,
}

impl Pair {
    fn exchange(&self, gpu: &Gpu) {
        let usage = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let (label, size) = (Some("webgpu-optim.exchange"), self.size);
        let third = gpu.device.create_buffer(&wgpu::BufferDescriptor { label, size, usage, mapped_at_creation: false });
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let (params, averages, aside) = (&self.params, &self.averages, &(third.clone(), 0));
        for (from, to) in [(params, aside), (averages, params), (aside, averages)] {
            encoder.copy_buffer_to_buffer(&from.0, from.1, &to.0, to.1, size);
        }
        gpu.queue.submit([encoder.finish()]);
        third.destroy();
    }
}

impl Trainer {
    fn pairs(&self) -> Vec<Pair> {
        let layout = &self.arena.layout;
        let (ours, averages) = (&self.arena.params, &self.arena.averages);
        let windows = averages.iter().enumerate().filter(|(window, _)| !layout.is_elsewhere(*window));
        let whole = windows.map(|(window, averages)| Pair {
            params: (ours[window].clone(), 0),
            averages: (averages.clone(), 0),
            size: averages.size(),
        });
        let own = layout.all().iter().filter(|_| !averages.is_empty()).filter_map(|piece| {
            let view = self.own[piece.tensor].as_ref()?;
            Some(Pair {
                params: (view.buffer.clone(), view.offset + piece.values.start as u64 * 4),
                averages: (averages[piece.window].clone(), piece.at as u64 * 4),
                size: piece.values.len() as u64 * 4,
            })
        });
        whole.chain(own).collect()
    }

    /// Lets the averages begin with the parameters as they stand.
    pub(super) fn start_averages(&self) {
        let mut encoder = self.gpu.device.create_command_encoder(&Default::default());
        for Pair { params, averages, size } in self.pairs() {
            encoder.copy_buffer_to_buffer(&params.0, params.1, &averages.0, averages.1, size);
        }
        self.gpu.queue.submit([encoder.finish()]);
    }

    /// The moving averages of the parameters by name, as of the call.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a run without [`Ema`](crate::Ema); the future as [`Trainer::params`].
    pub fn averages(&self) -> Result<impl Future<Output = Result<HashMap<String, Vec<f32>>, Error>> + use<>, Error> {
        self.ledger.ema()?;
        Ok(self.read(Binding::Averages))
    }

    /// Puts the averages in the parameters' place, or the parameters back in theirs, bit for bit. No step is taken
    /// while the averages stand there.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a run without [`Ema`](crate::Ema), [`Error::Gpu`], [`Error::DeviceLost`].
    pub fn swap_ema(&mut self) -> Result<(), Error> {
        self.here()?;
        self.ledger.swap()?;
        self.pairs().iter().for_each(|pair| pair.exchange(&self.gpu));
        self.round();
        Ok(())
    }
}
