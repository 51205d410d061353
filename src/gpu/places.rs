//! Where a tensor's parameters and gradients stand on the device, for shaders of the caller.

use super::batch::Halves;
use super::trainer::Trainer;
use super::view::{View, width};
use crate::error::Error;

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

/// Halves of an odd number have two bytes of others behind them, which a binding takes in.
fn own_slice(view: &View) -> Vec<Slice> {
    let slice = Slice { buffer: view.buffer.clone(), offset: view.offset, size: view.size().next_multiple_of(4) };
    if view.length == 0 { Vec::new() } else { vec![slice] }
}

impl Trainer {
    /// Where a tensor's gradient stands: one slice, more when it is larger than a window, none when it is empty.
    ///
    /// # Errors
    /// [`Error::UnknownParam`]; [`Error::Unsupported`] while the run stands in main memory.
    pub fn grad_slices(&self, name: &str) -> Result<Vec<Slice>, Error> {
        self.here()?;
        let tensor = self.ledger.index(name)?;
        let halves = self.copies[tensor].as_ref().map(|halves| halves.half);
        Ok(self.slices(tensor, |window| self.arena.grads(&self.gpu, window), 4, width(halves)))
    }

    /// Where a tensor's parameters stand, in the model's own format; as [`Trainer::grad_slices`]. Those in 16 bits follow
    /// others in 32, and what is written over them is lost.
    ///
    /// # Errors
    /// [`Error::UnknownParam`]; [`Error::Unsupported`] while the run stands in main memory.
    pub fn param_slices(&self, name: &str) -> Result<Vec<Slice>, Error> {
        self.here()?;
        let tensor = self.ledger.index(name)?;
        match &self.copies[tensor] {
            None => self.master_slices(name),
            Some(Halves { own: Some(view), .. }) => Ok(own_slice(view)),
            Some(_) => Ok(self.slices(tensor, |window| &self.arena.copies[window], 2, 2)),
        }
    }

    /// Where the parameters stand that steps change, in 32 bits whatever the model's own format.
    ///
    /// # Errors
    /// [`Error::UnknownParam`]; [`Error::Unsupported`] while the run stands in main memory.
    pub fn master_slices(&self, name: &str) -> Result<Vec<Slice>, Error> {
        self.here()?;
        let tensor = self.ledger.index(name)?;
        if let Some(view) = &self.own[tensor] {
            return Ok(own_slice(view));
        }
        Ok(self.slices(tensor, |window| &self.arena.params[window], 4, 4))
    }

    /// Where the loss scale for the next step stands, for the shader that computes the loss. Only a run with a
    /// [`Control`](crate::Control) has it.
    pub fn loss_scale_slice(&self) -> Option<Slice> {
        let control = self.arena.control.as_ref().filter(|_| self.parked().is_none())?;
        Some(Slice { buffer: control.standing.clone(), offset: 0, size: 4 })
    }

    /// The pieces of a tensor in windows with so many bytes of room a value.
    fn slices<'a>(
        &'a self,
        tensor: usize,
        buffer: impl Fn(usize) -> &'a wgpu::Buffer,
        room: u64,
        width: u64,
    ) -> Vec<Slice> {
        let slice = |piece: &super::Piece| Slice {
            buffer: buffer(piece.window).clone(),
            offset: piece.at as u64 * room,
            size: (piece.values.len() as u64 * width).next_multiple_of(4),
        };
        self.arena.layout.pieces(tensor).iter().map(slice).collect()
    }
}
