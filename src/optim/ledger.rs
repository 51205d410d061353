//! The ledger of a training run: names, lengths, groups and step counters, on whatever device the values are.

use super::rule::{MAX_SLOTS, Now, Pass, Used};
use super::{Control, Ema, Entry, Group, Groups};
use crate::error::Error;
use std::collections::HashMap;

/// One tensor's page in the ledger.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    /// Its name.
    pub name: String,
    /// Number of values.
    pub length: usize,
    /// Index of its group.
    pub group: usize,
    /// Steps it has taken itself: a step without its gradient does not count. Where the device decides on skipping, it
    /// keeps its own count, and this one counts the steps asked for.
    pub steps: u64,
    /// Whether a step has written its slots.
    pub seeded: bool,
}

/// Names, lengths, groups and counters of a run; counts steps and prepares the rows that kernels read.
#[derive(Debug, Clone, PartialEq)]
pub struct Ledger {
    groups: Vec<Group>,
    control: Control,
    pub(super) tensors: Vec<Tensor>,
    by_name: HashMap<String, usize>,
    pub(super) steps: u64,
    pub(super) skipped: u64,
    used: Used,
    pub(super) weights: Vec<f64>,
    pub(super) swapped: bool,
}

impl Ledger {
    /// Opens a ledger for tensors given by name and length.
    ///
    /// # Errors
    /// [`Error::InvalidConfig`] for an empty set, a repeated name, options out of range;
    /// [`Error::UnknownParam`] for a group that names a tensor there is not.
    pub fn new(groups: Groups, tensors: &[(&str, usize)]) -> Result<Self, Error> {
        groups.check()?;
        if tensors.is_empty() {
            return Err(Error::invalid("the parameter set is empty"));
        }
        let Groups { list: groups, control } = groups;
        let (empty, by_name) = (Vec::new(), HashMap::new());
        let mut ledger = Self {
            groups,
            control,
            tensors: empty,
            by_name,
            steps: 0,
            skipped: 0,
            used: [false; MAX_SLOTS],
            weights: Vec::new(),
            swapped: false,
        };
        for &(name, length) in tensors {
            let group = ledger.groups.iter().position(|group| group.names.iter().any(|n| n == name)).unwrap_or(0);
            if ledger.by_name.insert(name.to_owned(), ledger.tensors.len()).is_some() {
                return Err(Error::invalid(format!("two parameters are called `{name}`")));
            }
            ledger.tensors.push(Tensor { name: name.to_owned(), length, group, steps: 0, seeded: false });
        }
        for name in ledger.groups.iter().flat_map(|group| &group.names) {
            ledger.index(name)?;
        }
        ledger.used = ledger.needed();
        ledger.weights = vec![0.0; tensors.len()];
        Ok(ledger)
    }

