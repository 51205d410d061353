//! Update rules: mathematics only, no device.
//!
//! A rule is one file here and one shader of the same stem; the list below names each in a line, and everything
//! else (trainers, tests, the JavaScript binding, the TypeScript types) follows from it.

mod check;
mod groups;
mod ledger;
mod moments;
pub mod pace;
#[macro_use]
mod registry;
mod plateau;
pub mod rule;
mod schedule;
mod state;

pub use groups::{Group, Groups};
pub use ledger::{Ledger, Tensor};
pub use plateau::ReduceOnPlateau;
pub use registry::Entry;
pub use rule::Rule;
pub use schedule::Schedule;
pub use state::HostTrainer;

registry! {
    sgd: Sgd;
    adam: Adam + "moments";
    adamw: AdamW + "moments";
    rmsprop: RmsProp;
    adagrad: Adagrad;
    lamb: Lamb + "moments" + "reduce";
}
