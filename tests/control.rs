//! Clipping, skipping and loss scaling: the device takes the CPU's decisions, and neither reads back for a step.
#![cfg(all(feature = "gpu", not(target_arch = "wasm32")))]

mod common;

use common::{Scales, Tensors, borrow, cases, drift, gpus, kinds, noise, params, wide};
use webgpu_optim::{
    Adam, Clip, Groups, HostTrainer, LossScale, LossScaler, Nonfinite, Scaling, Schedule, Sgd, Summary, Trainer,
};

fn summary(trainer: &Trainer) -> Summary {
    pollster::block_on(trainer.summary()).unwrap().unwrap()
}

fn bits(tensors: &Tensors) -> Vec<u32> {
    tensors.values().flatten().map(|value| value.to_bits()).collect()
}

/// Parameters, every slot and averages, as bits.
fn everything(trainer: &Trainer) -> Vec<u32> {
    common::everything(trainer).values().flat_map(bits).collect()
}

fn controls(groups: &Groups) -> Vec<(&'static str, Groups)> {
    let with = || groups.clone().nonfinite(Nonfinite::Skip);
    let scaling = Scaling { init: 8.0, growth_interval: 5, ..Scaling::default() };
    vec![
        ("global norm", with().clip(Clip::GlobalNorm(0.5))),
        ("tensor norm", with().clip(Clip::TensorNorm(0.5))),
        ("value", with().clip(Clip::Value(0.01))),
        ("skip", with()),
        ("loss scale and norm", groups.clone().clip(Clip::GlobalNorm(0.5)).loss_scale(LossScale::Dynamic(scaling))),
    ]
}

#[test]
fn the_device_clips_skips_and_scales_as_the_cpu_does() {
    for gpu in gpus() {
        for kind in kinds() {
            for case in cases(kind) {
                for (what, groups) in controls(&case.groups) {
                    let mut tensors = case.params.clone();
                    tensors.insert("large".into(), noise(3, 3000));
                    tensors.insert("none".into(), Vec::new());
                    let mut on_gpu = Trainer::new(&gpu, groups.clone(), &borrow(&tensors)).unwrap();
                    let mut on_cpu = HostTrainer::new(groups, &borrow(&tensors)).unwrap();
                    let mut scales = Scales::of_params(&tensors);
                    for step in 1..=12u64 {
                        let mut grads: Tensors =
                            tensors.iter().map(|(name, values)| (name.clone(), noise(step, values.len()))).collect();
                        if step == 1 || step % 5 == 0 {
                            grads.get_mut("large").unwrap()[1500] = [f32::INFINITY, f32::NAN][step as usize % 2];
                        }
                        if step == 7 {
                            grads.remove("w");
                        }
                        on_gpu.step(&borrow(&grads)).unwrap();
                        on_cpu.step(&borrow(&grads)).unwrap();
                    }
                    let (got, want) = (summary(&on_gpu), on_cpu.summary().unwrap());
                    assert_eq!((got.step, got.skipped), (want.step, want.skipped), "{kind} {} {what}", case.name);
                    assert_eq!(got.loss_scale, want.loss_scale);
                    assert!((got.grad_norm - want.grad_norm).abs() <= 1e-5 * want.grad_norm);
                    assert!((got.clip_factor - want.clip_factor).abs() <= 1e-5);
                    for (got, want) in got.tensors.iter().zip(&want.tensors) {
                        assert_eq!(got.nonfinite, want.nonfinite);
                        assert!((got.norm - want.norm).abs() <= 1e-5 * want.norm, "{got:?}, wanted {want:?}");
                    }
                    for (name, got) in params(&on_gpu) {
                        let want = wide(on_cpu.params(&name).unwrap());
                        let off = drift(&got, &want, scales.grow(&name, "params", &want));
                        assert!(off <= 1e-5, "{kind} {} {what}: {name} off by {off:e}", case.name);
                    }
                }
            }
        }
    }
}

