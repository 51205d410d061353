//! From the ledger's passes to dispatches bound to the arena's buffers and the caller's.

use super::batch::{Batch, Batches, Grad, Standing};
use super::form::Form;
use super::pipeline::{Shader, kernel};
use super::trainer::Trainer;
use super::{accumulate, average, control, history};
use crate::optim::rule::{Binding, Over, Pass};

#[derive(Debug)]
pub(super) struct Dispatch {
    pub pipeline: wgpu::ComputePipeline,
    pub bind_group: wgpu::BindGroup,
    pub grid: (u32, u32),
    pub values: u64,
}

/// What is recorded for gradients that stand in certain places.
#[derive(Debug)]
pub(super) struct Plan {
    grads: Vec<Grad>,
    /// None where all gradients are in the arena: the trainer's own hold then.
    batches: Option<Batches>,
    pub step: Vec<Dispatch>,
    pub accumulate: Vec<Dispatch>,
}

/// How many plans are kept for callers whose gradients change places; each keeps its buffers in memory.
const PLANS: usize = 4;

impl Trainer {
    /// Adds the slots that are needed and not there yet; plans made before hold no longer then.
    pub(super) fn add_slots(&mut self) {
        for (slot, name) in self.ledger.slots() {
            if self.arena.slots[slot].is_empty() {
                self.arena.add_slot(&self.gpu, slot, name);
                self.fill(slot);
                self.plans.clear();
                self.accumulated = None;
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

    /// The place of the plan for gradients where `self.grads` says they are, made where there is none yet.
    pub(super) fn plan(&mut self) -> usize {
        let found = self.plans.iter().position(|plan| plan.grads == self.grads);
        found.unwrap_or_else(|| {
            self.plans.truncate(PLANS - 1);
            let plan = self.make_plan(self.grads.clone(), Binding::Grads);
            self.plans.insert(0, plan);
            0
        })
    }

    fn make_plan(&self, grads: Vec<Grad>, set: Binding) -> Plan {
        let most = self.ledger.values_per_submit();
        let elsewhere = (0..grads.len()).any(|tensor| grads[tensor] != self.resident(tensor));
        let batches = elsewhere.then(|| Batches::new(&self.gpu, &Standing { grads: &grads, ..self.standing() }, most));
        let step = self.step_with(batches.as_ref().unwrap_or(&self.batches), set);
        Plan { grads, batches, step, accumulate: Vec::new() }
    }

    /// As [`Trainer::plan`], with what accumulated gradients need.
    pub(super) fn plan_accumulation(&mut self) -> usize {
        if self.arena.means.is_empty() {
            self.arena.add_means(&self.gpu);
        }
        if self.accumulated.is_none() {
            let means = vec![Grad::Arena(None); self.grads.len()];
            self.accumulated = Some(self.make_plan(means, Binding::Means));
        }
        let place = self.plan();
        if self.plans[place].accumulate.is_empty() {
            let batches = self.plans[place].batches.as_ref().unwrap_or(&self.batches);
            self.plans[place].accumulate =
                self.dispatches(accumulate::SHADER, accumulate::PASSES, batches, Binding::Grads);
        }
        place
    }

    /// Where the gradient of a tensor is that the caller writes to its gradient buffer: in the model's own format.
    pub(super) fn resident(&self, tensor: usize) -> Grad {
        Grad::Arena(self.copies[tensor].as_ref().map(|halves| halves.half))
    }

    pub(super) fn standing(&self) -> Standing<'_> {
        Standing { arena: &self.arena, own: &self.own, copies: &self.copies, grads: &self.grads }
    }

    fn step_with(&self, batches: &Batches, grads: Binding) -> Vec<Dispatch> {
        let of = |shader, passes| self.dispatches(shader, passes, batches, grads);
        let decided = self.arena.control.is_some().then(|| of(control::SHADER, control::PASSES));
        let keeps = self.ledger.control().history > 0;
        let before = if keeps { of(history::SHADER, history::BEFORE) } else { Vec::new() };
        let after = if keeps { of(history::SHADER, history::AFTER) } else { Vec::new() };
        let rule = of(self.ledger.entry().into(), self.ledger.passes());
        let averaged = self.ledger.ema().is_ok().then(|| of(average::SHADER, average::PASSES));
        let rule = before.into_iter().chain(rule).chain(after);
        decided.into_iter().flatten().chain(rule).chain(averaged.into_iter().flatten()).collect()
    }

    /// Every dispatch of some passes. Those that take no gradient go over all tensors.
    pub(super) fn dispatches(
        &self,
        shader: Shader,
        passes: &[Pass],
        batches: &Batches,
        grads: Binding,
    ) -> Vec<Dispatch> {
        let each = |pass: &Pass| -> Vec<Dispatch> {
            let batches = if pass.uses.contains(&Binding::Grads) { batches } else { &self.batches };
            let over = match pass.over {
                Over::Tiles => &batches.tiles,
                Over::Blocks => &batches.blocks,
                Over::Tensors => return vec![self.dispatch(shader, pass, None, grads, self.ledger.tensors().len())],
                Over::Once => return vec![self.dispatch(shader, pass, None, grads, 1)],
            };
            over.iter().map(|batch| self.dispatch(shader, pass, Some(batch), grads, batch.count)).collect()
        };
        passes.iter().flat_map(each).collect()
    }

    fn dispatch(&self, shader: Shader, pass: &Pass, batch: Option<&Batch>, grads: Binding, count: usize) -> Dispatch {
        let form = batch.map_or(Form::default(), |batch| batch.places.form).of(pass);
        let kernel = kernel(&self.gpu, shader, pass, form);
        let uses: Vec<Binding> = pass.uses.iter().copied().filter(|binding| form.binds(*binding)).collect();
        let entry = |binding: &Binding| {
            let resource = self.resource(*binding, batch, grads)?;
            Some(wgpu::BindGroupEntry { binding: binding.number(), resource })
        };
        let entries: Vec<_> = uses.iter().filter_map(entry).collect();
        let bind_group = self.gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("webgpu-optim.step"),
            layout: &kernel.layout,
            entries: &entries,
        });
        let values = batch.map_or(0, |batch| batch.values);
        Dispatch { pipeline: kernel.pipeline, bind_group, grid: self.gpu.fold(count), values }
    }

    fn resource<'a>(
        &'a self,
        binding: Binding,
        batch: Option<&'a Batch>,
        grads: Binding,
    ) -> Option<wgpu::BindingResource<'a>> {
        let window = batch.map_or(0, |batch| batch.places.window);
        let place = if binding == Binding::Grads { grads } else { binding };
        let own = match place {
            Binding::Params => batch?.places.params.as_ref(),
            Binding::Grads => batch?.places.grads.as_ref(),
            Binding::Copies => batch?.places.copies.as_ref(),
            _ => None,
        };
        if let Some(bound) = own {
            return Some(bound.resource());
        }
        let buffer = match place {
            Binding::Tiles | Binding::Blocks => &batch?.table,
            Binding::Grads => self.arena.grads(&self.gpu, window),
            other => self.arena.buffer(other, window)?,
        };
        Some(buffer.as_entire_binding())
    }
}
