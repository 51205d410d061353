//! A run in main memory: the one form for training on the CPU, checkpoints, snapshots and moves between devices.

use super::rule::{Binding, MAX_SLOTS};
use super::{Ledger, Progress, Summary};
use crate::error::Error;
use crate::precision::Half;
use std::collections::HashMap;
use std::ops::Range;

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Values {
    pub params: Vec<f32>,
    pub slots: [Vec<f32>; MAX_SLOTS],
    pub mean: Vec<f32>,
    pub average: Vec<f32>,
}

/// One tensor of a run's state: its parameters, a slot, its average, or its accumulated gradient.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// Which of them.
    pub set: Binding,
    /// The tensor, in the ledger's order.
    pub tensor: usize,
    /// Where its values stand among those of all sections.
    pub values: Range<u64>,
}

/// How many values there are in all sections.
pub(crate) fn extent(sections: &[Section]) -> u64 {
    sections.last().map_or(0, |section| section.values.end)
}

/// Sections that share values with `range`, each with its own part of it; sections ascend.
fn overlapping(sections: &[Section], range: Range<u64>) -> impl Iterator<Item = (&Section, Range<u64>)> + use<'_> {
    let first = sections.partition_point(|section| section.values.end <= range.start);
    sections[first..]
        .iter()
        .take_while(move |section| section.values.start < range.end)
        .map(move |section| (section, section.values.start.max(range.start)..section.values.end.min(range.end)))
}

impl Ledger {
    /// All sections of the run's state, one behind the other: set by set, tensors in their order. Gradients that were
    /// accumulated have one while they wait.
    pub fn sections(&self) -> Vec<Section> {
        let slots = self.slots().map(|(slot, _)| Binding::Slot(slot));
        let averages = self.ema().is_ok().then_some(Binding::Averages);
        let sets = [Binding::Params].into_iter().chain(slots).chain(averages).chain([Binding::Means]);
        let waiting = |set, tensor: usize| set != Binding::Means || self.weights[tensor] > 0.0;
        let mut end = 0;
        let mut sections = Vec::new();
        for set in sets {
            for (tensor, page) in self.tensors.iter().enumerate().filter(|(tensor, _)| waiting(set, *tensor)) {
                let start = end;
                end += page.length as u64;
                sections.push(Section { set, tensor, values: start..end });
            }
        }
        sections
    }
}

/// All of a run but its values: names, options, counters, the loss scale.
#[derive(Debug, Clone, PartialEq)]
pub struct Outline {
    /// Names, groups and counters.
    pub ledger: Ledger,
    /// The model's own format of each tensor that has 16 bits there.
    pub halves: Vec<Option<Half>>,
    /// What the control knows.
    pub progress: Progress,
}

impl Outline {
    /// Of a run that has not begun, its model in 32 bits.
    pub fn new(ledger: Ledger) -> Self {
        let tensors = ledger.tensors().len();
        Self { progress: Progress::new(ledger.control(), tensors), halves: vec![None; tensors], ledger }
    }
}

/// A whole run in main memory, as of one moment: parameters, slots, averages and accumulated gradients in 32 bits, options,
/// counters, the loss scale.
#[derive(Debug, Clone, PartialEq)]
pub struct HostState {
    pub(crate) outline: Outline,
    pub(crate) values: Vec<Values>,
}

impl HostState {
    /// Parameters of 0, slots as they are made.
    pub(crate) fn empty(outline: Outline) -> Self {
        let ledger = &outline.ledger;
        let keeps = ledger.ema().is_ok();
        let zeros = |length: usize| vec![0.0; length];
        let values = ledger.tensors().iter().enumerate().map(|(tensor, page)| Values {
            params: zeros(page.length),
            mean: zeros(if ledger.weights[tensor] > 0.0 { page.length } else { 0 }),
            average: zeros(if keeps { page.length } else { 0 }),
            slots: Default::default(),
        });
        let mut state = Self { values: values.collect(), outline };
        state.add_slots();
        state
    }

    pub(super) fn add_slots(&mut self) {
        for (tensor, values) in self.values.iter_mut().enumerate() {
            for (slot, _) in self.outline.ledger.slots() {
                values.slots[slot].resize(values.params.len(), self.outline.ledger.initial(tensor, slot));
            }
        }
    }