#[test]
fn a_skipped_step_leaves_every_bit_as_it_was_and_does_not_count() {
    for gpu in gpus() {
        for kind in kinds() {
            let case = &cases(kind)[1];
            let groups = case.groups.clone().nonfinite(Nonfinite::Skip);
            let mut trainer = Trainer::new(&gpu, groups, &borrow(&case.params)).unwrap();
            let mut grads: Tensors = case.params.iter().map(|(name, p)| (name.clone(), noise(9, p.len()))).collect();
            trainer.step(&borrow(&grads)).unwrap();
            let before = everything(&trainer);
            for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                grads.get_mut("w").unwrap()[12] = bad;
                trainer.step(&borrow(&grads)).unwrap();
                assert_eq!(everything(&trainer), before, "{kind} {bad}");
            }
            let end = summary(&trainer);
            assert_eq!((end.step, end.skipped, end.found_nonfinite), (1, 3, true));
        }
    }
}

#[test]
fn a_skipped_step_takes_up_its_learning_rate_later() {
    for gpu in gpus() {
        let groups = || Groups::new(Sgd::default()).schedule(Schedule::Exponential { lr: 1.0, gamma: 0.5 });
        let mut trainer = Trainer::new(&gpu, groups().nonfinite(Nonfinite::Skip), &[("w", &[0.0])]).unwrap();
        for grad in [1.0, f32::NAN, f32::NAN, 1.0, f32::NAN, 1.0] {
            trainer.step(&[("w", &[grad])]).unwrap();
        }
        assert_eq!(params(&trainer)["w"], [-1.75]);
    }
}

#[test]
fn after_thousands_of_skipped_steps_the_schedule_goes_on_from_the_oldest_rate_kept() {
    let gpu = gpus().pop().unwrap();
    let schedule = Schedule::Linear { from: 0.0, to: 10_000.0, total: 10_000 };
    let groups = Groups::new(Sgd::default()).schedule(schedule).nonfinite(Nonfinite::Skip);
    let mut trainer = Trainer::new(&gpu, groups, &[("w", &[0.0])]).unwrap();
    for _ in 0..4100 {
        trainer.step(&[("w", &[f32::NAN])]).unwrap();
    }
    trainer.step(&[("w", &[-1.0])]).unwrap();
    assert_eq!(params(&trainer)["w"], [5.0]); // 4,096 rates are kept: those of steps 5 to 4,100
}

#[test]
fn propagating_steps_with_what_is_not_finite() {
    for gpu in gpus() {
        let groups = Groups::new(Adam::default()).clip(Clip::Value(1.0));
        let mut trainer = Trainer::new(&gpu, groups, &[("w", &[1.0, 1.0]), ("b", &[1.0])]).unwrap();
        trainer.step(&[("w", &[f32::NAN, 1.0]), ("b", &[1.0])]).unwrap();
        let params = params(&trainer);
        assert!(params["w"][0].is_nan() && params["w"][1] < 1.0 && params["b"][0] < 1.0);
    }
}

#[test]
fn norms_do_not_overflow_for_any_finite_input() {
    for gpu in gpus() {
        for value in [f32::MAX, 3e38, 1e30, 1e20, 1.0, 1e-20, 1e-30] {
            let groups = Groups::new(Sgd { lr: 1.0, ..Sgd::default() }).clip(Clip::GlobalNorm(1.0));
            let start = vec![0.0f32; 2000];
            let mut trainer = Trainer::new(&gpu, groups, &[("w", &start)]).unwrap();
            trainer.step(&[("w", &vec![value; 2000])]).unwrap();
            let (want, got) = (f64::from(value) * 2000f64.sqrt(), summary(&trainer));
            assert!((got.grad_norm - want).abs() <= 1e-5 * want, "{value}: {}", got.grad_norm);
            let norm = params(&trainer)["w"].iter().map(|p| f64::from(*p).powi(2)).sum::<f64>().sqrt();
            let want = want.min(1.0);
            assert!((norm - want).abs() <= 1e-2 * want + 1e-30, "{value}: moved {norm}, wanted {want}");
        }
    }
}

