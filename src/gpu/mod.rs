//! The device room: the only one that knows wgpu.

mod accumulate;
#[cfg(all(feature = "js", target_arch = "wasm32"))]
pub(crate) mod adopt;
mod arena;
mod average;
mod bind;
mod control;
mod device;
mod layout;
mod pipeline;
mod staging;
mod trainer;

#[doc(hidden)]
pub use control::{Described, described};
pub use device::Gpu;
pub use layout::{ALIGNMENT, Layout, Piece, Span, TILE, Tile};
pub use trainer::{Slice, Trainer};
