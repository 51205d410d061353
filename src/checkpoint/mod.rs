//! Runs as safetensors files, keyed by name.
//!
//! A file holds tensors `params/NAME`, `SLOT/NAME`, `ema/NAME` and, where gradients are waiting, `mean/NAME`, all in 32 bits
//! and flat, and one line of metadata called `webgpu-optim`: a JSON object with the schema's number, the package's version,
//! rule, options, schedules, counters and the loss scale. No rule draws random numbers, so there is no random state.
//!
//! ```
//! use webgpu_optim::{AdamW, HostTrainer, checkpoint};
//! let mut trainer = HostTrainer::new(AdamW::default(), &[("w", &[1.0, 2.0])])?;
//! trainer.step(&[("w", &[0.1, 0.2])])?;
//! let bytes = checkpoint::save(trainer.state(), &[], None)?;
//! let mut again = HostTrainer::resumed(checkpoint::load(&bytes)?);
//! trainer.step(&[("w", &[0.3, 0.4])])?;
//! again.step(&[("w", &[0.3, 0.4])])?;
//! assert_eq!(again.params("w")?, trainer.params("w")?);
//! # Ok::<(), webgpu_optim::Error>(())
//! ```

mod fit;
mod read;
mod schema;
mod value;
mod write;

pub use fit::{Fitted, Report};
pub use read::{Checkpoint, header_size};
pub use schema::SCHEMA;
#[cfg_attr(not(feature = "js"), allow(unused_imports, reason = "options come as values there"))]
pub(crate) use value::Value;
pub use write::{header, save};

use crate::error::Error;
use crate::optim::HostState;

/// The run of a file, in main memory.
///
/// # Errors
/// As [`Checkpoint::parse`].
pub fn load(bytes: &[u8]) -> Result<HostState, Error> {
    let (checkpoint, data) = Checkpoint::of(bytes)?;
    let mut state = HostState::empty(checkpoint.outline.clone());
    state.write(&checkpoint.sections, 0, &values(data));
    Ok(state)
}

/// Numbers of a file's data, which need not be aligned.
pub(crate) fn values(data: &[u8]) -> Vec<f32> {
    let number = |bytes: &[u8]| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    data.chunks_exact(4).map(number).collect()
}
