//! Parameters and gradients in 16 bits, with those in 32 that steps change.
#![cfg(all(feature = "gpu", not(target_arch = "wasm32")))]

mod common;

use common::{Tensors, borrow, cases, drift, gpus, host, kinds, mismatches, noise, params, read, wide};
use std::collections::BTreeMap;
use webgpu_optim::gpu::{Grads, Params, View};
use webgpu_optim::{AdamW, Clip, Ema, Gpu, Groups, Half, HostTrainer, LossScale, Nonfinite, Scaling, Sgd, Trainer};

const LENGTHS: [usize; 10] = [0, 1, 2, 3, 5, 64, 255, 257, 1025, 4099];
const HALVES: [Half; 2] = [Half::F16, Half::Bf16];

/// Each device with words that hold two halves and, where it has one, with its own type for binary16.
fn devices() -> Vec<Gpu> {
    gpus().into_iter().flat_map(|gpu| if gpu.has_f16() { vec![gpu.clone().packed(), gpu] } else { vec![gpu] }).collect()
}

fn called(gpu: &Gpu, half: Half) -> String {
    format!("{half:?} on {}{}", gpu.info().name, if gpu.has_f16() { " natively" } else { "" })
}

fn narrowed(half: Half, values: &[f32]) -> Vec<u16> {
    values.iter().map(|value| half.narrow(*value)).collect()
}

/// The values that halves can hold, so that both sides begin alike.
fn rounded(half: Half, tensors: &Tensors) -> Tensors {
    let widen = |values: &Vec<f32>| values.iter().map(|value| half.widen(half.narrow(*value))).collect();
    tensors.iter().map(|(name, values)| (name.clone(), widen(values))).collect()
}

fn tensors(seed: u64) -> Tensors {
    LENGTHS.iter().map(|length| (format!("n{length}"), noise(seed + *length as u64, *length))).collect()
}

fn padded(halves: &[u16]) -> Vec<u8> {
    let mut halves = halves.to_vec();
    halves.resize(halves.len().next_multiple_of(2), 0);
    bytemuck::cast_slice(&halves).to_vec()
}

fn buffer(gpu: &Gpu, bytes: &[u8]) -> wgpu::Buffer {
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    let size = (bytes.len() as u64).max(4);
    let buffer =
        gpu.device().create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false });
    gpu.queue().write_buffer(&buffer, 0, bytes);
    buffer
}

fn halves_of(gpu: &Gpu, trainer: &Trainer, name: &str, length: usize) -> Vec<u16> {
    let slices = trainer.param_slices(name).unwrap();
    let words = slices.iter().flat_map(|it| read(gpu, &it.buffer, it.offset, it.size));
    let words: Vec<u32> = words.map(f32::to_bits).collect();
    let halves: &[u16] = bytemuck::cast_slice(&words);
    halves[..length].to_vec()
}

fn write(gpu: &Gpu, trainer: &Trainer, name: &str, halves: &[u16]) {
    for slice in trainer.param_slices(name).unwrap() {
        gpu.queue().write_buffer(&slice.buffer, slice.offset, &padded(halves));
    }
}

fn same(got: f32, want: f32) -> bool {
    got.to_bits() == want.to_bits() || (got.is_nan() && want.is_nan())
}

#[test]
fn every_half_is_taken_up_as_the_number_it_is() {
    let all: Vec<u16> = (0..=u16::MAX).collect();
    for (gpu, half) in devices().iter().flat_map(|gpu| HALVES.map(|half| (gpu, half))) {
        let trainer = Trainer::placed(gpu, Sgd::default(), &[("w", Params::Halves(all.len(), half))]).unwrap();
        write(gpu, &trainer, "w", &all);
        trainer.start(&[]).unwrap();
        let got = &params(&trainer)["w"];
        let off = got.iter().zip(&all).find(|(got, bits)| !same(**got, half.widen(**bits)));
        assert_eq!(off, None, "{}", called(gpu, half));
    }
}

/// Every half's value, every midpoint between neighbours, and the numbers next to both.
fn edges(half: Half) -> Vec<f32> {
    let values = (0..=u16::MAX).map(|bits| half.widen(bits));
    let halfway = |value: f32| {
        let next = half.widen(half.narrow(value).wrapping_add(1));
        ((f64::from(value) + f64::from(next)) / 2.0) as f32
    };
    let near =
        |value: f32| [value, f32::from_bits(value.to_bits() ^ 1), f32::from_bits(value.to_bits().wrapping_add(1))];
    let all = values.flat_map(|value| [value, halfway(value)]).flat_map(near);
    all.chain([65_519.996, 65_520.0, f32::MAX, f32::MIN, f32::INFINITY, f32::NAN, 1e-45, 2.0_f32.powi(-25)]).collect()
}

