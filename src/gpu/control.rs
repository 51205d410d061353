//! The passes that decide on a step on the device, and their buffers.

use super::arena::{storage, table};
use super::device::Gpu;
use super::pipeline::Shader;
use super::{accumulate, average, half, history};
use crate::optim::control::{Plan, Settings, Standing};
use crate::optim::rule::{Binding, Fields, Over, Pass, Row};
use crate::optim::{Control, Ledger, Summary};

/// How many learning rates the device keeps: a skipped step takes up the rate of its own step later.
/// After more skipped steps than that the schedule goes on. As in `shaders/step/prepare.wgsl`.
const RING: u64 = 4096;

pub(super) const SHADER: Shader = Shader {
    stem: "step",
    source: concat!(
        include_str!("../../shaders/shared/grid.wgsl"),
        include_str!("../../shaders/shared/nonfinite.wgsl"),
        include_str!("../../shaders/shared/reduce.wgsl"),
        include_str!("../../shaders/shared/sums.wgsl"),
        include_str!("../../shaders/step/norm.wgsl"),
        include_str!("../../shaders/step/prepare.wgsl"),
    ),
};

pub(super) const PASSES: &[Pass] = {
    use Binding::{Blocks, Counts, Grads, Norms, Partials, Plans, Rates, Rows, Spans};
    &[
        Pass { entry: "block_norm", over: Over::Blocks, uses: &[Rows, Blocks, Grads, Partials, Binding::Settings] },
        Pass { entry: "tensor_norm", over: Over::Tensors, uses: &[Rows, Partials, Spans, Norms, Binding::Settings] },
        Pass {
            entry: "prepare",
            over: Over::Once,
            uses: &[Rows, Norms, Plans, Rates, Counts, Binding::Standing, Binding::Settings, Binding::Share],
        },
    ]
};

/// A shader that belongs to no rule, as a test compares it with Rust.
#[derive(Debug)]
pub struct Described {
    /// Its name.
    pub stem: &'static str,
    /// The WGSL, shared parts first.
    pub source: &'static str,
    /// The passes in their order.
    pub passes: &'static [Pass],
    /// The structs it shares with Rust.
    pub rows: Vec<(&'static str, Fields)>,
}

#[doc(hidden)]
pub fn described() -> [Described; 5] {
    let rows = vec![("Plan", Plan::FIELDS), ("Standing", Standing::FIELDS), ("Settings", Settings::FIELDS)];
    let of = |shader: Shader, passes, rows| Described { stem: shader.stem, source: shader.source, passes, rows };
    let without = |shader, passes| of(shader, passes, Vec::new());
    let accumulate = without(accumulate::SHADER, accumulate::PASSES);
    let average = without(average::SHADER, average::PASSES);
    let half = without(half::SHADER, &[half::FROM_HALVES, half::TO_HALVES]);
    [of(SHADER, PASSES, rows), accumulate, average, without(history::SHADER, history::PASSES), half]
}

/// The buffers of a controlled run.
#[derive(Debug)]
pub(super) struct ControlBuffers {
    pub norms: wgpu::Buffer,
    pub plans: wgpu::Buffer,
    pub rates: wgpu::Buffer,
    pub counts: wgpu::Buffer,
    pub standing: wgpu::Buffer,
    pub settings: wgpu::Buffer,
    pub records: wgpu::Buffer,
}

fn plans(ledger: &Ledger) -> Vec<Plan> {
    ledger.tensors().iter().map(|tensor| ledger.groups()[tensor.group].rule.plan(tensor.group)).collect()
}

impl ControlBuffers {
    /// Buffers for a ledger with a control; none where it asks for nothing.
    pub fn new(gpu: &Gpu, ledger: &Ledger) -> Option<Self> {
        let control = ledger.control();
        if control.is_none() {
            return None;
        }
        let (tensors, groups) = (ledger.tensors().len(), ledger.groups().len());
        let settings = control.settings(ledger.entry().hyper_size / 4, tensors, groups);
        Some(Self {
            norms: storage(gpu, "norms", tensors as u64 * 8),
            plans: table(gpu, "plans", &plans(ledger)),
            rates: storage(gpu, "rates", RING * groups as u64 * 4),
            counts: storage(gpu, "counts", tensors as u64 * 8),
            standing: table(gpu, "standing", &[Standing::start(control)]),
            settings: table(gpu, "settings", &[settings]),
            records: storage(gpu, "records", history::size(control.history, tensors)),
        })
    }

    /// Tells the device of options that were changed.
    pub fn write_plans(&self, gpu: &Gpu, ledger: &Ledger) {
        gpu.queue.write_buffer(&self.plans, 0, bytemuck::cast_slice(&plans(ledger)));
    }

    /// Tells the device the learning rates of the step that comes next if none is skipped.
    pub fn write_rates(&self, gpu: &Gpu, ledger: &Ledger) {
        let rates: Vec<f32> = ledger.lrs().iter().map(|lr| *lr as f32).collect();
        let at = (ledger.steps() % RING) * rates.len() as u64 * 4;
        gpu.queue.write_buffer(&self.rates, at, bytemuck::cast_slice(&rates));
    }

    /// What a run cannot be made anew without.
    pub fn carried(&self) -> [&wgpu::Buffer; 4] {
        [&self.standing, &self.counts, &self.rates, &self.records]
    }

    pub fn all(&self) -> [&wgpu::Buffer; 7] {
        [&self.norms, &self.plans, &self.rates, &self.counts, &self.standing, &self.settings, &self.records]
    }
}

/// A summary from the words of a standing, of norms and of records.
pub(super) fn summary(words: &[Vec<f32>], control: &Control, tensors: usize) -> Option<Summary> {
    let [standing, norms, records] = words else { return None };
    let bytes = bytemuck::cast_slice::<f32, u8>(standing).get(..size_of::<Standing>())?;
    let norms: Vec<[f32; 2]> = norms.chunks_exact(2).take(tensors).map(|pair| [pair[0], pair[1]]).collect();
    let history = history::records(records, control.history, tensors, control.skips());
    Some(bytemuck::pod_read_unaligned::<Standing>(bytes).summary(&norms, history))
}
