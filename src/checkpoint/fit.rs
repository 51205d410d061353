//! Whether a file is of this run, and what of it is.

use super::read::Checkpoint;
use super::schema::{exchanged, json};
use super::value::Value;
use crate::error::Error;
use crate::optim::{Group, Ledger, Outline, Section, Tensor};
use crate::precision::Half;
use std::collections::{HashMap, HashSet};

/// What a partial load took, by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// Tensors that were taken.
    pub loaded: Vec<String>,
    /// Tensors of the run that the file does not have.
    pub missing: Vec<String>,
    /// Tensors of the file that the run does not have.
    pub unexpected: Vec<String>,
    /// Tensors that have another length in the file.
    pub misshapen: Vec<String>,
}

/// What a run is to be once the file's values are in it.
#[derive(Debug)]
pub struct Fitted {
    /// The run's own names and options, with the file's counters.
    pub outline: Outline,
    /// Where the file has values for it; ascending.
    pub sections: Vec<Section>,
    /// What was taken.
    pub report: Report,
}

/// Differences of two values that serialise, field by field.
fn fields(what: &str, file: &impl serde::Serialize, here: &impl serde::Serialize, except: &[&str]) -> Vec<String> {
    let value = |text: Result<String, serde_json::Error>| json(text.unwrap_or_default().as_bytes());
    let (file, here) = (value(serde_json::to_string(file)), value(serde_json::to_string(here)));
    let (Ok(file), Ok(Value::Map(here))) = (file, here) else { return Vec::new() };
    let pairs = here.iter().filter(|(name, _)| !except.contains(&name.as_str()));
    let differ = pairs.map(|(name, here)| (name, file.get(name), here)).filter(|(_, file, here)| file != here);
    differ.map(|(name, file, here)| format!("{what}{name} is {file} in the checkpoint and {here} here")).collect()
}

impl Checkpoint {
    /// Tensors in both, in one, and with another length.
    fn compare(&self, here: &Ledger) -> Report {
        let mut report = Report::default();
        let file = &self.outline.ledger;
        for tensor in here.tensors() {
            let name = tensor.name.clone();
            match file.index(&name).map(|index| file.tensors()[index].length) {
                Ok(length) if length == tensor.length => report.loaded.push(name),
                Ok(_) => report.misshapen.push(name),
                Err(_) => report.missing.push(name),
            }
        }
        let unknown = file.tensors().iter().filter(|tensor| here.index(&tensor.name).is_err());
        report.unexpected = unknown.map(|tensor| tensor.name.clone()).collect();
        report
    }

    /// Everything in which the file's run is another than this one.
    fn differences(&self, here: &Outline, functions: &[usize], report: &Report) -> Vec<String> {
        let (file, own) = (&self.outline.ledger, &here.ledger);
        let mut all: Vec<String> = report.missing.iter().map(|name| format!("`{name}` is missing from it")).collect();
        all.extend(report.unexpected.iter().map(|name| format!("it has `{name}`, which is unknown here")));
        for name in &report.misshapen {
            let [got, expected] = [file, own].map(|it| it.index(name).map_or(0, |index| it.tensors()[index].length));
            all.push(format!("`{name}` has {got} values in the checkpoint and {expected} here"));
        }
        for name in &report.loaded {
            let (Ok(theirs), Ok(ours)) = (file.index(name), own.index(name)) else { continue };
            let (theirs, ours) = (file.tensors()[theirs].group, own.tensors()[ours].group);
            if theirs != ours {
                all.push(format!("`{name}` is in group {theirs} in the checkpoint and in {ours} here"));
            }
        }
        for (name, [theirs, ours]) in self.formats(here, report) {
            all.push(format!("`{name}` is {theirs} in the checkpoint and {ours} here"));
        }
        if file.groups().len() != own.groups().len() {
            let (theirs, ours) = (file.groups().len(), own.groups().len());
            all.push(format!("there are {theirs} groups in the checkpoint and {ours} here"));
        }
        for (index, (theirs, ours)) in file.groups().iter().zip(own.groups()).enumerate() {
            let calls = [&self.functions, functions].map(|list| list.contains(&index));
            all.extend(group_differences(index, theirs, ours, calls));
        }
        // How work is cut and what is told of it change no value.
        all.extend(fields("", file.control(), own.control(), &["valuesPerSubmit", "history"]));
        all
    }

