//! Parameters and gradients in the caller's own buffers, and steps in the caller's own command encoder.
#![cfg(all(feature = "gpu", not(target_arch = "wasm32")))]

mod common;

use common::{Tensors, borrow, cases, drift, everything, gpus, host, kinds, mismatches, noise, params, read, wide};
use std::collections::BTreeMap;
use webgpu_optim::gpu::{Grads, Params, View};
use webgpu_optim::{Adam, AdamW, Clip, Ema, Gpu, Groups, LossScale, Nonfinite, Scaling, Sgd, Trainer};

const MARK: f32 = 12345.0;

fn buffer(gpu: &Gpu, values: &[f32]) -> wgpu::Buffer {
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    let size = values.len() as u64 * 4;
    let buffer =
        gpu.device().create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false });
    gpu.queue().write_buffer(&buffer, 0, bytemuck::cast_slice(values));
    buffer
}

/// Values by kernels of two forms: a device may round what it fuses differently in each.
fn alike(got: &BTreeMap<String, Tensors>, want: &BTreeMap<String, Tensors>, what: &str) {
    for (kind, tensors) in want {
        for (name, want) in tensors {
            let (got, want) = (&got[kind][name], wide(want));
            let off = drift(got, &want, want.iter().fold(0.0, |most: f64, value| most.max(value.abs())));
            assert!(off <= 2e-6, "{what}: {kind} of {name} off by {off:e}: {}", mismatches(got, &want));
        }
    }
}

/// How the tensors of a run lie in one buffer: parameters and gradients in turn, `gap` marked values around each.
struct Flat {
    values: Vec<f32>,
    places: Vec<(String, usize, usize, usize)>,
}

impl Flat {
    fn new(params: &Tensors, gap: usize) -> Self {
        let mut flat = Self { values: Vec::new(), places: Vec::new() };
        for (name, values) in params {
            flat.values.resize(flat.values.len() + gap, MARK);
            let param = flat.values.len();
            flat.values.extend(values);
            flat.values.resize(flat.values.len() + gap, MARK);
            let grad = flat.values.len();
            flat.values.resize(grad + values.len(), 0.0);
            flat.places.push((name.clone(), param, grad, values.len()));
        }
        flat.values.resize(flat.values.len() + gap, MARK);
        flat
    }
}

fn tensors(seed: u64) -> Tensors {
    let lengths = [0, 1, 2, 3, 5, 64, 255, 257, 1024, 1500, 4099];
    lengths.iter().map(|length| (format!("n{length}"), noise(seed + *length as u64, *length))).collect()
}

fn controlled(groups: &Groups) -> [Groups; 2] {
    let all = groups.clone().clip(Clip::GlobalNorm(0.5)).nonfinite(Nonfinite::Skip);
    [
        groups.clone(),
        all.loss_scale(LossScale::Dynamic(Scaling { init: 2.0, ..Scaling::default() })).ema(Ema::default()),
    ]
}

#[test]
fn slices_of_one_buffer_are_stepped_in_place_and_nothing_beside_them_changes() {
    for gpu in gpus() {
        for kind in kinds() {
            let case = cases(kind).into_iter().next_back().unwrap();
            let rule = host(&case).ledger().groups()[0].rule.clone();
            for (groups, gap) in controlled(&Groups::new(rule)).into_iter().zip([1, 4]) {
                let start = tensors(1);
                let flat = Flat::new(&start, gap);
                let one = buffer(&gpu, &flat.values);
                let view = |at: usize, length| View { buffer: one.clone(), offset: at as u64 * 4, length, half: None };
                let own = |it: &(String, usize, usize, usize)| Params::Own(view(it.1, it.3));
                let placed: Vec<_> = flat.places.iter().map(|it| (it.0.as_str(), own(it))).collect();
                let mut bound = Trainer::placed(&gpu, groups.clone(), &placed).unwrap();
                bound.start(&[]).unwrap();
                let mut ours = Trainer::new(&gpu, groups, &borrow(&start)).unwrap();
                for step in 1..=4 {
                    let grads = tensors(step * 1000);
                    for it in &flat.places {
                        gpu.queue().write_buffer(&one, it.2 as u64 * 4, bytemuck::cast_slice(&grads[&it.0]));
                    }
                    let views: Vec<_> =
                        flat.places.iter().map(|it| (it.0.as_str(), Grads::Own(view(it.2, it.3)))).collect();
                    bound.step_from(&views).unwrap();
                    ours.step(&borrow(&grads)).unwrap();
                }
                alike(&everything(&bound), &everything(&ours), &format!("{kind} on {}", gpu.info().name));
                let after = read(&gpu, &one, 0, one.size());
                for (name, param, grad, length) in &flat.places {
                    assert_eq!(after[*param..param + length], params(&bound)[name]);
                    assert_eq!(after[*grad..grad + length], tensors(4000)[name]);
                }
                let marks = |values: &[f32]| values.iter().filter(|value| **value == MARK).count();
                assert_eq!(marks(&after), marks(&flat.values));
            }
        }
    }
}

