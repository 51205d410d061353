//! A step into the caller's own command encoder.

use super::arena::storage;
use super::taking::Grads;
use super::trainer::{Trainer, record};
use crate::error::Error;

/// How many steps may be recorded before the first of them is submitted.
pub const RECORDED: u64 = 64;

/// Scalars of recorded steps: what is written to a queue is there at once, so each step has a place of its own.
#[derive(Debug)]
pub(super) struct Ring {
    buffer: wgpu::Buffer,
    next: u64,
}

impl Drop for Ring {
    fn drop(&mut self) {
        self.buffer.destroy();
    }
}

impl Trainer {
    /// Records a step into the caller's encoder instead of submitting it: of accumulated gradients where there are
    /// some, else as [`Trainer::run`]. The step counts from now on. Up to 64 steps may be recorded before the first of
    /// them is submitted, and they are to be submitted in their order.
    ///
    /// # Errors
    /// As [`Trainer::run`].
    pub fn encode_step(&mut self, encoder: &mut wgpu::CommandEncoder, present: Option<&[usize]>) -> Result<(), Error> {
        self.ledger.not_swapped()?;
        self.here()?;
        let waiting = self.ledger.close_window();
        if waiting.is_empty() {
            self.take_from_arena(present);
            self.record_step(encoder, present);
            return Ok(());
        }
        self.plan_accumulation();
        self.record_scalars(encoder, Some(&waiting));
        record(encoder, self.accumulated.as_ref().map_or(&[], |plan| &plan.step));
        Ok(())
    }

    /// As [`Trainer::encode_step`], with gradients wherever they are. Those in main memory are written to the queue now.
    ///
    /// # Errors
    /// As [`Trainer::step_from`].
    pub fn encode_step_from(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        grads: &[(&str, Grads<'_>)],
    ) -> Result<(), Error> {
        self.ledger.no_window()?;
        let present = self.take(grads)?;
        self.record_step(encoder, Some(&present));
        Ok(())
    }

    fn record_step(&mut self, encoder: &mut wgpu::CommandEncoder, present: Option<&[usize]>) {
        self.record_scalars(encoder, present);
        let plan = self.plan();
        record(encoder, &self.plans[plan].step);
    }

    fn record_scalars(&mut self, encoder: &mut wgpu::CommandEncoder, present: Option<&[usize]>) {
        let share = self.decide(present);
        let rows = self.rows.len() as u64;
        let ring = self.ring.get_or_insert_with(|| {
            let buffer = storage(&self.gpu, "recorded", (rows + 4) * RECORDED);
            Ring { buffer, next: 0 }
        });
        let at = ring.next % RECORDED * (rows + 4);
        ring.next += 1;
        self.gpu.queue.write_buffer(&ring.buffer, at, &self.rows);
        encoder.copy_buffer_to_buffer(&ring.buffer, at, &self.arena.hypers, 0, rows);
        if let Some(share) = share {
            self.gpu.queue.write_buffer(&ring.buffer, at + rows, bytemuck::bytes_of(&share));
            encoder.copy_buffer_to_buffer(&ring.buffer, at + rows, &self.arena.share, 0, 4);
        }
    }
}