#[test]
fn halves_are_the_nearest_to_what_steps_made() {
    for (gpu, half) in devices().iter().flat_map(|gpu| HALVES.map(|half| (gpu, half))) {
        // A device may take subnormal numbers for 0.
        let values: Vec<f32> = edges(half).into_iter().filter(|value| *value == 0.0 || !value.is_subnormal()).collect();
        let trainer = Trainer::placed(gpu, Sgd::default(), &[("w", Params::Halves(values.len(), half))]).unwrap();
        for slice in trainer.master_slices("w").unwrap() {
            gpu.queue().write_buffer(&slice.buffer, slice.offset, bytemuck::cast_slice(&values));
        }
        trainer.start(&["w"]).unwrap();
        let got = halves_of(gpu, &trainer, "w", values.len());
        let wrong = |(got, value): &(&u16, &f32)| !same(half.widen(**got), half.widen(half.narrow(**value)));
        let off: Vec<_> = got.iter().zip(&values).filter(wrong).take(5).collect();
        assert!(off.is_empty(), "{}: {off:x?}", called(gpu, half));
    }
}

/// A rule's options, without and with all that a control adds.
fn controlled(groups: &Groups) -> [Groups; 2] {
    let all = groups.clone().clip(Clip::GlobalNorm(0.5)).nonfinite(Nonfinite::Skip).ema(Ema::default());
    [groups.clone(), all.loss_scale(LossScale::Dynamic(Scaling { init: 2.0, ..Scaling::default() }))]
}

/// Steps both, and says how far the parameters in 32 bits are apart.
fn judged(gpu: &Gpu, half: Half, trainer: &Trainer, judge: &HostTrainer, what: &str) {
    for (name, got) in params(trainer) {
        let want = wide(judge.params(&name).unwrap());
        let off = drift(&got, &want, want.iter().fold(0.0, |most: f64, value| most.max(value.abs())));
        let what = format!("{what}, {}: {name}", called(gpu, half));
        assert!(off <= 1e-5, "{what} off by {off:e}: {}", mismatches(&got, &want));
        assert_eq!(halves_of(gpu, trainer, &name, got.len()), narrowed(half, &got), "{what}");
    }
}

#[test]
fn every_rule_steps_the_numbers_that_halves_follow() {
    for (gpu, half) in devices().iter().flat_map(|gpu| HALVES.map(|half| (gpu, half))) {
        for case in kinds().flat_map(cases) {
            let rule = host(&case).ledger().groups()[0].rule.clone();
            for groups in controlled(&Groups::new(rule)) {
                let start = rounded(half, &tensors(1));
                let placed: Vec<_> =
                    start.iter().map(|(name, it)| (name.as_str(), Params::Halves(it.len(), half))).collect();
                let mut trainer = Trainer::placed(gpu, groups.clone(), &placed).unwrap();
                start.iter().for_each(|(name, values)| write(gpu, &trainer, name, &narrowed(half, values)));
                trainer.start(&[]).unwrap();
                let mut judge = HostTrainer::new(groups, &borrow(&start)).unwrap();
                for step in 1..=4 {
                    let grads = rounded(half, &tensors(step * 1000));
                    let given: BTreeMap<_, _> = grads.iter().map(|(name, it)| (name, narrowed(half, it))).collect();
                    let given: Vec<_> =
                        given.iter().map(|(name, it)| (name.as_str(), Grads::Halves(it, half))).collect();
                    trainer.step_from(&given).unwrap();
                    judge.step(&borrow(&grads)).unwrap();
                }
                judged(gpu, half, &trainer, &judge, &case.name);
            }
        }
    }
}

/// One buffer of words with a tensor's parameters and gradient in turn, and marks around each.
struct Flat {
    words: Vec<u32>,
    places: Vec<(String, usize, usize, usize)>,
}

const MARK: u32 = 0x1234_5678;

impl Flat {
    fn new(lengths: &[(String, usize)], gap: usize, param: Option<Half>, grad: Option<Half>) -> Self {
        let mut flat = Self { words: Vec::new(), places: Vec::new() };
        for (name, length) in lengths {
            let mut room = |half: Option<Half>| {
                flat.words.resize(flat.words.len() + gap, MARK);
                let at = flat.words.len();
                flat.words.resize(at + if half.is_some() { length.div_ceil(2) } else { *length }, MARK);
                at
            };
            let (param, grad) = (room(param), room(grad));
            flat.places.push((name.clone(), param, grad, *length));
        }
        flat.words.resize(flat.words.len() + gap, MARK);
        flat
    }
}