#[test]
fn buffers_and_arrays_mix_in_one_optimizer_and_gradients_may_change_places() {
    for gpu in gpus() {
        for groups in controlled(&Groups::new(AdamW { lr: 0.1, ..AdamW::default() })) {
            let start: Tensors =
                [("a", 8), ("b", 5), ("c", 7)].map(|(name, n)| (name.to_owned(), noise(n, n as usize))).into();
            let own = buffer(&gpu, &start["a"]);
            let mut mixed = Trainer::placed(
                &gpu,
                groups.clone(),
                &[("a", Params::Own(View::whole(&own))), ("b", Params::Zeroed(5)), ("c", Params::Zeroed(7))],
            )
            .unwrap();
            for name in ["b", "c"] {
                let slice = &mixed.param_slices(name).unwrap()[0];
                gpu.queue().write_buffer(&slice.buffer, slice.offset, bytemuck::cast_slice(&start[name]));
            }
            mixed.start(&[]).unwrap();
            let mut plain = Trainer::new(&gpu, groups, &borrow(&start)).unwrap();
            for step in 1..=12u64 {
                let grads: Tensors = start.iter().map(|(name, it)| (name.clone(), noise(step * 7, it.len()))).collect();
                // A new buffer a step for one, arrays and buffers in turn for another, every third step none for the last.
                let fresh = View::whole(&buffer(&gpu, &grads["b"]));
                let a = if step % 2 == 0 {
                    Grads::Values(&grads["a"])
                } else {
                    Grads::Own(View::whole(&buffer(&gpu, &grads["a"])))
                };
                let mut given = vec![("a", a), ("b", Grads::Own(fresh)), ("c", Grads::Values(&grads["c"]))];
                let mut arrays = borrow(&grads);
                if step % 3 == 0 {
                    given.pop();
                    arrays.pop();
                }
                if step % 4 == 0 {
                    mixed.accumulate_from(&given, 2.0).unwrap();
                    plain.accumulate(&arrays, 2.0).unwrap();
                    mixed.step_accumulated().unwrap();
                    plain.step_accumulated().unwrap();
                } else {
                    mixed.step_from(&given).unwrap();
                    plain.step(&arrays).unwrap();
                }
            }
            alike(&everything(&mixed), &everything(&plain), &gpu.info().name);
            if mixed.ledger().ema().is_ok() {
                let before = params(&mixed);
                let averages = pollster::block_on(mixed.averages().unwrap()).unwrap();
                mixed.swap_ema().unwrap();
                assert_eq!(params(&mixed), averages.into_iter().collect());
                assert_eq!(read(&gpu, &own, 0, own.size()), params(&mixed)["a"]);
                mixed.swap_ema().unwrap();
                assert_eq!(params(&mixed), before);
            }
        }
    }
}