#[test]
fn the_device_scaler_takes_the_cpu_scalers_decisions_over_5000_steps() {
    for gpu in gpus() {
        let scaling = Scaling { growth_interval: 20, growth_factor: 1.7, backoff_factor: 0.6, ..Scaling::default() };
        let mut scaler = LossScaler::new(scaling.clone()).unwrap();
        let groups = Groups::new(Sgd::default()).loss_scale(LossScale::Dynamic(scaling));
        let mut trainer = Trainer::new(&gpu, groups, &[("w", &[0.0])]).unwrap();
        for (step, chance) in noise(5, 5000).into_iter().enumerate() {
            let overflow = chance > 0.9;
            trainer.step(&[("w", &[if overflow { f32::INFINITY } else { 1.0 }])]).unwrap();
            scaler.update(overflow);
            if step % 100 == 99 {
                assert_eq!(summary(&trainer).loss_scale, f64::from(scaler.scale()), "step {step}");
            }
        }
    }
}

#[test]
fn norms_of_large_tensors_are_summed_in_blocks() {
    // Past 4 Mi values a block is larger than a tile, and here the last one is not full.
    let tensors: Tensors = [("large", 9_000_001), ("small", 5)].map(|(name, n)| (name.to_owned(), noise(11, n))).into();
    let grads: Tensors = tensors.iter().map(|(name, values)| (name.clone(), noise(12, values.len()))).collect();
    for gpu in gpus() {
        let rule = webgpu_optim::Lamb { lr: 0.1, weight_decay: 0.1, ..Default::default() };
        let groups = Groups::new(rule).clip(Clip::GlobalNorm(1.0)).nonfinite(Nonfinite::Skip);
        let mut on_gpu = Trainer::new(&gpu, groups.clone(), &borrow(&tensors)).unwrap();
        let mut on_cpu = HostTrainer::new(groups, &borrow(&tensors)).unwrap();
        on_gpu.step(&borrow(&grads)).unwrap();
        on_cpu.step(&borrow(&grads)).unwrap();
        let (got, want) = (summary(&on_gpu).grad_norm, on_cpu.summary().unwrap().grad_norm);
        assert!((got - want).abs() <= 1e-5 * want, "norm {got}, wanted {want}");
        for (name, got) in params(&on_gpu) {
            let want = wide(on_cpu.params(&name).unwrap());
            let off = drift(&got, &want, 1.0);
            assert!(off <= 1e-5, "{name} off by {off:e} on {}", gpu.info().name);
        }
    }
}

#[test]
fn accumulated_gradients_are_a_weighted_mean_and_a_weight_of_zero_adds_nothing() {
    let groups = || Groups::new(Sgd { lr: 1.0, ..Sgd::default() });
    let batches = [(1.0, 3.0), (5.0, 1.0), (100.0, 0.0), (-2.0, 4.0)];
    let (sum, weight) =
        batches.iter().fold((0.0, 0.0), |(sum, all), (grad, weight)| (sum + grad * weight, all + weight));
    let want = -(sum / weight) as f32;
    let mut cpu = HostTrainer::new(groups(), &[("w", &[0.0]), ("b", &[0.0])]).unwrap();
    for gpu in gpus() {
        let mut trainer = Trainer::new(&gpu, groups(), &[("w", &[0.0]), ("b", &[0.0])]).unwrap();
        for window in 1..=3u8 {
            for (grad, weight) in batches {
                trainer.accumulate(&[("w", &[grad as f32])], weight).unwrap();
            }
            // Only the last window's, and never a stale mean.
            trainer.accumulate(&[("b", &[f32::from(window)])], 2.0).unwrap();
            trainer.step_accumulated().unwrap();
        }
        let params = params(&trainer);
        assert!((params["w"][0] - 3.0 * want).abs() < 1e-5 && params["b"][0] == -6.0, "{params:?}");
        assert_eq!(trainer.step_accumulated().unwrap_err().to_string(), "no gradients were accumulated");
    }
    for (grad, weight) in batches {
        cpu.accumulate(&[("w", &[grad as f32])], weight).unwrap();
    }
    assert_eq!(cpu.step(&[("w", &[1.0])]).unwrap_err().code(), "INVALID_CONFIG");
    assert_eq!(
        cpu.accumulate(&[("w", &[1.0])], f64::NAN).unwrap_err().to_string(),
        "weight must be finite and at least 0, got NaN"
    );
    cpu.step_accumulated().unwrap();
    assert!((cpu.params("w").unwrap()[0] - want).abs() < 1e-6);
    assert_eq!(cpu.params("b").unwrap(), [0.0]);
}

