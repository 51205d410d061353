//! Training on the CPU: the reference that judges the kernels, and the fallback where there is no WebGPU.

use super::progress::Decision;
use super::rule::Now;
use super::state::{HostState, Outline, Values};
use super::{Group, Groups, Ledger, Section, Summary};
use crate::error::Error;
use crate::precision::Half;

/// Parameters and slots in main memory, stepped by the CPU reference.
///
/// ```
/// use webgpu_optim::{AdamW, HostTrainer};
/// let mut trainer = HostTrainer::new(AdamW::default(), &[("w", &[1.0, 2.0, 3.0]), ("b", &[0.5])])?;
/// trainer.step(&[("w", &[0.1, 0.2, 0.3]), ("b", &[0.4])])?;
/// assert!(trainer.params("b")?[0] < 0.5);
/// assert_eq!(trainer.slot("b", "exp_avg")?.len(), 1);
/// # Ok::<(), webgpu_optim::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct HostTrainer {
    state: HostState,
}

fn lengths<'a>(grads: &[(&'a str, &[f32])]) -> Vec<(&'a str, usize)> {
    grads.iter().map(|(name, values)| (*name, values.len())).collect()
}

impl HostTrainer {
    /// Takes a rule (or [`Groups`]) and copies the initial parameters.
    ///
    /// # Errors
    /// As [`Ledger::new`].
    pub fn new(rule: impl Into<Groups>, params: &[(&str, &[f32])]) -> Result<Self, Error> {
        let lengths: Vec<_> = params.iter().map(|(name, values)| (*name, values.len())).collect();
        let ledger = Ledger::new(rule.into(), &lengths)?;
        let mut state = HostState::empty(Outline::new(ledger));
        for (values, (_, params)) in state.values.iter_mut().zip(params) {
            values.params = params.to_vec();
            if !values.average.is_empty() {
                values.average = params.to_vec();
            }
        }
        Ok(Self { state })
    }

    /// Goes on with a run, wherever it was before.
    pub fn resumed(state: HostState) -> Self {
        Self { state }
    }

    /// With a model that has 16 bits elsewhere: a format a tensor, which a checkpoint keeps and a device takes up.
    pub fn in_formats(mut self, halves: Vec<Option<Half>>) -> Self {
        self.state.outline.halves = halves;
        self
    }

    /// Lets the run be as a checkpoint has it: what [`Checkpoint::fit`](crate::checkpoint::Checkpoint::fit) gives for this
    /// run, and the file's values.
    ///
    /// # Panics
    /// For sections of another run.
    pub fn resume(&mut self, outline: Outline, sections: &[Section], values: &[f32]) {
        self.state.resume(outline, sections, values);
    }

    /// The run as it stands.
    pub fn state(&self) -> &HostState {
        &self.state
    }

    /// One step. `grads` holds one value a parameter; tensors without a gradient stay untouched.
    ///
    /// # Errors
    /// [`Error::UnknownParam`], [`Error::LengthMismatch`], and [`Error::InvalidConfig`] for a name given twice; nothing
    /// has changed then.
    pub fn step(&mut self, grads: &[(&str, &[f32])]) -> Result<(), Error> {
        let HostState { outline: Outline { ledger, progress, .. }, values } = &mut self.state;
        let present = ledger.fit_all(&lengths(grads))?;
        ledger.no_window()?;
        let keep = ledger.control().history;
        let before: Vec<Vec<f32>> = match keep {
            0 => Vec::new(),
            _ => values.iter().map(|it| it.params.clone()).collect(),
        };
        let given = present.iter().copied().zip(grads.iter().map(|(_, values)| *values));
        let decision = progress.decide(ledger.control(), given);
        let skip = decision.skip;
        match skip {
            true => ledger.skip(),
            false => self.take(&present, grads, decision),
        }
        let HostState { outline: Outline { ledger, progress, .. }, values } = &mut self.state;
        if keep > 0 {
            let pairs = before.iter().zip(values.iter()).map(|(before, it)| [before.as_slice(), it.params.as_slice()]);
            progress.record(keep, ledger.asked(), skip, pairs);
        }
        Ok(())
    }

    fn take(&mut self, present: &[usize], grads: &[(&str, &[f32])], Decision { factors, limit, .. }: Decision) {
        let mut grads = grads.iter().zip(factors);
        let values = &mut self.state.values;
        self.state.outline.ledger.advance(Some(present), |index, group, now| {
            let Values { params, slots, .. } = &mut values[index];
            let slots = slots.each_mut().map(|slot| slot.as_mut_slice());
            if let Some(((_, grads), factor)) = grads.next() {
                group.rule.step(&Now { factor, limit, ..*now }, params, grads, slots);
            }
        });
        self.update_averages();
    }

