//! Update rules: mathematics only, no device.
//!
//! A rule is one file here and one shader of the same stem; the list below names each in a line, and everything
//! else (trainers, tests, the JavaScript binding, the TypeScript types) follows from it.

mod check;
#[cfg_attr(not(feature = "gpu"), allow(dead_code, reason = "only a device reads its rows"))]
pub mod control;
mod counters;
mod groups;
mod host;
mod ledger;
mod moments;
pub mod pace;
#[macro_use]
mod registry;
mod plateau;
mod progress;
pub mod rule;
mod schedule;
#[cfg_attr(not(feature = "gpu"), allow(dead_code, reason = "only a device has one"))]
pub(crate) mod standing;
mod state;

pub use control::{Clip, Control, Ema, GradNorm, LossScale, Move, Nonfinite, Record, Summary};
pub use counters::{Count, Counters};
pub use groups::{Group, Groups};
pub use host::HostTrainer;
pub use ledger::{Ledger, Tensor};
pub use plateau::ReduceOnPlateau;
pub use progress::Progress;
pub use registry::Entry;
pub use rule::Rule;
pub use schedule::Schedule;
pub(crate) use state::extent;
pub use state::{HostState, Outline, Section};

registry! {
    sgd: Sgd;
    adam: Adam + "moments";
    adamw: AdamW + "moments";
    rmsprop: RmsProp;
    adagrad: Adagrad;
    lamb: Lamb + "moments" + "reduce";
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::rule::Row;

    fn matches<R: Row>(name: &str, wgsl: &str) {
        let module = naga::front::wgsl::parse_str(wgsl).unwrap();
        let (_, found) = module.types.iter().find(|(_, it)| it.name.as_deref() == Some(name)).unwrap();
        let naga::TypeInner::Struct { members, span } = &found.inner else { panic!("{name} is no struct") };
        let fields: Vec<_> = members.iter().map(|it| (it.name.as_deref().unwrap(), it.offset as usize)).collect();
        assert_eq!(fields, R::FIELDS);
        assert_eq!(*span as usize, size_of::<R>());
    }

    #[test]
    fn the_structs_inside_rows_match_their_shaders() {
        matches::<super::pace::Pace>("Pace", include_str!("../../shaders/shared/pace.wgsl"));
        matches::<super::moments::Moments>("Moments", include_str!("../../shaders/shared/moments.wgsl"));
    }
}