#[test]
fn steps_recorded_in_one_encoder_equal_steps_submitted_one_by_one() {
    for gpu in gpus() {
        for groups in controlled(&Groups::new(Adam { lr: 0.1, ..Adam::default() })) {
            let start = tensors(3);
            let mut recorded = Trainer::new(&gpu, groups.clone(), &borrow(&start)).unwrap();
            let mut submitted = Trainer::new(
                &gpu,
                groups.clone().schedule(webgpu_optim::Schedule::Exponential { lr: 0.1, gamma: 0.5 }),
                &borrow(&start),
            )
            .unwrap();
            recorded.set(0, submitted.ledger().groups()[0].clone()).unwrap();
            for name in start.keys() {
                for trainer in [&recorded, &submitted] {
                    let slices = trainer.grad_slices(name).unwrap();
                    let Some(slice) = slices.first() else { continue };
                    gpu.queue().write_buffer(&slice.buffer, slice.offset, bytemuck::cast_slice(&start[name]));
                }
            }
            let mut encoder = gpu.device().create_command_encoder(&Default::default());
            for present in [None, Some(&[0, 2][..]), None] {
                recorded.encode_step(&mut encoder, present).unwrap();
                submitted.run(present).unwrap();
            }
            assert_eq!(params(&recorded), start, "nothing runs before the caller submits");
            gpu.queue().submit([encoder.finish()]);
            assert_eq!(everything(&recorded), everything(&submitted));
        }
    }
}

#[test]
fn bounding_the_work_of_a_submission_changes_no_result() {
    for gpu in gpus() {
        for kind in kinds() {
            let case = &cases(kind)[1];
            let start: Tensors = [("a", 200_000), ("b", 3), ("c", 70_001)]
                .map(|(name, n)| (name.to_owned(), noise(n, n as usize)))
                .into();
            let groups = case.groups.clone().clip(Clip::GlobalNorm(1.0));
            let [mut bounded, mut free] = [groups.clone().values_per_submit(50_000), groups]
                .map(|groups| Trainer::new(&gpu, groups, &borrow(&start)).unwrap());
            for step in 1..=2 {
                let grads: Tensors = start.iter().map(|(name, it)| (name.clone(), noise(step, it.len()))).collect();
                bounded.step(&borrow(&grads)).unwrap();
                free.step(&borrow(&grads)).unwrap();
            }
            assert_eq!(everything(&bounded), everything(&free), "{kind}");
        }
    }
}

#[test]
fn places_that_cannot_be_are_refused_by_name() {
    for gpu in gpus() {
        let own = buffer(&gpu, &[1.0; 16]);
        let view = |offset, length| View { buffer: own.clone(), offset, length, half: None };
        let make = |params: &[(&str, Params)]| Trainer::placed(&gpu, Sgd::default(), params).map(drop);
        let said = |result: Result<(), webgpu_optim::Error>| result.unwrap_err().to_string();
        let refused = said(make(&[("w", Params::Own(view(2, 1)))]));
        assert_eq!(refused, "the buffer of params of `w` is to begin at byte 2, which is no multiple of 4");
        let refused = said(make(&[("w", Params::Own(view(16, 13)))]));
        assert_eq!(refused, "the buffer of params of `w` has 64 bytes, and 16 to 68 are asked for");
        let refused = said(make(&[("v", Params::Own(view(0, 5))), ("w", Params::Own(view(16, 3)))]));
        assert_eq!(refused, "params of `v` and params of `w` overlap in one buffer");
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        let dull = wgpu::BufferDescriptor { label: None, size: 64, usage, mapped_at_creation: false };
        let dull = gpu.device().create_buffer(&dull);
        let refused = said(make(&[("w", Params::Own(View::whole(&dull)))]));
        assert!(refused.contains("lacks the usage BufferUsages(COPY_SRC)"), "{refused}");
        let mut trainer =
            Trainer::placed(&gpu, Sgd { lr: 1.0, ..Sgd::default() }, &[("w", Params::Own(view(0, 4)))]).unwrap();
        let mut step = |view| said(trainer.step_from(&[("w", Grads::Own(view))]));
        assert_eq!(step(view(12, 4)), "params of `w` and grads of `w` overlap in one buffer");
        assert_eq!(step(view(16, 3)), "grads of `w` has 3 values, expected 4");
        assert_eq!(params(&trainer)["w"], [1.0; 4]);
        assert_eq!(trainer.ledger().steps(), 0);
    }
}