fn put(gpu: &Gpu, one: &wgpu::Buffer, at: usize, half: Option<Half>, values: &[f32]) {
    let Some(half) = half else { return gpu.queue().write_buffer(one, at as u64 * 4, bytemuck::cast_slice(values)) };
    let mut halves = narrowed(half, values);
    if halves.len() % 2 == 1 {
        halves.push((MARK >> 16) as u16);
    }
    gpu.queue().write_buffer(one, at as u64 * 4, bytemuck::cast_slice(&halves));
}

/// Parameters and gradients of these formats in one buffer of the caller, or gradients in another.
fn stepped_in_place(gpu: &Gpu, groups: &Groups, param: Option<Half>, grad: Option<Half>, together: bool, gap: usize) {
    let round = |half: Option<Half>, tensors| if let Some(half) = half { rounded(half, &tensors) } else { tensors };
    let start = round(param, tensors(1));
    let lengths: Vec<_> = start.iter().map(|(name, values)| (name.clone(), values.len())).collect();
    let flat = Flat::new(&lengths, gap, param, grad);
    let one = buffer(gpu, bytemuck::cast_slice(&flat.words));
    let other = if together { one.clone() } else { buffer(gpu, bytemuck::cast_slice(&flat.words)) };
    flat.places.iter().for_each(|it| put(gpu, &one, it.1, param, &start[&it.0]));
    let view = |buffer: &wgpu::Buffer, at: usize, length, half| View {
        buffer: buffer.clone(),
        offset: at as u64 * 4,
        length,
        half,
    };
    let placed = flat.places.iter().map(|it| (it.0.as_str(), Params::Own(view(&one, it.1, it.3, param))));
    let mut trainer = Trainer::placed(gpu, groups.clone(), &placed.collect::<Vec<_>>()).unwrap();
    trainer.start(&[]).unwrap();
    let mut judge = HostTrainer::new(groups.clone(), &borrow(&start)).unwrap();
    for step in 1..=4 {
        let grads = round(grad, tensors(step * 1000));
        flat.places.iter().for_each(|it| put(gpu, &other, it.2, grad, &grads[&it.0]));
        let given = flat.places.iter().map(|it| (it.0.as_str(), Grads::Own(view(&other, it.2, it.3, grad))));
        trainer.step_from(&given.collect::<Vec<_>>()).unwrap();
        judge.step(&borrow(&grads)).unwrap();
    }
    let what =
        format!("params {param:?}, grads {grad:?}, together {together}, gap {gap}, {}", trainer.ledger().entry().kind);
    if let Some(half) = param {
        judged(gpu, half, &trainer, &judge, &what);
    }
    let after = read(gpu, &one, 0, one.size());
    let after: Vec<u32> = after.into_iter().map(f32::to_bits).collect();
    let halves: &[u16] = bytemuck::cast_slice(&after);
    for (name, at, _, length) in &flat.places {
        let want = wide(judge.params(name).unwrap());
        let Some(half) = param else {
            let got: &[f32] = bytemuck::cast_slice(&after[*at..at + length]);
            let off = drift(got, &want, want.iter().fold(0.0, |most: f64, value| most.max(value.abs())));
            assert!(off <= 1e-5, "{what}: {name} off by {off:e}");
            continue;
        };
        assert_eq!(halves[2 * at..2 * at + length], narrowed(half, &params(&trainer)[name]), "{what}: {name}");
        let behind = if length % 2 == 1 { halves[2 * at + length] } else { (MARK >> 16) as u16 };
        assert_eq!(behind, (MARK >> 16) as u16, "{what}: behind {name}");
    }
    let marks = |words: &[u32]| words.iter().filter(|word| **word == MARK).count();
    assert!(marks(&after) >= (2 * flat.places.len() + 1) * gap, "{what}");
}

#[test]
fn halves_and_words_in_the_callers_buffers_are_stepped_in_place() {
    let formats = [None, Some(Half::F16), Some(Half::Bf16)];
    for gpu in devices() {
        for (number, kind) in kinds().enumerate() {
            let rule = host(&cases(kind).into_iter().next_back().unwrap()).ledger().groups()[0].rule.clone();
            let groups = controlled(&Groups::new(rule));
            let pairs = formats.into_iter().flat_map(|param| formats.map(|grad| (param, grad)));
            for (place, (param, grad)) in pairs.enumerate() {
                for (together, gap) in [(true, 1), (true, 2), (false, 1), (false, 2)] {
                    stepped_in_place(&gpu, &groups[(number + place) % 2], param, grad, together, gap);
                }
            }
        }
    }
}

