//! What a step costs, as a fraction of what a copy kernel reaches on the same device in the same run.
//!
//! `cargo bench -- [VALUES]` (default 4 Mi values in one tensor). Copy and step take turns; medians are shown.
#![allow(missing_docs, reason = "not public")]

use naga::valid::{Capabilities, GlobalUse, ValidationFlags, Validator};
use std::time::{Duration, Instant};
use webgpu_optim::gpu::{Form, Grads, Params, Reach, View};
use webgpu_optim::optim::Entry;
use webgpu_optim::optim::rule::{Binding, Pass};
use webgpu_optim::{AnyRule, Clip, Gpu, Groups, Half, LossScale, Nonfinite, REGISTRY, Scaling, Trainer};

const ROUNDS: usize = 7;
const STEPS: u32 = 20;

/// A vec4 copy of as many values as the step updates.
struct Copy {
    pipeline: wgpu::ComputePipeline,
    group: wgpu::BindGroup,
    grid: (u32, u32),
}

impl Copy {
    fn new(gpu: &Gpu, values: usize) -> Self {
        let device = gpu.device();
        let module = device.create_shader_module(wgpu::include_wgsl!("copy.wgsl"));
        let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &module,
            entry_point: None,
            compilation_options: Default::default(),
            cache: None,
        });
        let usage = wgpu::BufferUsages::STORAGE;
        let size = values as u64 * 4;
        let buffer =
            || device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false });
        let (source, sink) = (buffer(), buffer());
        let entries = [
            wgpu::BindGroupEntry { binding: 0, resource: source.as_entire_binding() },
            wgpu::BindGroupEntry { binding: 1, resource: sink.as_entire_binding() },
        ];
        let layout = pipeline.get_bind_group_layout(0);
        let group =
            device.create_bind_group(&wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &entries });
        let count = values.div_ceil(1024) as u32;
        let width = f64::from(count).sqrt().ceil() as u32;
        let grid = if count <= 65_535 { (count, 1) } else { (width, count.div_ceil(width)) };
        Self { pipeline, group, grid }
    }

    fn run(&self, gpu: &Gpu) {
        let mut encoder = gpu.device().create_command_encoder(&Default::default());
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &self.group, &[]);
        pass.dispatch_workgroups(self.grid.0, self.grid.1, 1);
        drop(pass);
        gpu.queue().submit([encoder.finish()]);
    }
}

fn wait(gpu: &Gpu) {
    gpu.device().poll(wgpu::PollType::wait_indefinitely()).unwrap();
}

fn time(gpu: &Gpu, mut act: impl FnMut()) -> Duration {
    wait(gpu);
    let start = Instant::now();
    (0..STEPS).for_each(|_| act());
    wait(gpu);
    start.elapsed() / STEPS
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64()
}

/// Bytes a parameter that passes read and write in the arenas, as their entry points in some form use them.
fn traffic(source: &str, passes: &[Pass], form: Form) -> usize {
    let of = |pass: &Pass| {
        let form = form.of(pass);
        let module = naga::front::wgsl::parse_str(&form.complete(source)).unwrap();
        let info = Validator::new(ValidationFlags::all(), Capabilities::empty()).validate(&module).unwrap();
        let place = module.entry_points.iter().position(|it| it.name == pass.entry).unwrap();
        let width = |number: u32| {
            let arena = (Binding::Params.number()..=Binding::Slot(2).number()).contains(&number);
            let halved =
                number == Binding::Copies.number() || number == Binding::Grads.number() && form.grad_half.is_some();
            if halved { 2 } else { 4 * usize::from(arena) }
        };
        let bytes = module.global_variables.iter().filter_map(|(handle, it)| {
            let (width, used) = (width(it.binding.as_ref()?.binding), info.get_entry_point(place)[handle]);
            Some(width * (usize::from(used.contains(GlobalUse::READ)) + usize::from(used.contains(GlobalUse::WRITE))))
        });
        bytes.sum::<usize>()
    };
    passes.iter().map(of).sum()
}

fn rule(entry: &Entry, momentum: bool) -> AnyRule {
    match (entry.default)() {
        AnyRule::Sgd(rule) if momentum => webgpu_optim::Sgd { momentum: 0.9, ..rule }.into(),
        rule => rule,
    }
}