    fn formats(&self, here: &Outline, report: &Report) -> Vec<(String, [&'static str; 2])> {
        let name = |half: Option<Half>| half.map_or("f32", Half::name);
        let pair = |tensor: &String| {
            let index = |outline: &Outline| outline.ledger.index(tensor).ok().and_then(|index| outline.halves[index]);
            (tensor.clone(), [name(index(&self.outline)), name(index(here))])
        };
        report.loaded.iter().map(pair).filter(|(_, [theirs, ours])| theirs != ours).collect()
    }

    /// What the run is to be. Strictly, its tensors, rule and options must be the file's; `partial` takes what tensors and
    /// slots there are in both, and keeps the run's options. `functions` are the groups whose learning rate is a function.
    ///
    /// # Errors
    /// [`Error::CheckpointMismatch`] with every difference.
    pub fn fit(&self, here: &Outline, functions: &[usize], partial: bool) -> Result<Fitted, Error> {
        let (file, own) = (&self.outline.ledger, &here.ledger);
        if file.entry().kind != own.entry().kind {
            let (theirs, ours) = (file.entry().class, own.entry().class);
            let differences = vec![format!("it is of {theirs}, this is {ours}")];
            return Err(Error::CheckpointMismatch { differences });
        }
        let report = self.compare(own);
        let differences = self.differences(here, functions, &report);
        if !partial && !differences.is_empty() {
            return Err(Error::CheckpointMismatch { differences });
        }
        let mut ledger = own.clone();
        let place = |it: &Tensor| file.index(&it.name).ok().filter(|place| file.tensors()[*place].length == it.length);
        let places: Vec<Option<usize>> = own.tensors().iter().map(place).collect();
        let (from, mut counters) = (file.counters(), own.counters());
        (counters.steps, counters.skipped) = (from.steps, from.skipped);
        counters.swapped = if file.ema().is_ok() && own.ema().is_ok() { from.swapped } else { counters.swapped };
        for (count, place) in counters.tensors.iter_mut().zip(&places) {
            *count = place.map_or(*count, |place| from.tensors[place]);
            count.steps = count.steps.min(from.steps);
        }
        ledger.resume(&counters);
        let same = file.control().scaling() == own.control().scaling();
        let mut progress = if same { self.outline.progress.clone().arranged(&places) } else { here.progress.clone() };
        progress.keep(own.control().history);
        let sections = self.sections_for(&ledger, &places);
        Ok(Fitted { outline: Outline { ledger, halves: here.halves.clone(), progress }, sections, report })
    }

    fn sections_for(&self, own: &Ledger, places: &[Option<usize>]) -> Vec<Section> {
        let turned = self.outline.ledger.is_swapped() != own.is_swapped();
        let known: HashSet<_> = own.sections().iter().map(|it| (it.set, it.tensor)).collect();
        let own = places.iter().enumerate().filter_map(|(own, place)| Some(((*place)?, own)));
        let own: HashMap<usize, usize> = own.collect();
        let section = |it: &Section| {
            let (set, tensor, values) = (exchanged(it.set, turned), *own.get(&it.tensor)?, it.values.clone());
            known.contains(&(set, tensor)).then_some(Section { set, tensor, values })
        };
        self.sections.iter().filter_map(section).collect()
    }
}

fn group_differences(index: usize, file: &Group, here: &Group, [theirs, ours]: [bool; 2]) -> Vec<String> {
    let what = format!("group {index}: ");
    if theirs != ours {
        let (has, wants) = if theirs { ("a function", "none") } else { ("none", "a function") };
        return vec![format!("{what}lr is {has} of the step in the checkpoint and {wants} here")];
    }
    let scheduled = theirs || file.schedule.is_some() || here.schedule.is_some();
    let mut all = fields(&what, &file.rule, &here.rule, if scheduled { &["lr"] } else { &[] });
    if file.schedule != here.schedule {
        let text = |group: &Group| serde_json::to_string(&group.schedule).unwrap_or_default();
        all.push(format!("{what}the schedule is {} in the checkpoint and {} here", text(file), text(here)));
    }
    all
}