#[test]
fn a_devices_own_type_and_words_give_the_same_results() {
    let mut seen = 0;
    for gpu in gpus().into_iter().filter(Gpu::has_f16) {
        let run = |gpu: &Gpu| {
            let rule = AdamW { lr: 0.01, amsgrad: true, ..AdamW::default() };
            let start = rounded(Half::F16, &tensors(1));
            let placed = start.iter().map(|(name, it)| (name.as_str(), Params::Halves(it.len(), Half::F16)));
            let mut trainer = Trainer::placed(gpu, rule, &placed.collect::<Vec<_>>()).unwrap();
            start.iter().for_each(|(name, values)| write(gpu, &trainer, name, &narrowed(Half::F16, values)));
            trainer.start(&[]).unwrap();
            for step in 1..=10 {
                let grads = tensors(step * 1000);
                let given: BTreeMap<_, _> = grads.iter().map(|(name, it)| (name, narrowed(Half::F16, it))).collect();
                let given = given.iter().map(|(name, it)| (name.as_str(), Grads::Halves(it, Half::F16)));
                trainer.step_from(&given.collect::<Vec<_>>()).unwrap();
            }
            let halves: Vec<_> = start.iter().map(|(name, it)| halves_of(gpu, &trainer, name, it.len())).collect();
            (params(&trainer), halves)
        };
        let (native, packed) = (run(&gpu), run(&gpu.clone().packed()));
        for (name, want) in &packed.0 {
            let off = drift(&native.0[name], &wide(want), 1.0);
            assert!(off <= 2e-7, "{name} on {} off by {off:e}", gpu.info().name);
        }
        seen += 1;
    }
    println!("compared on {seen} devices");
    assert!(seen > 0, "no device here has shader-f16");
}

#[test]
fn a_skipped_step_leaves_halves_as_they_are() {
    for (gpu, half) in devices().iter().flat_map(|gpu| HALVES.map(|half| (gpu, half))) {
        let groups = Groups::new(AdamW::default()).nonfinite(Nonfinite::Skip);
        let mut trainer = Trainer::placed(gpu, groups, &[("w", Params::Halves(5, half))]).unwrap();
        let start = narrowed(half, &noise(1, 5));
        write(gpu, &trainer, "w", &start);
        trainer.start(&[]).unwrap();
        for bad in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
            let grads = narrowed(half, &[0.0, 1.0, bad, 0.5, -2.0]);
            trainer.step_from(&[("w", Grads::Halves(&grads, half))]).unwrap();
            assert_eq!(halves_of(gpu, &trainer, "w", 5), start, "{}", called(gpu, half));
        }
        assert_eq!(pollster::block_on(trainer.summary()).unwrap().unwrap().skipped, 3, "{}", called(gpu, half));
    }
}

#[test]
fn gradients_accumulate_average_swap_and_come_back_in_halves() {
    for (gpu, half) in devices().iter().flat_map(|gpu| HALVES.map(|half| (gpu, half))) {
        let groups = Groups::new(AdamW { lr: 0.1, ..AdamW::default() }).ema(Ema { decay: 0.5, ..Ema::default() });
        let start = rounded(half, &tensors(1));
        let placed = start.iter().map(|(name, it)| (name.as_str(), Params::Halves(it.len(), half)));
        let mut trainer = Trainer::placed(gpu, groups.clone(), &placed.collect::<Vec<_>>()).unwrap();
        start.iter().for_each(|(name, values)| write(gpu, &trainer, name, &narrowed(half, values)));
        trainer.start(&[]).unwrap();
        let mut judge = HostTrainer::new(groups, &borrow(&start)).unwrap();
        for step in 1..=3 {
            for (part, weight) in [(1, 1.0), (2, 3.0)] {
                let grads = rounded(half, &tensors(step * 1000 + part));
                let given: BTreeMap<_, _> = grads.iter().map(|(name, it)| (name, narrowed(half, it))).collect();
                let given = given.iter().map(|(name, it)| (name.as_str(), Grads::Halves(it, half)));
                trainer.accumulate_from(&given.collect::<Vec<_>>(), weight).unwrap();
                judge.accumulate(&borrow(&grads), weight).unwrap();
            }
            trainer.step_accumulated().unwrap();
            judge.step_accumulated().unwrap();
        }
        judged(gpu, half, &trainer, &judge, "accumulated");
        let before = params(&trainer);
        trainer.swap_ema().unwrap();
        judge.swap_ema().unwrap();
        judged(gpu, half, &trainer, &judge, "averages");
        trainer.swap_ema().unwrap();
        assert_eq!(params(&trainer), before);
        let snapshot = pollster::block_on(trainer.state()).unwrap();
        let again = Trainer::restored(gpu, &snapshot, &[]).unwrap();
        assert_eq!(params(&again), before);
        for (name, values) in &before {
            assert_eq!(halves_of(gpu, &again, name, values.len()), narrowed(half, values));
        }
    }
}
