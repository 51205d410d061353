//! Failures seen in other projects, each as a test of what is right; most stand beside what they belong to.
#![cfg(all(feature = "gpu", not(target_arch = "wasm32")))]

mod common;

use common::{gpus, kinds, noise};
use webgpu_optim::gpu::{Form, Params};
use webgpu_optim::{AnyRule, Clip, Gpu, Groups, REGISTRY, Sgd, Trainer};

fn default(kind: &str) -> AnyRule {
    (REGISTRY.iter().find(|entry| entry.kind == kind).unwrap().default)()
}

fn largest() -> Gpu {
    gpus().into_iter().max_by_key(|gpu| gpu.device().limits().max_buffer_size).unwrap()
}

#[test]
fn gradients_of_zero_and_of_one_repeated_row_leave_every_rule_finite() {
    for gpu in gpus() {
        for kind in kinds() {
            let mut trainer = Trainer::new(&gpu, default(kind), &[("w", &[1.0; 12]), ("zero", &[0.0; 12])]).unwrap();
            let row = [0.5, -0.25, 1.0].repeat(4);
            for grads in [[0.0; 12].to_vec(), row.clone(), vec![0.0; 12], row] {
                trainer.step(&[("w", &grads), ("zero", &grads)]).unwrap();
            }
            let params = pollster::block_on(trainer.params()).unwrap();
            assert!(params.values().flatten().all(|value| value.is_finite()), "{kind}: {params:?}");
        }
    }
}

#[test]
fn clipping_by_tensor_keeps_each_direction_and_by_global_norm_that_of_all() {
    for gpu in gpus() {
        let stepped = |clip| {
            let groups = Groups::new(Sgd { lr: 1.0, ..Sgd::default() }).clip(clip);
            let mut trainer = Trainer::new(&gpu, groups, &[("a", &[0.0]), ("b", &[0.0, 0.0])]).unwrap();
            trainer.step(&[("a", &[12.0]), ("b", &[3.0, -4.0])]).unwrap();
            let params = pollster::block_on(trainer.params()).unwrap();
            [params["a"][0], params["b"][0], params["b"][1]]
        };
        let near = |got: [f32; 3], want: [f32; 3]| got.iter().zip(want).all(|(got, want)| (got - want).abs() < 1e-5);
        assert!(near(stepped(Clip::GlobalNorm(1.3)), [-1.2, -0.3, 0.4])); // the norm of all is 13
        assert!(near(stepped(Clip::TensorNorm(1.3)), [-1.3, -0.78, 1.04])); // those of each 12 and 5
        assert!(near(stepped(Clip::Value(3.5)), [-3.5, -3.0, 3.5]));
    }
}

#[test]
fn tensors_of_20_and_70_million_values_are_updated_to_their_ends() {
    let gpu = largest();
    for length in [20_000_000, 70_000_001] {
        let rule = Sgd { lr: 0.5, weight_decay: 0.25, ..Sgd::default() };
        let params = vec![1.0f32; length];
        let groups = Groups::new(rule).values_per_submit(16_000_000);
        let mut trainer = Trainer::new(&gpu, groups, &[("w", &params)]).unwrap();
        trainer.step(&[("w", &params)]).unwrap();
        let got = pollster::block_on(trainer.params()).unwrap();
        assert_eq!(got["w"].len(), length);
        assert!(got["w"].iter().all(|value| *value == 0.375)); // 1 - 0.5 * (1 + 0.25)
    }
}

#[test]
fn more_values_than_a_kernel_can_count_are_refused_with_their_number() {
    let length = usize::try_from(u64::from(u32::MAX) + 1).unwrap();
    let refused = Trainer::placed(&largest(), Sgd::default(), &[("w", Params::Zeroed(length))]).map(drop);
    let message = refused.unwrap_err().to_string();
    assert_eq!(message, "`w` has 4294967296 values; a tensor may have at most 4294967295");
}

#[test]
fn what_is_not_finite_is_told_by_its_exponent_bits() {
    let [step, ..] = webgpu_optim::gpu::described();
    let text = Form::default().complete(step.source);
    assert!(text.contains("(bits & vec4<u32>(0x7f800000u)) != vec4<u32>(0x7f800000u)"));
    assert!(text.contains("var<storage, read> grads: array<vec4<u32>>"), "gradients are loaded as bits");
    let plain = |word: &str| word.chars().all(|c| c.is_alphanumeric() || "._[]".contains(c));
    for line in text.lines() {
        for (left, right) in line.split(" != ").zip(line.split(" != ").skip(1)) {
            let (left, right) = (left.split_whitespace().last().unwrap(), right.split_whitespace().next().unwrap());
            assert!(left != right || !plain(left), "a compiler may take this for false: {line}");
        }
    }
    for gpu in gpus() {
        for (bits, bad) in
            [(0x7f80_0000, true), (0xff80_0000, true), (0x7fc0_0000, true), (0x7f80_0001, true), (0x7f7f_ffff, false)]
        {
            let groups = Groups::new(Sgd::default()).nonfinite(webgpu_optim::Nonfinite::Skip);
            let mut trainer = Trainer::new(&gpu, groups, &[("w", &noise(1, 5))]).unwrap();
            trainer.step(&[("w", &[0.0, 0.0, 0.0, 0.0, f32::from_bits(bits)])]).unwrap();
            let summary = pollster::block_on(trainer.summary()).unwrap().unwrap();
            assert_eq!((summary.found_nonfinite, summary.skipped), (bad, u64::from(bad)), "{bits:x}");
        }
    }
}
