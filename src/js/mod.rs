//! The JavaScript binding: converts and forwards. The TypeScript facade stands beside each file.

mod checkpoint;
mod config;
mod convert;
mod error;
mod given;
mod gpu;
mod half;
mod optimizer;
mod places;
mod plateau;
mod readback;
mod residency;
mod rules;
mod snapshot;
mod value;
