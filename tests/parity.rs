//! The CPU reference judges the kernels, on every adapter of this machine.
#![cfg(all(feature = "gpu", not(target_arch = "wasm32")))]

mod common;

use common::{Case, Scales, borrow, cases, change, edge_tensors, gpus, kinds, noise, read, report, scaled_noise};
use std::collections::BTreeMap;
use webgpu_optim::{AdamW, Gpu, HostTrainer, Lamb, Sgd, Trainer};

const BOUND: f64 = 1e-5;
/// [`common::compare`], waited for.
fn compare(what: &str, gpu: &Trainer, cpu: &HostTrainer, scales: &mut Scales) -> Result<f64, String> {
    pollster::block_on(common::compare(gpu, cpu, scales, BOUND)).map_err(|why| format!("{what}: {why}"))
}

fn run(gpu: &Gpu, case: &Case) -> [f64; 2] {
    let params = edge_tensors(case);
    let mut on_gpu = Trainer::new(gpu, case.groups.clone(), &borrow(&params)).unwrap();
    let mut on_cpu = HostTrainer::new(case.groups.clone(), &borrow(&params)).unwrap();
    let mut worst = [0.0; 2];
    let mut scales = Scales::of_params(&params);
    for step in 1..=300 {
        change(case, step, |index, group| {
            on_gpu.set(index, group.clone()).unwrap();
            on_cpu.set(index, group).unwrap();
        });
        let grads = scaled_noise(&params, step, case);
        on_gpu.step(&borrow(&grads)).unwrap();
        on_cpu.step(&borrow(&grads)).unwrap();
        if step == 10 || step == 300 {
            let what = format!("{} {} on {}, step {step}", case.kind, case.name, gpu.info().name);
            worst[usize::from(step == 300)] = compare(&what, &on_gpu, &on_cpu, &mut scales).unwrap();
        }
    }
    worst
}

#[test]
fn the_kernels_follow_the_cpu_reference() {
    for gpu in gpus() {
        for kind in kinds() {
            let cases = cases(kind);
            let drifts: Vec<_> = cases.iter().map(|case| run(&gpu, case)).collect();
            for (place, after) in [(0, 10), (1, 300)] {
                let worst = drifts.iter().fold(0.0, |worst: f64, drift| worst.max(drift[place]));
                report("parity", &gpu.info().name, kind, cases.len(), after, worst);
            }
        }
    }
}

#[test]
fn the_comparison_can_fail() {
    for gpu in gpus() {
        for kind in kinds() {
            let case = &cases(kind)[0];
            let params = edge_tensors(case);
            let mut on_gpu = Trainer::new(&gpu, case.groups.clone(), &borrow(&params)).unwrap();
            let mut on_cpu = HostTrainer::new(case.groups.clone(), &borrow(&params)).unwrap();
            for step in 1..=10 {
                let mut grads = scaled_noise(&params, step, case);
                on_cpu.step(&borrow(&grads)).unwrap();
                grads.values_mut().flatten().for_each(|value| *value *= 1.01);
                on_gpu.step(&borrow(&grads)).unwrap();
            }
            let noticed = compare(kind, &on_gpu, &on_cpu, &mut Scales::of_params(&params));
            assert!(noticed.is_err(), "{kind}: gradients 1 % off went unnoticed");
        }
    }
}

/// A device of the same kind with lower limits.
fn limited(name: &str, limit: impl Fn(&mut wgpu::Limits)) -> Gpu {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::all()));
    let adapter = adapters.iter().find(|adapter| adapter.get_info().name == name).unwrap();
    pollster::block_on(Gpu::open(adapter, limit)).unwrap()
}

#[test]
fn a_tensor_larger_than_a_binding_is_split_into_windows() {
    for gpu in gpus() {
        let gpu = limited(&gpu.info().name, |limits| limits.max_storage_buffer_binding_size = 1 << 14);
        for kind in kinds() {
            for case in cases(kind).iter().take(2) {
                run(&gpu, case);
                let mut tensors = edge_tensors(case);
                tensors.insert("large".into(), noise(7, 10_001));
                let trainer = Trainer::new(&gpu, case.groups.clone(), &borrow(&tensors)).unwrap();
                assert!(trainer.grad_slices("large").unwrap().len() > 2);
            }
        }
    }
}

#[test]
fn past_the_workgroup_limit_the_grid_folds() {
    for gpu in gpus() {
        let gpu = limited(&gpu.info().name, |limits| limits.max_compute_workgroups_per_dimension = 5);
        for kind in kinds() {
            run(&gpu, &cases(kind)[0]);
        }
    }
}

#[test]
fn one_value_past_65_535_workgroups_is_updated() {
    let length = 65_535 * 1024 + 1;
    let gpu = gpus().into_iter().max_by_key(|gpu| gpu.device().limits().max_buffer_size).unwrap();
    let rule = Sgd { lr: 0.5, weight_decay: 0.25, ..Sgd::default() };
    let params = vec![1.0f32; length];
    let mut trainer = Trainer::new(&gpu, rule, &[("w", &params), ("after", &[1.0])]).unwrap();
    trainer.step(&[("w", &params), ("after", &[1.0])]).unwrap();
    let got = pollster::block_on(trainer.params()).unwrap();
    assert!(got["w"].iter().all(|value| *value == 0.375)); // 1 - 0.5 * (1 + 0.25)
    assert_eq!(got["after"], [0.375]);
}

