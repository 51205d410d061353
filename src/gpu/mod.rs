//! The device room: the only one that knows wgpu.

mod accumulate;
#[cfg(all(feature = "js", target_arch = "wasm32"))]
pub(crate) mod adopt;
mod arena;
mod average;
mod batch;
mod bind;
mod carry;
mod control;
mod device;
mod encode;
mod form;
mod half;
mod history;
mod image;
mod layout;
mod pipeline;
mod places;
mod readback;
mod residency;
mod staging;
mod taking;
mod trainer;
mod view;

#[doc(hidden)]
pub use control::{Described, described};
pub use device::Gpu;
#[doc(hidden)]
pub use form::{Form, Reach};
pub use image::Image;
pub use layout::{ALIGNMENT, Home, Layout, Piece, Span, TILE, Tile};
pub use places::Slice;
pub use taking::{Grads, Params};
pub use trainer::Trainer;
pub use view::View;