fn controls(groups: &Groups) -> [(&'static str, Groups); 3] {
    let clipped = groups.clone().clip(Clip::GlobalNorm(1.0));
    let all = clipped.clone().nonfinite(Nonfinite::Skip).loss_scale(LossScale::Dynamic(Scaling::default()));
    [("plain", groups.clone()), ("clip", clipped), ("clip, scale, skip", all)]
}

/// Part of a buffer of the caller's, so many values behind its start.
fn view(gpu: &Gpu, values: usize, at: u64) -> View {
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    let size = (values as u64 + at) * 4;
    let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
    View { buffer: gpu.device().create_buffer(&descriptor), offset: at * 4, length: values, half: None }
}

/// Where parameters and gradients stand.
#[derive(Clone, Copy)]
enum Place {
    Arena,
    /// So many values behind the start of the caller's own buffers.
    Own(u64),
    /// In the arena, in binary16.
    Halves,
}

fn row(gpu: &Gpu, copy: &Copy, values: usize, name: &str, groups: Groups, place: Place) {
    let (params, grads) = match place {
        Place::Arena => (Params::Zeroed(values), Grads::Resident),
        Place::Halves => (Params::Halves(values, Half::F16), Grads::Resident),
        Place::Own(at) => (Params::Own(view(gpu, values, at)), Grads::Own(view(gpu, values, at))),
    };
    let half = matches!(place, Place::Halves).then_some(Half::F16);
    let form = Form { grad_half: half, copies: half.map(|half| (half, Reach::Whole)), ..Form::default() };
    let mut trainer = Trainer::placed(gpu, groups, &[("w", params)]).unwrap();
    let step = |trainer: &mut Trainer| trainer.step_from(&[("w", grads.clone())]).unwrap();
    let entry = trainer.ledger().entry();
    let [described, ..] = webgpu_optim::gpu::described();
    let decided =
        if trainer.loss_scale_slice().is_some() { traffic(described.source, described.passes, form) } else { 0 };
    let bytes = traffic(entry.shader, trainer.ledger().passes(), form) + decided;
    step(&mut trainer);
    let (mut steps, mut copies) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        copies.push(time(gpu, || copy.run(gpu)));
        steps.push(time(gpu, || step(&mut trainer)));
    }
    let (step, copied) = (median(steps), median(copies));
    let (rate, copy_rate) = (values as f64 * bytes as f64 / step / 1e9, values as f64 * 8.0 / copied / 1e9);
    let nanoseconds = step * 1e9 / values as f64;
    println!(
        "{:<9} {name:<22} {bytes:>3} B  {nanoseconds:>8.4} ns  {rate:>7.0} GB/s  {:>4.0} % of copy",
        entry.class,
        100.0 * rate / copy_rate
    );
}

fn main() {
    let values = std::env::args().filter_map(|argument| argument.parse().ok()).next().unwrap_or(4 << 20);
    let gpu = pollster::block_on(Gpu::new()).unwrap();
    let (copy, packed) = (Copy::new(&gpu, values), gpu.clone().packed());
    println!("{}, {values} values in one tensor, each per parameter", gpu.info().name);
    for entry in REGISTRY {
        for momentum in [false, true].into_iter().take(if entry.kind == "sgd" { 2 } else { 1 }) {
            let called = |name: &str| if momentum { format!("momentum, {name}") } else { name.to_owned() };
            let groups = Groups::new(rule(entry, momentum));
            for (name, groups) in controls(&groups) {
                row(&gpu, &copy, values, &called(name), groups, Place::Arena);
            }
            for (name, at) in [("own buffers", 0), ("own, odd place", 1)] {
                row(&gpu, &copy, values, &called(name), groups.clone(), Place::Own(at));
            }
            let [.., (_, decided)] = controls(&groups);
            row(&packed, &copy, values, &called("f16, all of it"), decided, Place::Halves);
            for (name, gpu) in [("f16, two a word", &packed), ("f16, own type", &gpu)] {
                row(gpu, &copy, values, &called(name), groups.clone(), Place::Halves);
            }
        }
    }
}
