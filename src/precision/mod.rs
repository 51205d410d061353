//! Training in half precision: the 16-bit formats and the loss scaler.

mod half;
mod scaler;

pub use half::Half;
pub use scaler::{LossScaler, Scaling};
