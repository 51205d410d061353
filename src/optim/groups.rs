//! Parameter groups: which options hold for which tensors.

use super::{AnyRule, Clip, Control, Ema, LossScale, Nonfinite, Schedule};
use crate::error::Error;

/// Options that hold for some tensors.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The rule with its options.
    pub rule: AnyRule,
    /// Where the learning rate comes from, when not from the options.
    pub schedule: Option<Schedule>,
    /// Names of the tensors; empty for the group that takes all others.
    pub names: Vec<String>,
}

impl Group {
    /// Refuses options of a rule other than `class`, and options or a schedule out of range.
    pub(super) fn check(&self, class: &str) -> Result<(), Error> {
        let own = self.rule.entry().class;
        if own != class {
            return Err(Error::invalid(format!("{class} cannot take options of {own}")));
        }
        let checked = self.rule.check().and_then(|()| self.schedule.as_ref().map_or(Ok(()), Schedule::check));
        checked.map_err(|error| Error::invalid(format!("{class}: {error}")))
    }

    /// The learning rate at a 0-based step.
    pub fn lr(&self, step: u64) -> f64 {
        self.schedule.as_ref().map_or(self.rule.lr(), |schedule| schedule.at(step))
    }
}

/// A rule and its groups. The first group takes every tensor that no other names.
///
/// ```
/// use webgpu_optim::{AdamW, Groups, HostTrainer};
/// let groups = Groups::new(AdamW::default()).group(&["b"], AdamW { weight_decay: 0.0, ..AdamW::default() });
/// let trainer = HostTrainer::new(groups, &[("w", &[1.0, 2.0]), ("b", &[0.0])])?;
/// # Ok::<(), webgpu_optim::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Groups {
    pub(crate) list: Vec<Group>,
    pub(crate) control: Control,
}

impl Groups {
    /// All tensors in one group.
    pub fn new(rule: impl Into<AnyRule>) -> Self {
        let list = vec![Group { rule: rule.into(), schedule: None, names: Vec::new() }];
        Self { list, control: Control::default() }
    }

    /// Adds a group for the tensors in `names`; where two groups name one tensor, the first holds.
    pub fn group(mut self, names: &[&str], rule: impl Into<AnyRule>) -> Self {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        self.list.push(Group { rule: rule.into(), schedule: None, names });
        self
    }

    /// Lets the learning rate of the group added last follow `schedule`.
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        if let Some(group) = self.list.last_mut() {
            group.schedule = Some(schedule);
        }
        self
    }

    /// Bounds gradients.
    pub fn clip(mut self, clip: Clip) -> Self {
        self.control.clip = Some(clip);
        self
    }

    /// What to do with gradients that hold an infinity or NaN.
    pub fn nonfinite(mut self, nonfinite: Nonfinite) -> Self {
        self.control.nonfinite = nonfinite;
        self
    }

    /// What the loss is multiplied by, and so the gradients are to be divided by.
    pub fn loss_scale(mut self, scale: LossScale) -> Self {
        self.control.loss_scale = Some(scale);
        self
    }

    /// Keeps a moving average of the parameters.
    pub fn ema(mut self, ema: Ema) -> Self {
        self.control.ema = Some(ema);
        self
    }

    /// Keeps the last `steps` with the norms of every tensor; see [`Control::history`].
    pub fn history(mut self, steps: u32) -> Self {
        self.control.history = steps;
        self
    }

    /// Bounds the work of one submission to a device; see [`Control::values_per_submit`].
    pub fn values_per_submit(mut self, values: u64) -> Self {
        self.control.values_per_submit = Some(values);
        self
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        self.control.check()?;
        let class = self.list[0].rule.entry().class;
        self.list.iter().try_for_each(|group| group.check(class))
    }
}

impl<R: Into<AnyRule>> From<R> for Groups {
    fn from(rule: R) -> Self {
        Self::new(rule)
    }
}