    /// Lets the run be as an outline and the values of its sections have it. Its names and options stay.
    pub(crate) fn resume(&mut self, outline: Outline, sections: &[Section], values: &[f32]) {
        for (count, it) in outline.ledger.counters().tensors.iter().zip(&mut self.values) {
            it.mean.resize(if count.weight > 0.0 { it.params.len() } else { 0 }, 0.0);
        }
        self.outline = outline;
        self.write(sections, 0, values);
    }

    pub(crate) fn section(&self, set: Binding, tensor: usize) -> &[f32] {
        let values = &self.values[tensor];
        match set {
            Binding::Slot(slot) => &values.slots[slot],
            Binding::Averages => &values.average,
            Binding::Means => &values.mean,
            _ => &values.params,
        }
    }

    /// Writes a run of values that begins at `at` into the sections it belongs to.
    pub(crate) fn write(&mut self, sections: &[Section], at: u64, values: &[f32]) {
        for (section, part) in overlapping(sections, at..at + values.len() as u64) {
            let of = &mut self.values[section.tensor];
            let into = match section.set {
                Binding::Slot(slot) => &mut of.slots[slot],
                Binding::Averages => &mut of.average,
                Binding::Means => &mut of.mean,
                _ => &mut of.params,
            };
            let (own, from) = ((part.start - section.values.start) as usize, (part.start - at) as usize);
            let count = (part.end - part.start) as usize;
            into[own..own + count].copy_from_slice(&values[from..from + count]);
        }
    }

    /// The values of `range` among those of all sections; see [`Ledger::sections`].
    #[cfg_attr(not(feature = "gpu"), allow(dead_code, reason = "for a device"))]
    pub(crate) fn read(&self, sections: &[Section], range: Range<u64>) -> Vec<f32> {
        let mut values = Vec::with_capacity((range.end - range.start) as usize);
        for (section, part) in overlapping(sections, range) {
            let start = section.values.start;
            let own = self.section(section.set, section.tensor);
            values.extend_from_slice(&own[(part.start - start) as usize..(part.end - start) as usize]);
        }
        values
    }

    /// One of the sets, by name.
    #[cfg_attr(not(feature = "gpu"), allow(dead_code, reason = "for a device"))]
    pub(crate) fn named(&self, set: Binding) -> HashMap<String, Vec<f32>> {
        let of = |(tensor, page): (usize, &super::Tensor)| (page.name.clone(), self.section(set, tensor).to_vec());
        self.ledger().tensors().iter().enumerate().map(of).collect()
    }

    /// How the run stands; see [`HostTrainer::summary`](crate::HostTrainer::summary).
    pub fn summary(&self) -> Option<Summary> {
        let Outline { ledger, progress, .. } = &self.outline;
        progress.summary(ledger.control(), ledger.steps, ledger.skipped)
    }

    /// All but the values.
    pub fn outline(&self) -> &Outline {
        &self.outline
    }

    /// Names, groups and counters.
    pub fn ledger(&self) -> &Ledger {
        &self.outline.ledger
    }

    /// The parameters of a tensor, in 32 bits whatever the model's own format.
    ///
    /// # Errors
    /// [`Error::UnknownParam`].
    pub fn params(&self, name: &str) -> Result<&[f32], Error> {
        Ok(&self.values[self.outline.ledger.index(name)?].params)
    }

    /// A slot of a tensor, by PyTorch's name for it.
    ///
    /// # Errors
    /// [`Error::UnknownParam`]; [`Error::InvalidConfig`] when the options have no such slot.
    pub fn slot(&self, name: &str, slot: &str) -> Result<&[f32], Error> {
        let index = self.outline.ledger.index(name)?;
        Ok(&self.values[index].slots[self.outline.ledger.slot(slot)?])
    }

    /// The moving average of a tensor's parameters.
    ///
    /// # Errors
    /// [`Error::UnknownParam`]; [`Error::Unsupported`] for a run without [`Ema`](crate::Ema).
    pub fn average(&self, name: &str) -> Result<&[f32], Error> {
        self.outline.ledger.ema()?;
        Ok(&self.values[self.outline.ledger.index(name)?].average)
    }
}