    /// The rule's line in the registry.
    pub fn entry(&self) -> &'static Entry {
        self.groups[0].rule.entry()
    }

    /// The tensors, in the order they were given.
    pub fn tensors(&self) -> &[Tensor] {
        &self.tensors
    }

    /// The groups; the first is the one for all tensors that no other names.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// One group.
    ///
    /// # Errors
    /// [`Error::InvalidConfig`] for a group there is not.
    pub fn group(&self, index: usize) -> Result<&Group, Error> {
        let count = self.groups.len();
        self.groups
            .get(index)
            .ok_or_else(|| Error::invalid(format!("there is no group {index}; groups are 0 to {}", count - 1)))
    }

    /// What is decided once a step.
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// The most values that one submission updates; see [`Control::values_per_submit`].
    pub fn values_per_submit(&self) -> u64 {
        self.control.values_per_submit.unwrap_or(u64::MAX)
    }

    /// The learning rate of each group at a 0-based step.
    pub fn lrs(&self, step: u64) -> Vec<f64> {
        self.groups.iter().map(|group| group.lr(step)).collect()
    }

    /// Steps taken; schedules follow it. Where the device decides on skipping, the steps taken when the run began here, and
    /// all that were asked for since.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Steps asked for, whether they were taken or skipped.
    pub fn asked(&self) -> u64 {
        self.steps + self.skipped
    }

    /// Which slots exist.
    pub fn used(&self) -> Used {
        self.used
    }

    /// The dispatches of a step.
    pub fn passes(&self) -> &'static [Pass] {
        (self.entry().passes)(self.used)
    }

    /// Names and places of the slots that exist.
    pub fn slots(&self) -> impl Iterator<Item = (usize, &'static str)> {
        let used = self.used;
        self.entry().slots.iter().copied().enumerate().filter(move |(slot, _)| used[*slot])
    }

    /// The place of a slot.
    ///
    /// # Errors
    /// [`Error::InvalidConfig`] when the options have no such slot.
    pub fn slot(&self, name: &str) -> Result<usize, Error> {
        let place = self.slots().find(|(_, known)| *known == name).map(|(place, _)| place);
        place.ok_or_else(|| Error::invalid(format!("{} with these options has no slot {name}", self.entry().class)))
    }

    /// The value that a slot of a tensor starts with.
    pub fn initial(&self, tensor: usize, slot: usize) -> f32 {
        self.groups[self.tensors[tensor].group].rule.initial(slot)
    }

    /// The place of a tensor.
    ///
    /// # Errors
    /// [`Error::UnknownParam`].
    pub fn index(&self, name: &str) -> Result<usize, Error> {
        self.by_name.get(name).copied().ok_or_else(|| {
            let mut known: Vec<&str> = self.tensors.iter().take(8).map(|tensor| tensor.name.as_str()).collect();
            if self.tensors.len() > known.len() {
                known.push("...");
            }
            Error::UnknownParam { name: name.to_owned(), known: known.join(", ") }
        })
    }

    /// The place of a tensor, once an array meant for it has the right number of values.
    ///
    /// # Errors
    /// [`Error::UnknownParam`], [`Error::LengthMismatch`].
    pub fn fit(&self, what: &'static str, name: &str, got: usize) -> Result<usize, Error> {
        let index = self.index(name)?;
        let expected = self.tensors[index].length;
        if got == expected {
            return Ok(index);
        }
        Err(Error::LengthMismatch { what, name: name.to_owned(), got, expected })
    }

    /// The places of all tensors in `grads`, given by name and length, once every length fits.
    ///
    /// # Errors
    /// [`Error::UnknownParam`], [`Error::LengthMismatch`]; [`Error::InvalidConfig`] for a name given twice.
    pub fn fit_all(&self, grads: &[(&str, usize)]) -> Result<Vec<usize>, Error> {
        let mut present = Vec::with_capacity(grads.len());
        let mut seen = vec![false; self.tensors.len()];
        for (name, length) in grads {
            let index = self.fit("grads", name, *length)?;
            if std::mem::replace(&mut seen[index], true) {
                return Err(Error::invalid(format!("grads holds `{name}` twice")));
            }
            present.push(index);
        }
        Ok(present)
    }

    /// Adds a micro-batch of the given weight to the window of the tensors in `present` (all when `None`).
    /// What comes back is its share of each tensor's weighted mean: 1 for the first, 0 where the mean stays.
    ///
    /// # Errors
    /// [`Error::InvalidConfig`] for a weight that is negative or not finite.
    pub fn weigh(&mut self, present: Option<&[usize]>, weight: f64) -> Result<Vec<f64>, Error> {
        self.check_weight(weight)?;
        let mut shares = vec![0.0; self.tensors.len()];
        let all = 0..if present.is_none() { self.tensors.len() } else { 0 };
        for index in present.unwrap_or_default().iter().copied().chain(all).filter(|_| weight > 0.0) {
            self.weights[index] += weight;
            shares[index] = weight / self.weights[index];
        }
        Ok(shares)
    }

    /// Refuses a weight that is negative or not finite.
    pub(crate) fn check_weight(&self, weight: f64) -> Result<(), Error> {
        super::check::non_negative("weight", weight)
    }

    /// The tensors that have a mean waiting; the window is closed with that.
    pub fn close_window(&mut self) -> Vec<usize> {
        let waiting = self.weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0).map(|(index, _)| index);
        let waiting = waiting.collect();
        self.weights.fill(0.0);
        waiting
    }

    /// Whether a window of accumulated gradients is open.
    pub fn is_accumulating(&self) -> bool {
        self.weights.iter().any(|weight| *weight > 0.0)
    }

    /// The moving average that is kept.
    ///
    /// # Errors
    /// [`Error::Unsupported`] when there is none.
    pub fn ema(&self) -> Result<&Ema, Error> {
        let none = || Error::Unsupported { what: "no average is kept: the option ema asks for one".into() };
        self.control.ema.as_ref().ok_or_else(none)
    }

    /// Notes that averages and parameters change places.
    pub(crate) fn swap(&mut self) -> Result<(), Error> {
        self.ema()?;
        self.swapped = !self.swapped;
        Ok(())
    }

    /// Refuses a step while the averages stand in the parameters' place.
    pub(crate) fn not_swapped(&self) -> Result<(), Error> {
        if self.swapped {
            return Err(Error::invalid("the averages stand in the parameters' place: swap them back to step"));
        }
        Ok(())
    }

    /// Refuses gradients while accumulated ones wait for a step of their own.
    pub(crate) fn no_window(&self) -> Result<(), Error> {
        self.not_swapped()?;
        if self.is_accumulating() {
            return Err(Error::invalid("accumulated gradients are waiting: step without gradients takes them"));
        }
        Ok(())
    }

    /// Replaces a group's options and schedule. Slots and counters stay; slots that become needed are added.
    ///
    /// # Errors
    /// [`Error::InvalidConfig`] for options out of range, of another rule, or a group there is not.
    pub fn set(&mut self, index: usize, group: Group) -> Result<(), Error> {
        group.check(self.entry().class)?;
        let names = self.group(index)?.names.clone();
        self.groups[index] = Group { names, ..group };
        let needed = self.needed();
        self.used = std::array::from_fn(|slot| self.used[slot] || needed[slot]);
        Ok(())
    }

    /// A group with another learning rate and no schedule, for [`Ledger::set`].
    ///
    /// # Errors
    /// [`Error::InvalidConfig`] for a group there is not.
    pub fn with_lr(&self, index: usize, lr: f64) -> Result<Group, Error> {
        let mut group = Group { schedule: None, ..self.group(index)?.clone() };
        *group.rule.lr_mut() = lr;
        Ok(group)
    }

    /// Counts a step that was skipped.
    pub(super) fn skip(&mut self) {
        self.skipped += 1;
    }

    fn needed(&self) -> Used {
        std::array::from_fn(|slot| self.groups.iter().any(|group| group.rule.used()[slot]))
    }

    /// Counts one step of the tensors in `present` (all when `None`), handing each with its group and [`Now`] to `act`.
    pub fn advance(&mut self, present: Option<&[usize]>, mut act: impl FnMut(usize, &Group, &Now)) {
        let lrs = self.lrs(self.steps);
        let all = 0..if present.is_none() { self.tensors.len() } else { 0 };
        for index in present.unwrap_or_default().iter().copied().chain(all) {
            let tensor = &mut self.tensors[index];
            let group = &self.groups[tensor.group];
            tensor.steps += 1;
            act(
                index,
                group,
                &Now { lr: lrs[tensor.group], t: tensor.steps, seeded: tensor.seeded, factor: 1.0, limit: 0.0 },
            );
            tensor.seeded |= group.rule.used()[0];
        }
        self.steps += 1;
    }
}
