//! The JSON behind a file's tensors.

use super::value::Value;
use crate::error::Error;
use crate::optim::rule::Binding;
use crate::optim::{AnyRule, Control, Count, Group, Groups, Ledger, Outline, Progress, Schedule};
use crate::precision::Half;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The schema that is written; all up to it are read.
pub const SCHEMA: u64 = 1;

/// The name of its line of metadata.
pub(super) const KEY: &str = "webgpu-optim";

/// Counters are 32 bits wide on a device.
const MOST_STEPS: u64 = u32::MAX as u64;

/// What every schema begins with.
#[derive(Deserialize)]
pub(super) struct Versions {
    pub schema: u64,
    pub version: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Meta<Options> {
    pub schema: u64,
    pub version: String,
    pub kind: String,
    pub groups: Vec<GroupMeta<Options>>,
    pub control: Control,
    pub steps: u64,
    pub skipped: u64,
    pub swapped: bool,
    pub tensors: Vec<TensorMeta>,
    pub progress: Progress,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct GroupMeta<Options> {
    pub options: Options,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Schedule>,
    /// Whether the learning rate is a function of the caller's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub function: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct TensorMeta {
    pub name: String,
    pub group: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dtype: Option<Half>,
    /// Of its own.
    pub steps: u64,
    pub seeded: bool,
    /// Of gradients that wait.
    pub weight: f64,
}

/// JSON as a value, or why it is none.
pub(super) fn json(text: &[u8]) -> Result<Value, Error> {
    serde_json::from_slice(text).map_err(|why| invalid(why.to_string()))
}

/// What a value says.
pub(super) fn decode<T: DeserializeOwned>(value: Value) -> Result<T, Error> {
    T::deserialize(value).map_err(|why| invalid(why.to_string()))
}

pub(super) fn invalid(what: impl Into<String>) -> Error {
    Error::InvalidCheckpoint { what: what.into() }
}

/// The name of a set of tensors. Where averages and parameters have changed places, a file has both under their own names.
pub(super) fn set_name(ledger: &Ledger, set: Binding) -> &'static str {
    match exchanged(set, ledger.is_swapped()) {
        Binding::Params => "params",
        Binding::Averages => "ema",
        Binding::Slot(slot) => ledger.entry().slots[slot],
        _ => "mean",
    }
}

/// The set of a section where averages and parameters stand as `swapped` says.
pub(super) fn exchanged(set: Binding, swapped: bool) -> Binding {
    match set {
        Binding::Params if swapped => Binding::Averages,
        Binding::Averages if swapped => Binding::Params,
        other => other,
    }
}

impl Meta<AnyRule> {
    pub fn of(outline: &Outline, functions: &[usize], extra: Option<&str>) -> Self {
        let ledger = &outline.ledger;
        let counters = ledger.counters();
        let group = |(index, group): (usize, &Group)| GroupMeta {
            options: group.rule.clone(),
            schedule: group.schedule.clone(),
            function: functions.contains(&index),
        };
        let tensors = ledger.tensors().iter().zip(&outline.halves).zip(&counters.tensors);
        Self {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION").into(),
            kind: ledger.entry().kind.into(),
            groups: ledger.groups().iter().enumerate().map(group).collect(),
            control: ledger.control().clone(),
            steps: counters.steps,
            skipped: counters.skipped,
            swapped: counters.swapped,
            tensors: tensors
                .map(|((page, dtype), count)| TensorMeta {
                    name: page.name.clone(),
                    group: page.group,
                    dtype: *dtype,
                    steps: count.steps,
                    seeded: count.seeded,
                    weight: count.weight,
                })
                .collect(),
            progress: outline.progress.clone(),
            extra: extra.map(str::to_owned),
        }
    }
}

impl Meta<Value> {
    /// The run, of tensors of the given lengths, once everything in it makes sense.
    pub fn outline(&self, lengths: &[usize]) -> Result<Outline, Error> {
        let names = |group: usize| self.tensors.iter().filter(move |it| it.group == group && group > 0);
        let mut list = Vec::with_capacity(self.groups.len());
        for (index, group) in self.groups.iter().enumerate() {
            let rule = AnyRule::decode(&self.kind, group.options.clone())
                .map_err(|why| invalid(format!("group {index}: {why}")))?;
            let names = names(index).map(|it| it.name.clone()).collect();
            list.push(Group { rule, schedule: group.schedule.clone(), names });
        }
        if list.is_empty() || self.tensors.iter().any(|it| it.group >= list.len()) {
            return Err(invalid("a tensor belongs to a group that is not there"));
        }
        let tensors: Vec<_> =
            self.tensors.iter().zip(lengths).map(|(it, length)| (it.name.as_str(), *length)).collect();
        let groups = Groups { list, control: self.control.clone() };
        let mut ledger = Ledger::new(groups, &tensors).map_err(|why| invalid(why.to_string()))?;
        self.check()?;
        let tensors =
            self.tensors.iter().map(|it| Count { steps: it.steps, seeded: it.seeded, weight: it.weight }).collect();
        let (steps, skipped, swapped) = (self.steps, self.skipped, self.swapped);
        ledger.resume(&crate::optim::Counters { steps, skipped, swapped, tensors });
        let halves = self.tensors.iter().map(|it| it.dtype).collect();
        Ok(Outline { ledger, halves, progress: self.progress.clone() })
    }

    fn check(&self) -> Result<(), Error> {
        let ensure = |ok: bool, what: &str| if ok { Ok(()) } else { Err(invalid(what)) };
        let positive = |value: f64| value.is_finite() && value > 0.0;
        let norm = |value: f64| value.is_finite() && value >= 0.0;
        ensure(self.steps.saturating_add(self.skipped) <= MOST_STEPS, "a counter is out of range")?;
        for TensorMeta { name, steps, weight, .. } in &self.tensors {
            ensure(*steps <= self.steps, &format!("`{name}` has taken more steps than the run"))?;
            ensure(norm(*weight), &format!("the weight of `{name}` must be finite and at least 0"))?;
        }
        ensure(!self.swapped || self.control.ema.is_some(), "averages have changed places that are not kept")?;
        let Progress { scale, good, norms, grad_norm, clip_factor, divisor, history } = &self.progress;
        let scaling = self.control.scaling();
        ensure((scaling.min..=scaling.max).contains(&(*scale as f32)), "the loss scale is out of its range")?;
        ensure(*good < scaling.growth_interval, "the loss scale should have grown")?;
        ensure(norm(*grad_norm) && positive(*divisor) && norm(*clip_factor), "a norm is out of range")?;
        ensure(
            norms.len() == self.tensors.len() && norms.iter().all(|it| norm(it.norm)),
            "there is not one norm a tensor",
        )?;
        ensure(history.len() <= self.control.history as usize, "more steps are kept than were asked for")?;
        for record in history {
            let own = norm(record.grad_norm) && norm(record.clip_factor) && positive(record.loss_scale);
            let moves = record.tensors.iter().all(|it| norm(it.grad.norm) && norm(it.update) && norm(it.param));
            ensure(own && moves && record.tensors.len() == self.tensors.len(), "a kept step is out of range")?;
            ensure((1..=self.steps + self.skipped).contains(&record.step), "a kept step has a wrong number")?;
        }
        Ok(())
    }
}
