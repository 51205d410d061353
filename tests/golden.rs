//! PyTorch and optax judge the CPU reference.
#![cfg(not(target_arch = "wasm32"))]

mod common;

use common::{Case, Scales, cases, change, drift, grads_at, host, inputs, kinds, mismatches, report};
use serde_json::Value;
use webgpu_optim::{AnyRule, Control, Groups, HostTrainer};

/// Rounding of f32 arithmetic; errors of 300 steps add up.
fn bound(step: u64) -> f64 {
    if step <= 10 { 2e-6 } else { 2e-5 }
}

fn floats(value: &Value) -> Vec<f64> {
    serde_json::from_value(value.clone()).unwrap()
}

/// Drift of parameters and of every slot at a checkpoint, or what is off.
fn compare(case: &Case, step: u64, want: &Value, trainer: &HostTrainer, scales: &mut Scales) -> Result<f64, String> {
    let mut worst = 0.0f64;
    let mut one = |what: &str, name: &str, got: &[f32], want: Vec<f64>| {
        let drift = drift(got, &want, scales.grow(name, what, &want));
        worst = worst.max(drift);
        if drift <= bound(step) {
            return Ok(());
        }
        let case = format!("{} {}", case.kind, case.name);
        Err(format!("{case}: {what} of {name} off by {drift:e} at step {step}: {}", mismatches(got, &want)))
    };
    for (name, values) in want["params"].as_object().unwrap() {
        one("params", name, trainer.params(name).unwrap(), floats(values))?;
    }
    for (name, slots) in want["slots"].as_object().unwrap() {
        for (slot, values) in slots.as_object().unwrap() {
            one(slot, name, trainer.slot(name, slot).unwrap(), floats(values))?;
        }
    }
    Ok(worst)
}

/// Drift up to step 10, and after it.
fn drift_of(case: &Case, grads: &[common::Tensors]) -> Result<[f64; 2], String> {
    let mut trainer = host(case);
    let mut worst = [0.0f64; 2];
    let mut scales = Scales::of_params(&case.params);
    for step in 1..=case.checkpoints.last().unwrap().0 {
        change(case, step, |index, group| trainer.set(index, group).unwrap());
        trainer.step(&grads_at(case, &grads[step as usize - 1], step)).unwrap();
        if let Some((_, want)) = case.checkpoints.iter().find(|(at, _)| *at == step) {
            let drift = compare(case, step, want, &trainer, &mut scales)?;
            let place = usize::from(step > 10);
            worst[place] = worst[place].max(drift);
        }
    }
    Ok(worst)
}

#[test]
fn the_cpu_reference_follows_the_recorded_trajectories() {
    let inputs = inputs();
    for kind in kinds() {
        let cases = cases(kind);
        assert!(cases.len() >= 8, "{kind} has {} goldens", cases.len());
        let drifts: Vec<_> = cases.iter().map(|case| drift_of(case, &inputs.grads).unwrap()).collect();
        for (place, after) in [(0, 10), (1, 300)] {
            let worst = drifts.iter().fold(0.0, |worst: f64, drift| worst.max(drift[place]));
            report("golden", "cpu", kind, cases.len(), after, worst);
        }
    }
}

#[test]
fn every_recorded_slot_exists_and_no_other() {
    for kind in kinds() {
        for case in cases(kind) {
            let trainer = host(&case);
            let recorded = case.checkpoints[0].1["slots"].as_object().unwrap();
            let recorded: std::collections::BTreeSet<_> =
                recorded.values().flat_map(|slots| slots.as_object().unwrap().keys().map(String::as_str)).collect();
            let mine = trainer.ledger().slots().map(|(_, slot)| slot).collect();
            assert_eq!(recorded, mine, "{kind} {}", case.name);
        }
    }
}

#[test]
fn the_comparison_can_fail() {
    for kind in kinds() {
        let case = &cases(kind)[0];
        let mut wrong = inputs().grads;
        for tensors in &mut wrong {
            tensors.values_mut().flatten().for_each(|value| *value *= 1.01);
        }
        assert!(drift_of(case, &wrong).is_err(), "{kind}: gradients 1 % off went unnoticed");
    }
}

/// Gradients as they come from a scaled loss, one value planted.
fn scaled(grads: &common::Tensors, scale: f64, planted: Option<&str>) -> common::Tensors {
    let mut scaled = grads.clone();
    scaled.values_mut().flatten().for_each(|value| *value *= scale as f32);
    if let Some(bad) = planted {
        scaled.get_mut("w").unwrap()[2] = bad.parse().unwrap();
    }
    scaled
}

fn control_drift(case: &Value, inputs: &common::Inputs) -> [f64; 2] {
    let rule = AnyRule::decode(case["rule"].as_str().unwrap(), case["config"].clone()).unwrap();
    let control: Control = serde_json::from_value(case["control"].clone()).unwrap();
    let mut groups = Groups::new(rule).nonfinite(control.nonfinite);
    groups = control.clip.into_iter().fold(groups, Groups::clip);
    groups = control.loss_scale.into_iter().fold(groups, Groups::loss_scale);
    let mut trainer = HostTrainer::new(groups, &common::borrow(&inputs.params)).unwrap();
    let mut scales = Scales::of_params(&inputs.params);
    let (mut worst, mut skipped) = ([0.0f64; 2], 0);
    for (step, grads) in (1..).zip(&inputs.grads) {
        let planted = case["planted"][step.to_string()].as_str();
        skipped += u64::from(planted.is_some());
        let scale = trainer.summary().unwrap().loss_scale;
        trainer.step(&common::borrow(&scaled(grads, scale, planted))).unwrap();
        let summary = trainer.summary().unwrap();
        assert_eq!((summary.step, summary.skipped), (step - skipped, skipped));
        if let Some(want) = case["scales"][step as usize - 1].as_f64() {
            assert_eq!(summary.loss_scale, want, "{} {} after step {step}", case["rule"], case["control"]);
        }
        if let Some(want) = case["checkpoints"].get(step.to_string()) {
            for (name, values) in want.as_object().unwrap() {
                let (got, want) = (trainer.params(name).unwrap(), floats(values));
                let off = drift(got, &want, scales.grow(name, "params", &want));
                let what = format!("{} {} {name} at {step}", case["rule"], case["control"]);
                assert!(off <= bound(step), "{what}: off by {off:e}: {}", mismatches(got, &want));
                let place = usize::from(step > 10);
                worst[place] = worst[place].max(off);
            }
        }
    }
    worst
}

#[test]
fn clipping_skipping_and_loss_scaling_follow_pytorch() {
    let inputs = inputs();
    let golden: Value = serde_json::from_str(include_str!("golden/control.json")).unwrap();
    let cases = golden["cases"].as_array().unwrap();
    assert!(cases.len() >= 18);
    for rule in ["sgd", "adamw", "adagrad"] {
        let own: Vec<_> = cases.iter().filter(|case| case["rule"] == rule).collect();
        let drifts: Vec<_> = own.iter().map(|case| control_drift(case, &inputs)).collect();
        for (place, after) in [(0, 10), (1, 300)] {
            let worst = drifts.iter().fold(0.0, |worst: f64, drift| worst.max(drift[place]));
            report("golden, clip and scale", "cpu", rule, own.len(), after, worst);
        }
    }
}
