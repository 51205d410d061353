//! From the ledger's passes to dispatches bound to the arena's buffers.

use super::Tile;
use super::pipeline::{Shader, kernel};
use super::trainer::Trainer;
use super::{accumulate, average, control};
use crate::optim::rule::{Binding, Over, Pass};

#[derive(Debug)]
pub(super) struct Dispatch {
    pub pipeline: wgpu::ComputePipeline,
    pub bind_group: wgpu::BindGroup,
    pub grid: (u32, u32),
}

pub(super) const STEP: usize = 0;
pub(super) const STEP_ACCUMULATED: usize = 1;
pub(super) const ACCUMULATE: usize = 2;

impl Trainer {
    /// Adds the slots that are needed and not there yet, and binds every pass to its buffers.
    pub(super) fn bind(&mut self) {
        for (slot, name) in self.ledger.slots() {
            if self.arena.slots[slot].is_empty() {
                self.arena.add_slot(&self.gpu, slot, name);
                self.fill(slot);
            }
        }
        let step = |trainer: &Self, grads: Binding| {
            let decided =
                trainer.arena.control.is_some().then(|| trainer.dispatches(control::SHADER, control::PASSES, grads));
            let rule = trainer.dispatches(trainer.ledger.entry().into(), trainer.ledger.passes(), grads);
            let averaged =
                trainer.ledger.ema().is_ok().then(|| trainer.dispatches(average::SHADER, average::PASSES, grads));
            decided.into_iter().flatten().chain(rule).chain(averaged.into_iter().flatten()).collect()
        };
        self.dispatches[STEP] = step(self, Binding::Grads);
        if !self.arena.means.is_empty() {
            self.dispatches[STEP_ACCUMULATED] = step(self, Binding::Means);
            self.dispatches[ACCUMULATE] = self.dispatches(accumulate::SHADER, accumulate::PASSES, Binding::Grads);
        }
    }

    /// Every dispatch of some passes, their gradients taken from one of the two places there are.
    fn dispatches(&self, shader: Shader, passes: &[Pass], grads: Binding) -> Vec<Dispatch> {
        let counts = |tiles: Vec<Vec<Tile>>| tiles.iter().map(Vec::len).enumerate().collect::<Vec<_>>();
        let (tiles, blocks) = (counts(self.arena.layout.tiles()), counts(self.arena.layout.blocks()));
        let tensors = [(0, self.ledger.tensors().len())];
        let over = |pass: &Pass| match pass.over {
            Over::Tiles => tiles.as_slice(),
            Over::Blocks => blocks.as_slice(),
            Over::Tensors => tensors.as_slice(),
            Over::Once => &[(0, 1)],
        };
        let each =
            |pass| over(pass).iter().map(move |&(window, count)| self.dispatch(shader, pass, window, count, grads));
        passes.iter().flat_map(each).collect()
    }

    fn fill(&self, slot: usize) {
        for (index, tensor) in self.ledger.tensors().iter().enumerate() {
            let initial = self.ledger.initial(index, slot);
            if initial != 0.0 {
                self.arena.write(&self.gpu, &self.arena.slots[slot], index, &vec![initial; tensor.length]);
            }
        }
    }

    fn dispatch(&self, shader: Shader, pass: &Pass, window: usize, workgroups: usize, grads: Binding) -> Dispatch {
        let kernel = kernel(&self.gpu, shader, pass);
        let entry = |binding: &Binding| {
            let place = if *binding == Binding::Grads { grads } else { *binding };
            let buffer = self.arena.buffer(place, window)?;
            Some(wgpu::BindGroupEntry { binding: binding.number(), resource: buffer.as_entire_binding() })
        };
        let entries: Vec<_> = pass.uses.iter().filter_map(entry).collect();
        let bind_group = self.gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("webgpu-optim.step"),
            layout: &kernel.layout,
            entries: &entries,
        });
        Dispatch { pipeline: kernel.pipeline, bind_group, grid: self.gpu.fold(workgroups) }
    }
}
