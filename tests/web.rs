//! In a browser, on WebGPU: the CPU reference judges the kernels once more.
#![cfg(all(target_arch = "wasm32", feature = "js"))]

mod common;

use common::{Case, Scales, Tensors, borrow, cases, change, compare, edge_tensors, kinds, scaled_noise};
use wasm_bindgen_test::{console_log, wasm_bindgen_test, wasm_bindgen_test_configure};
use webgpu_optim::{Clip, Gpu, Groups, HostTrainer, Lamb, Nonfinite, Sgd, Trainer};

wasm_bindgen_test_configure!(run_in_browser);

const BOUND: f64 = 1e-5;

/// Drift after a number of steps; the GPU's gradients are multiplied by `wrong`.
async fn run(gpu: &Gpu, case: &Case, steps: u64, wrong: f32) -> Result<f64, String> {
    let params = edge_tensors(case);
    let mut on_gpu = Trainer::new(gpu, case.groups.clone(), &borrow(&params)).unwrap();
    let mut on_cpu = HostTrainer::new(case.groups.clone(), &borrow(&params)).unwrap();
    let mut scales = Scales::of_params(&params);
    for step in 1..=steps {
        change(case, step, |index, group| {
            on_gpu.set(index, group.clone()).unwrap();
            on_cpu.set(index, group).unwrap();
        });
        let mut grads = scaled_noise(&params, step, case);
        on_cpu.step(&borrow(&grads)).unwrap();
        grads.values_mut().flatten().for_each(|value| *value *= wrong);
        on_gpu.step(&borrow(&grads)).unwrap();
    }
    compare(&on_gpu, &on_cpu, &mut scales, BOUND).await.map_err(|why| format!("{} {}: {why}", case.kind, case.name))
}

async fn judge(after: u64, most: usize) {
    let gpu = Gpu::new().await.unwrap();
    for kind in kinds() {
        let (mut worst, mut count) = (0.0f64, 0);
        for case in cases(kind).iter().take(most) {
            worst = worst.max(run(&gpu, case, after, 1.0).await.unwrap());
            count += 1;
        }
        // The browser keeps the adapter's name to itself.
        let device = "Chromium";
        let line = serde_json::json!({ "judge": "parity", "device": device, "rule": kind, "cases": count, "after": after, "drift": worst });
        console_log!("REPORT {line}");
    }
}

#[wasm_bindgen_test]
async fn the_kernels_follow_the_cpu_reference_for_10_steps() {
    judge(10, usize::MAX).await;
}

#[wasm_bindgen_test]
async fn the_kernels_follow_the_cpu_reference_for_300_steps() {
    judge(300, 4).await;
}

#[wasm_bindgen_test]
async fn the_comparison_can_fail() {
    let gpu = Gpu::new().await.unwrap();
    for kind in kinds() {
        assert!(run(&gpu, &cases(kind)[0], 10, 1.01).await.is_err(), "{kind}: gradients 1 % off went unnoticed");
    }
}

#[wasm_bindgen_test]
async fn a_zero_length_tensor_at_the_end_disturbs_no_other() {
    let gpu = Gpu::new().await.unwrap();
    let rule = || Lamb { lr: 0.1, weight_decay: 0.1, ..Lamb::default() };
    let mut with = Trainer::new(&gpu, rule(), &[("w", &[1.0, 2.0]), ("empty", &[])]).unwrap();
    let mut without = Trainer::new(&gpu, rule(), &[("w", &[1.0, 2.0])]).unwrap();
    with.step(&[("w", &[0.3, -0.4]), ("empty", &[])]).unwrap();
    without.step(&[("w", &[0.3, -0.4])]).unwrap();
    assert_eq!(with.params().await.unwrap()["w"], without.params().await.unwrap()["w"]);
}

#[wasm_bindgen_test]
async fn a_step_that_is_not_finite_is_skipped_and_others_are_clipped() {
    let gpu = Gpu::new().await.unwrap();
    let groups = Groups::new(Sgd { lr: 1.0, ..Sgd::default() }).clip(Clip::GlobalNorm(1.0)).nonfinite(Nonfinite::Skip);
    let mut trainer = Trainer::new(&gpu, groups, &[("w", &[0.0, 0.0])]).unwrap();
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        trainer.step(&[("w", &[bad, 1.0])]).unwrap();
    }
    trainer.step(&[("w", &[3.0, -4.0])]).unwrap();
    let params: Tensors = trainer.params().await.unwrap().into_iter().collect();
    assert!((params["w"][0] + 0.6).abs() < 1e-5 && (params["w"][1] - 0.8).abs() < 1e-5);
    let summary = trainer.summary().await.unwrap().unwrap();
    assert_eq!((summary.step, summary.skipped), (1, 3));
}