#[test]
fn reading_gives_the_values_as_of_the_call_and_does_not_block_the_next_step() {
    for gpu in gpus() {
        let mut trainer = Trainer::new(&gpu, Sgd { lr: 1.0, ..Sgd::default() }, &[("w", &[8.0])]).unwrap();
        trainer.step(&[("w", &[1.0])]).unwrap();
        let early = trainer.params();
        trainer.step(&[("w", &[1.0])]).unwrap();
        let late = trainer.params();
        assert_eq!(pollster::block_on(late).unwrap()["w"], [6.0]);
        assert_eq!(pollster::block_on(early).unwrap()["w"], [7.0]);
    }
}

#[test]
fn the_gradient_is_bit_identical_after_a_step() {
    for gpu in gpus() {
        for kind in kinds() {
            for case in cases(kind) {
                let params = edge_tensors(&case);
                let mut trainer = Trainer::new(&gpu, case.groups.clone(), &borrow(&params)).unwrap();
                let grads = scaled_noise(&params, 1, &Case { missing: BTreeMap::new(), ..case });
                trainer.step(&borrow(&grads)).unwrap();
                for (name, want) in &grads {
                    let got: Vec<f32> = trainer
                        .grad_slices(name)
                        .unwrap()
                        .iter()
                        .flat_map(|it| read(&gpu, &it.buffer, it.offset, it.size))
                        .collect();
                    assert_eq!(bytemuck::cast_slice::<f32, u32>(&got), bytemuck::cast_slice::<f32, u32>(want));
                }
            }
        }
    }
}

#[test]
fn a_zero_length_tensor_at_the_end_disturbs_no_other() {
    for gpu in gpus() {
        let rule = || Lamb { lr: 0.1, weight_decay: 0.1, ..Lamb::default() };
        let mut with = Trainer::new(&gpu, rule(), &[("w", &[1.0, 2.0]), ("empty", &[])]).unwrap();
        let mut without = Trainer::new(&gpu, rule(), &[("w", &[1.0, 2.0])]).unwrap();
        with.step(&[("w", &[0.3, -0.4]), ("empty", &[])]).unwrap();
        without.step(&[("w", &[0.3, -0.4])]).unwrap();
        let (with, without) =
            (pollster::block_on(with.params()).unwrap(), pollster::block_on(without.params()).unwrap());
        assert_eq!(with["w"], without["w"]);
        assert!(with["empty"].is_empty());
        let mut only = Trainer::new(&gpu, rule(), &[("empty", &[])]).unwrap();
        only.step(&[("empty", &[])]).unwrap();
        assert!(pollster::block_on(only.params()).unwrap()["empty"].is_empty());
    }
}

#[test]
fn a_slot_that_becomes_needed_is_added_in_mid_run() {
    for gpu in gpus() {
        let group = |momentum| webgpu_optim::Group {
            rule: Sgd { lr: 0.1, momentum, ..Sgd::default() }.into(),
            schedule: None,
            names: Vec::new(),
        };
        let params: &[(&str, &[f32])] = &[("w", &[1.0, 2.0, 3.0])];
        let mut on_gpu = Trainer::new(&gpu, Sgd { lr: 0.1, ..Sgd::default() }, params).unwrap();
        let mut on_cpu = HostTrainer::new(Sgd { lr: 0.1, ..Sgd::default() }, params).unwrap();
        for (step, momentum) in [0.0, 0.9, 0.9, 0.0, 0.9].into_iter().enumerate() {
            on_gpu.set(0, group(momentum)).unwrap();
            on_cpu.set(0, group(momentum)).unwrap();
            let grads = noise(step as u64 + 1, 3);
            on_gpu.step(&[("w", &grads)]).unwrap();
            on_cpu.step(&[("w", &grads)]).unwrap();
            compare("momentum set in mid-run", &on_gpu, &on_cpu, &mut Scales::default()).unwrap();
        }
    }
}

#[test]
fn a_step_with_what_stands_in_the_gradient_buffers_equals_a_step_with_arrays() {
    for gpu in gpus() {
        let params: &[(&str, &[f32])] = &[("w", &[1.0, 2.0]), ("b", &[3.0])];
        let mut arrays = Trainer::new(&gpu, AdamW::default(), params).unwrap();
        let mut buffers = Trainer::new(&gpu, AdamW::default(), params).unwrap();
        arrays.step(&[("w", &[0.5, -0.5]), ("b", &[0.25])]).unwrap();
        for (name, values) in [("w", &[0.5f32, -0.5][..]), ("b", &[0.25])] {
            let slices = buffers.grad_slices(name).unwrap();
            assert_eq!(slices[0].offset % 256, 0);
            gpu.queue().write_buffer(&slices[0].buffer, slices[0].offset, bytemuck::cast_slice(values));
        }
        buffers.run(None).unwrap();
        let (arrays, buffers) =
            (pollster::block_on(arrays.params()).unwrap(), pollster::block_on(buffers.params()).unwrap());
        assert_eq!(arrays, buffers);
    }
}

#[test]
fn a_thousand_small_tensors_follow_the_cpu_reference() {
    let names: Vec<String> = (0..1000).map(|i| format!("t{i:03}")).collect();
    let of = |seed: u64| -> common::Tensors {
        names.iter().enumerate().map(|(i, name)| (name.clone(), noise(seed + i as u64, 3))).collect()
    };
    let params = of(1);
    for gpu in gpus() {
        for kind in kinds() {
            let case = &cases(kind)[1];
            let rule = case.groups.clone();
            let mut on_gpu = Trainer::new(&gpu, rule.clone(), &borrow(&params)).unwrap();
            let mut on_cpu = HostTrainer::new(rule, &borrow(&params)).unwrap();
            for step in 1..=3 {
                let grads = of(step * 5000);
                on_gpu.step(&borrow(&grads)).unwrap();
                on_cpu.step(&borrow(&grads)).unwrap();
            }
            compare(kind, &on_gpu, &on_cpu, &mut Scales::of_params(&params)).unwrap();
        }
    }
}
