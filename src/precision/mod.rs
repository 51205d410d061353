//! Training in half precision: the loss scaler.

mod scaler;

pub use scaler::{LossScaler, Scaling};
