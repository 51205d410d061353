//! Correct, fused optimizer steps on WebGPU, for the browser and for native Rust.
//!
#![cfg_attr(feature = "gpu", doc = "```")]
#![cfg_attr(not(feature = "gpu"), doc = "```ignore")]
//! use webgpu_optim::{AdamW, Gpu, Trainer};
//!
//! // Any executor will do; this one is the crate `pollster`.
//! pollster::block_on(async {
//!     let gpu = Gpu::new().await?;
//!     let mut trainer = Trainer::new(&gpu, AdamW::default(), &[("w", &[1.0, 2.0, 3.0]), ("b", &[0.5])])?;
//!     trainer.step(&[("w", &[0.1, 0.2, 0.3]), ("b", &[0.4])])?; // enqueues and returns
//!     let params = trainer.params().await?;
//!     assert!((params["b"][0] - 0.499).abs() < 1e-4); // the first step is lr long
//!     Ok::<(), webgpu_optim::Error>(())
//! })?;
//! # Ok::<(), webgpu_optim::Error>(())
//! ```
//!
//! Rooms, and which way the arrows point:
//!
//! - [`optim`]: the update rules and schedules, mathematics only, with the CPU reference [`HostTrainer`].
//! - [`precision`]: the 16-bit formats, and the loss scaler of training in them.
//! - [`checkpoint`]: runs as safetensors files, keyed by name.
//! - [`gpu`]: the only room that knows wgpu: device, arena, kernels, [`Trainer`].
//! - `js`: the only room that knows JavaScript: converts and forwards.
//! - [`error`]: the one [`Error`].
//!
//! `js -> gpu, checkpoint -> optim -> precision -> error`, never the other way. A caller's array can be followed through
//! [`Trainer::step`]: check the lengths, write the gradients, count the step, write the scalars, dispatch.

pub mod checkpoint;
pub mod error;
#[cfg(feature = "gpu")]
pub mod gpu;
#[cfg(all(feature = "js", target_arch = "wasm32"))]
mod js;
pub mod optim;
pub mod precision;

pub use error::Error;
#[cfg(feature = "gpu")]
pub use gpu::{Gpu, Trainer};
pub use optim::{
    Adagrad, Adam, AdamW, AnyRule, Clip, Control, Ema, GradNorm, Group, Groups, HostState, HostTrainer, Lamb,
    LossScale, Move, Nonfinite, REGISTRY, Record, ReduceOnPlateau, RmsProp, Schedule, Sgd, Summary,
};
pub use precision::{Half, LossScaler, Scaling};
