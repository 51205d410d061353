//! A run goes on from its snapshot, bit for bit, on another device.
#![cfg(all(feature = "gpu", not(target_arch = "wasm32")))]

mod common;

use common::{Act, Tensors, acts, borrow, cases, everything, gpus, kinds};
use webgpu_optim::gpu::{Params, View};
use webgpu_optim::{Clip, Ema, Error, Gpu, LossScale, Scaling, Trainer};

fn act(trainer: &mut Trainer, start: &Tensors, steps: std::ops::Range<u64>) {
    acts(start, steps, |act| match act {
        Act::Step(grads) => trainer.step(grads),
        Act::Accumulate(grads, weight) => trainer.accumulate(grads, weight),
        Act::StepAccumulated => trainer.step_accumulated(),
    });
}

#[test]
fn a_run_goes_on_from_its_snapshot_bit_for_bit() {
    for gpu in gpus() {
        for kind in kinds() {
            for case in cases(kind).into_iter().take(3) {
                let scale = LossScale::Dynamic(Scaling { init: 8.0, growth_interval: 3, ..Scaling::default() });
                let controlled = case.groups.clone().clip(Clip::GlobalNorm(0.5)).loss_scale(scale).ema(Ema::default());
                for groups in [case.groups.clone(), controlled] {
                    let mut undisturbed = Trainer::new(&gpu, groups.clone(), &borrow(&case.params)).unwrap();
                    let mut lost = Trainer::new(&gpu, groups, &borrow(&case.params)).unwrap();
                    act(&mut undisturbed, &case.params, 0..16);
                    act(&mut lost, &case.params, 0..8);
                    let taking = lost.state();
                    act(&mut lost, &case.params, 8..9);
                    let snapshot = pollster::block_on(taking).unwrap();
                    let device = another(&gpu);
                    let mut again = Trainer::restored(&device, &snapshot, &[]).unwrap();
                    act(&mut again, &case.params, 8..16);
                    assert_eq!(bits(&again), bits(&undisturbed), "{kind} {}", case.name);
                    let [got, want] =
                        [&again, &undisturbed].map(|trainer| pollster::block_on(trainer.summary()).unwrap());
                    assert_eq!(got, want);
                }
            }
        }
    }
}

fn bits(trainer: &Trainer) -> Vec<Vec<u32>> {
    let of = |tensors: Tensors| tensors.values().flatten().map(|value| value.to_bits()).collect();
    everything(trainer).into_values().map(of).collect()
}

/// Another device of the same adapter.
fn another(gpu: &Gpu) -> Gpu {
    gpus().into_iter().find(|it| it.info().name == gpu.info().name).unwrap()
}

#[test]
fn a_run_in_buffers_of_the_caller_goes_on_in_others() {
    for gpu in gpus() {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let descriptor = wgpu::BufferDescriptor { label: None, size: 20, usage, mapped_at_creation: false };
        let [old, new] = [(); 2].map(|()| Params::Own(View::whole(&gpu.device().create_buffer(&descriptor))));
        let mut trainer = Trainer::placed(&gpu, webgpu_optim::Sgd::default(), &[("w", old)]).unwrap();
        trainer.step(&[("w", &[1.0; 5])]).unwrap();
        let snapshot = pollster::block_on(trainer.state()).unwrap();
        assert_eq!(snapshot.ledger().steps(), 1);
        let again = Trainer::restored(&gpu, &snapshot, &[("w", new.clone())]).unwrap();
        assert_eq!(everything(&again), everything(&trainer));
        let Params::Own(view) = new else { unreachable!() };
        assert_eq!(again.param_slices("w").unwrap()[0].buffer, view.buffer);
        let refused = Trainer::restored(&gpu, &snapshot, &[("w", Params::Zeroed(4))]).map(drop);
        assert!(matches!(refused, Err(Error::LengthMismatch { .. })));
    }
}

#[test]
fn a_run_that_moved_to_the_cpu_and_back_in_mid_training_is_as_one_that_stayed() {
    for gpu in gpus() {
        for kind in kinds() {
            let case = &cases(kind)[0];
            let scale = LossScale::Dynamic(Scaling { init: 8.0, growth_interval: 3, ..Scaling::default() });
            let groups = case.groups.clone().clip(Clip::GlobalNorm(0.5)).loss_scale(scale).ema(Ema::default());
            let [mut stayed, mut moved] =
                [(); 2].map(|()| Trainer::new(&gpu, groups.clone(), &borrow(&case.params)).unwrap());
            act(&mut stayed, &case.params, 0..16);
            act(&mut moved, &case.params, 0..8);
            let (before, summary) = (everything(&moved), pollster::block_on(moved.summary()).unwrap());
            pollster::block_on(moved.move_to_cpu()).unwrap();
            assert!(moved.parked().is_some());
            assert_eq!((everything(&moved), pollster::block_on(moved.summary()).unwrap()), (before, summary));
            let refused = [
                moved.step(&[]),
                moved.run(None),
                moved.accumulate(&[], 1.0),
                moved.step_accumulated(),
                moved.swap_ema(),
                moved.set_lr(0, 1.0),
                moved.param_slices("w").map(drop),
            ];
            for refusal in refused {
                assert!(matches!(refusal, Err(Error::Unsupported { .. } | Error::InvalidConfig { .. })), "{refusal:?}");
            }
            moved.move_to_gpu().unwrap();
            act(&mut moved, &case.params, 8..16);
            assert_eq!(bits(&moved), bits(&stayed), "{kind}");
        }
    }
}
