//! The passes that decide on a step on the device, and their buffers.

use super::arena::{storage, table};
use super::device::Gpu;
use super::pipeline::Shader;
use super::{accumulate, average, half, history};
use crate::optim::control::{Plan, Settings};
use crate::optim::rule::{Binding, Fields, Over, Pass, Row};
use crate::optim::standing::Standing;
use crate::optim::{Control, Ledger, Progress, Summary};

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
        let at = ledger.steps();
        let rates: Vec<f32> = rates(ledger, at..=at).collect();
        let first = (at % RING) * rates.len() as u64 * 4;
        gpu.queue.write_buffer(&self.rates, first, bytemuck::cast_slice(&rates));
    }

    /// As [`ControlBuffers::write_rates`], and of every step that may still be made up for.
    pub fn write_all_rates(&self, gpu: &Gpu, ledger: &Ledger) {
        let (last, groups) = (ledger.steps(), ledger.groups().len());
        let mut ring = vec![0.0; RING as usize * groups];
        let first = last.saturating_sub(RING - 1);
        for (step, rates) in (first..).zip(rates(ledger, first..=last).collect::<Vec<_>>().chunks(groups)) {
            ring[(step % RING) as usize * groups..][..groups].copy_from_slice(rates);
        }
        gpu.queue.write_buffer(&self.rates, 0, bytemuck::cast_slice(&ring));
    }

    /// What a run cannot go on without, in the order that [`taken_up`] takes it.
    pub fn carried(&self) -> [&wgpu::Buffer; 4] {
        [&self.standing, &self.norms, &self.records, &self.counts]
    }

    /// Lets the device go on from there.
    pub fn resume(&self, gpu: &Gpu, ledger: &Ledger, progress: &Progress) {
        let counters = ledger.counters();
        let standing = Standing::resumed(progress, [counters.steps, counters.skipped]);
        let norms: Vec<[f32; 2]> = progress.norms.iter().map(|it| standing.norm(it)).collect();
        let counts: Vec<[u32; 2]> = counters.tensors.iter().map(|it| [it.steps as u32, u32::from(it.seeded)]).collect();
        let records = history::rows(&progress.history, ledger.control().history, ledger.tensors().len());
        gpu.queue.write_buffer(&self.standing, 0, bytemuck::bytes_of(&standing));
        gpu.queue.write_buffer(&self.norms, 0, bytemuck::cast_slice(&norms));
        gpu.queue.write_buffer(&self.counts, 0, bytemuck::cast_slice(&counts));
        gpu.queue.write_buffer(&self.records, 0, bytemuck::cast_slice(&records));
        self.write_all_rates(gpu, ledger);
    }

    pub fn all(&self) -> [&wgpu::Buffer; 7] {
        [&self.norms, &self.plans, &self.rates, &self.counts, &self.standing, &self.settings, &self.records]
    }
}

/// The learning rate of each group at each of some steps.
fn rates(ledger: &Ledger, steps: std::ops::RangeInclusive<u64>) -> impl Iterator<Item = f32> {
    steps.flat_map(|step| ledger.groups().iter().map(move |group| group.lr(step) as f32))
}

fn standing(words: &[f32]) -> Option<Standing> {
    let bytes = bytemuck::cast_slice::<f32, u8>(words).get(..size_of::<Standing>())?;
    Some(bytemuck::pod_read_unaligned(bytes))
}

fn norms(words: &[f32], tensors: usize) -> Vec<[f32; 2]> {
    words.chunks_exact(2).take(tensors).map(|pair| [pair[0], pair[1]]).collect()
}

/// A summary from the words of a standing, of norms and of records.
pub(super) fn summary(words: &[Vec<f32>], control: &Control, tensors: usize) -> Option<Summary> {
    let [found, of, records, ..] = words else { return None };
    let history = history::records(records, control.history, tensors, control.skips());
    Some(standing(found)?.summary(&norms(of, tensors), history))
}

/// Puts what a device knows into a ledger, and gives the rest of it; none for a run that decides nothing on the device.
pub(super) fn taken_up(words: &[Vec<f32>], ledger: &mut Ledger) -> Option<Progress> {
    let [found, of, records, counts] = words else { return None };
    let (tensors, control, standing) = (ledger.tensors().len(), ledger.control(), standing(found)?);
    let history = history::records(records, control.history, tensors, control.skips());
    let mut counters = ledger.counters();
    [counters.steps, counters.skipped] = standing.counted();
    for (count, pair) in counters.tensors.iter_mut().zip(counts.chunks_exact(2)) {
        (count.steps, count.seeded) = (pair[0].to_bits().into(), pair[1].to_bits() == 1);
    }
    ledger.resume(&counters);
    Some(standing.progress(&norms(of, tensors), history))
}
