//! The counters of a run, out of its ledger and back into one.

use super::Ledger;

/// The counters of one tensor.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Count {
    /// Steps it has taken itself.
    pub steps: u64,
    /// Whether a step has written its slots.
    pub seeded: bool,
    /// The weights of the gradients accumulated for it.
    pub weight: f64,
}

/// How far a run is.
#[derive(Debug, Clone, PartialEq)]
pub struct Counters {
    /// Steps taken: where its schedules are.
    pub steps: u64,
    /// Steps skipped.
    pub skipped: u64,
    /// Whether the averages stand in the parameters' place.
    pub swapped: bool,
    /// Of each tensor, in the ledger's order.
    pub tensors: Vec<Count>,
}

impl Ledger {
    /// How far the run is, as far as the ledger knows.
    pub fn counters(&self) -> Counters {
        let (steps, skipped, swapped) = (self.steps, self.skipped, self.swapped);
        let count = |(tensor, weight): (&super::Tensor, &f64)| Count {
            steps: tensor.steps,
            seeded: tensor.seeded,
            weight: *weight,
        };
        let tensors = self.tensors.iter().zip(&self.weights).map(count).collect();
        Counters { steps, skipped, swapped, tensors }
    }

    /// Goes on from there.
    pub(crate) fn resume(&mut self, counters: &Counters) {
        (self.steps, self.skipped, self.swapped) = (counters.steps, counters.skipped, counters.swapped);
        for ((tensor, weight), count) in self.tensors.iter_mut().zip(&mut self.weights).zip(&counters.tensors) {
            (tensor.steps, tensor.seeded, *weight) = (count.steps, count.seeded, count.weight);
        }
    }

    /// Whether averages stand in the parameters' place.
    pub(crate) fn is_swapped(&self) -> bool {
        self.swapped
    }
}
