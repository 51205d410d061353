//! The last steps as a device keeps them are those that the CPU keeps.
#![cfg(all(feature = "gpu", not(target_arch = "wasm32")))]

mod common;

use common::{Tensors, borrow, cases, gpus, kinds, noise};
use webgpu_optim::{Clip, Groups, HostTrainer, LossScale, Nonfinite, Record, Scaling, Sgd, Trainer};

fn history(trainer: &Trainer) -> Vec<Record> {
    pollster::block_on(trainer.summary()).unwrap().unwrap().history
}

fn near(got: f64, want: f64) -> bool {
    (got - want).abs() <= 2e-5 * want.abs() + 1e-30
}

#[test]
fn the_device_keeps_the_last_steps_as_the_cpu_does() {
    for gpu in gpus() {
        for kind in kinds() {
            for case in cases(kind).into_iter().take(4) {
                let plain = case.groups.clone().history(4);
                let scaling = Scaling { init: 8.0, growth_interval: 2, ..Scaling::default() };
                let all = plain.clone().clip(Clip::GlobalNorm(0.5)).loss_scale(LossScale::Dynamic(scaling));
                for groups in [plain, all] {
                    let mut tensors = case.params.clone();
                    tensors.insert("large".into(), noise(3, 70_001));
                    tensors.insert("none".into(), Vec::new());
                    let mut on_gpu = Trainer::new(&gpu, groups.clone(), &borrow(&tensors)).unwrap();
                    let mut on_cpu = HostTrainer::new(groups, &borrow(&tensors)).unwrap();
                    for step in 1..=7u64 {
                        let noisy = |(name, it): (&String, &Vec<f32>)| (name.clone(), noise(step, it.len()));
                        let mut grads: Tensors = tensors.iter().map(noisy).collect();
                        if step == 5 {
                            grads.remove("w");
                        }
                        if step == 6 && on_cpu.ledger().control().skips() {
                            grads.get_mut("large").unwrap()[69_999] = f32::NAN;
                        }
                        on_gpu.step(&borrow(&grads)).unwrap();
                        on_cpu.step(&borrow(&grads)).unwrap();
                    }
                    same(&history(&on_gpu), &on_cpu.summary().unwrap().history, &format!("{kind} {}", case.name));
                }
            }
        }
    }
}

fn same(got: &[Record], want: &[Record], what: &str) {
    assert_eq!(got.iter().map(|it| it.step).collect::<Vec<_>>(), [4, 5, 6, 7], "{what}");
    for (got, want) in got.iter().zip(want) {
        assert_eq!((got.step, got.skipped, got.loss_scale), (want.step, want.skipped, want.loss_scale), "{what}");
        assert!(near(got.grad_norm, want.grad_norm) && near(got.clip_factor, want.clip_factor), "{what}");
        assert_eq!(got.tensors.len(), want.tensors.len());
        for (got, want) in got.tensors.iter().zip(&want.tensors) {
            assert_eq!(got.grad.nonfinite, want.grad.nonfinite);
            // An update is a difference of parameters: it has their rounding.
            let off = (got.update - want.update).abs();
            assert!(off <= 2e-5 * want.update + 1e-6 * want.param, "{what}: {got:?}, wanted {want:?}");
            assert!(
                near(got.grad.norm, want.grad.norm) && near(got.param, want.param),
                "{what}: {got:?}, wanted {want:?}"
            );
        }
    }
}

#[test]
fn a_history_tells_when_and_where_a_run_broke() {
    for gpu in gpus() {
        let groups = Groups::new(Sgd { lr: 1.0, ..Sgd::default() }).history(8).nonfinite(Nonfinite::Skip);
        let mut trainer = Trainer::new(&gpu, groups, &[("a", &[3.0, 4.0]), ("b", &[1.0])]).unwrap();
        trainer.step(&[("a", &[3.0, 4.0]), ("b", &[2.0])]).unwrap();
        trainer.step(&[("a", &[1.0, 1.0]), ("b", &[f32::INFINITY])]).unwrap();
        trainer.step(&[("a", &[0.0, 2.0])]).unwrap();
        let history = history(&trainer);
        assert_eq!(history.iter().map(|it| it.skipped).collect::<Vec<_>>(), [false, true, false]);
        let of =
            |step: usize, tensor: usize| (history[step].tensors[tensor].update, history[step].tensors[tensor].param);
        assert_eq!([of(0, 0), of(0, 1)], [(5.0, 0.0), (2.0, 1.0)]);
        assert_eq!([of(1, 0), of(1, 1)], [(0.0, 0.0), (0.0, 1.0)]);
        assert_eq!([of(2, 0), of(2, 1)], [(2.0, 2.0), (0.0, 1.0)]);
        assert_eq!(history[1].tensors.iter().map(|it| it.grad.nonfinite).collect::<Vec<_>>(), [false, true]);
        let huge = [f32::MAX / 2.0; 1000];
        let groups = Groups::new(Sgd { lr: 1.0, ..Sgd::default() }).history(1);
        let mut trainer = Trainer::new(&gpu, groups, &[("w", &huge)]).unwrap();
        trainer.step(&[("w", &huge)]).unwrap();
        let record = &self::history(&trainer)[0];
        assert!(near(record.tensors[0].update, f64::from(f32::MAX) / 2.0 * 1000f64.sqrt()), "{record:?}");
    }
}