#[test]
fn accumulated_steps_are_clipped_and_skipped_as_others_are() {
    for gpu in gpus() {
        for kind in kinds() {
            let case = &cases(kind)[1];
            let groups = || case.groups.clone().clip(Clip::GlobalNorm(0.5)).nonfinite(Nonfinite::Skip);
            let mut at_once = Trainer::new(&gpu, groups(), &borrow(&case.params)).unwrap();
            let mut parts = Trainer::new(&gpu, groups(), &borrow(&case.params)).unwrap();
            for step in 1..=6u64 {
                let mut grads: Tensors =
                    case.params.iter().map(|(name, p)| (name.clone(), noise(step, p.len()))).collect();
                if step == 3 {
                    grads.get_mut("w").unwrap()[4] = f32::NAN;
                }
                at_once.step(&borrow(&grads)).unwrap();
                parts.accumulate(&borrow(&grads), 7.0).unwrap();
                parts.step_accumulated().unwrap();
            }
            assert_eq!(everything(&at_once), everything(&parts), "{kind}");
            assert_eq!(summary(&parts).skipped, 1);
        }
    }
}

#[test]
fn the_average_follows_every_step_that_is_taken_and_swaps_bit_for_bit() {
    for gpu in gpus() {
        for (warmup, skips) in [(false, false), (true, false), (false, true), (true, true)] {
            let ema = webgpu_optim::Ema { decay: 0.9, warmup };
            let mut groups = Groups::new(Sgd { lr: 0.5, ..Sgd::default() }).ema(ema);
            if skips {
                groups = groups.nonfinite(Nonfinite::Skip);
            }
            let start = noise(4, 1500);
            let mut on_gpu = Trainer::new(&gpu, groups.clone(), &[("w", &start), ("idle", &[3.0])]).unwrap();
            let mut on_cpu = HostTrainer::new(groups, &[("w", &start), ("idle", &[3.0])]).unwrap();
            let (mut p, mut e, mut t): (Vec<f64>, Vec<f64>, f64) = (wide(&start), wide(&start), 0.0);
            for step in 1..=25u64 {
                let mut grads = noise(step, 1500);
                let bad = skips && step % 6 == 0;
                if bad {
                    grads[7] = f32::NAN;
                }
                on_gpu.step(&[("w", &grads)]).unwrap();
                on_cpu.step(&[("w", &grads)]).unwrap();
                if !bad {
                    t += 1.0;
                    let decay = if warmup { f64::min(0.9, (1.0 + t) / (10.0 + t)) } else { 0.9 };
                    for ((p, e), grad) in p.iter_mut().zip(&mut e).zip(&grads) {
                        *p -= 0.5 * f64::from(*grad);
                        *e = decay * *e + (1.0 - decay) * *p;
                    }
                }
            }
            let averages = pollster::block_on(on_gpu.averages().unwrap()).unwrap();
            for got in [averages["w"].as_slice(), on_cpu.average("w").unwrap()] {
                assert!(drift(got, &e, 1.0) < 1e-5, "warm-up {warmup}, skips {skips}: {}", common::mismatches(got, &e));
            }
            assert_eq!(averages["idle"], [3.0]);
            let before = params(&on_gpu);
            on_gpu.swap_ema().unwrap();
            assert_eq!(bits(&params(&on_gpu)), bits(&averages.into_iter().collect()));
            assert_eq!(on_gpu.step(&[("idle", &[1.0])]).unwrap_err().code(), "INVALID_CONFIG");
            on_gpu.swap_ema().unwrap();
            assert_eq!(bits(&params(&on_gpu)), bits(&before));
        }
        let mut without = Trainer::new(&gpu, Sgd::default(), &[("w", &[1.0])]).unwrap();
        assert_eq!(without.swap_ema().unwrap_err().code(), "UNSUPPORTED");
    }
}