    fn update_averages(&mut self) {
        let Ok(ema) = self.state.outline.ledger.ema() else { return };
        let share = ema.share(self.state.outline.ledger.steps()) as f32;
        for Values { params, average, .. } in &mut self.state.values {
            average.iter_mut().zip(params).for_each(|(average, param)| *average += share * (*param - *average));
        }
    }

    /// The moving average of a tensor's parameters.
    ///
    /// # Errors
    /// [`Error::UnknownParam`]; [`Error::Unsupported`] for a run without [`Ema`](crate::Ema).
    pub fn average(&self, name: &str) -> Result<&[f32], Error> {
        self.state.average(name)
    }

    /// Puts the averages in the parameters' place, or the parameters back in theirs. No step is taken while the
    /// averages stand there.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a run without [`Ema`](crate::Ema).
    pub fn swap_ema(&mut self) -> Result<(), Error> {
        self.state.outline.ledger.swap()?;
        self.state.values.iter_mut().for_each(|it| std::mem::swap(&mut it.params, &mut it.average));
        Ok(())
    }

    /// Adds the gradients of a micro-batch to the weighted mean that [`HostTrainer::step_accumulated`] takes. A weight
    /// is a number of samples or tokens; 0 adds nothing.
    ///
    /// # Errors
    /// As [`HostTrainer::step`]; [`Error::InvalidConfig`] for a weight that is negative or not finite.
    pub fn accumulate(&mut self, grads: &[(&str, &[f32])], weight: f64) -> Result<(), Error> {
        let present = self.state.outline.ledger.fit_all(&lengths(grads))?;
        let shares = self.state.outline.ledger.weigh(Some(&present), weight)?;
        for (index, (_, grads)) in present.into_iter().zip(grads) {
            let (mean, share) = (&mut self.state.values[index].mean, shares[index] as f32);
            if share == 1.0 {
                *mean = grads.to_vec();
            } else {
                mean.iter_mut().zip(*grads).for_each(|(mean, grad)| *mean += share * (grad - *mean));
            }
        }
        Ok(())
    }

    /// One step with the weighted mean of the gradients accumulated since the last.
    ///
    /// # Errors
    /// [`Error::InvalidConfig`] when there are none.
    pub fn step_accumulated(&mut self) -> Result<(), Error> {
        self.state.outline.ledger.not_swapped()?;
        let waiting = self.state.outline.ledger.close_window();
        if waiting.is_empty() {
            return Err(Error::invalid("no gradients were accumulated"));
        }
        let take = |index: usize| {
            (
                self.state.outline.ledger.tensors()[index].name.clone(),
                std::mem::take(&mut self.state.values[index].mean),
            )
        };
        let means: Vec<(String, Vec<f32>)> = waiting.into_iter().map(take).collect();
        let grads: Vec<_> = means.iter().map(|(name, mean)| (name.as_str(), mean.as_slice())).collect();
        self.step(&grads)
    }

    /// How the run stands: steps taken and skipped, norm and clipping of the last step, loss scale. None for a run
    /// whose [`Control`](crate::Control) asks for nothing.
    pub fn summary(&self) -> Option<Summary> {
        self.state.summary()
    }

    /// Replaces the options of a group from the next step on; see [`Ledger::set`].
    ///
    /// # Errors
    /// As [`Ledger::set`].
    pub fn set(&mut self, index: usize, group: Group) -> Result<(), Error> {
        self.state.outline.ledger.set(index, group)?;
        self.state.add_slots();
        Ok(())
    }

    /// Replaces a group's learning rate, and with it any schedule.
    ///
    /// # Errors
    /// As [`Ledger::set`].
    pub fn set_lr(&mut self, index: usize, lr: f64) -> Result<(), Error> {
        let group = self.state.outline.ledger.with_lr(index, lr)?;
        self.set(index, group)
    }

    /// The parameters of a tensor.
    ///
    /// # Errors
    /// [`Error::UnknownParam`].
    pub fn params(&self, name: &str) -> Result<&[f32], Error> {
        self.state.params(name)
    }

    /// A slot of a tensor, by PyTorch's name for it.
    ///
    /// # Errors
    /// [`Error::UnknownParam`]; [`Error::InvalidConfig`] when these options have no such slot.
    pub fn slot(&self, name: &str, slot: &str) -> Result<&[f32], Error> {
        self.state.slot(name, slot)
    }

    /// Names, groups and counters.
    pub fn ledger(&self) -> &Ledger {
        &self.state.outline.ledger
    }
}
