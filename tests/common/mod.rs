//! What several judges share: golden cases, drift, random values, the report.
#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(missing_docs, reason = "not public")]

use serde_json::Value;
use std::collections::BTreeMap;
use webgpu_optim::{AnyRule, Group, Groups, HostTrainer, REGISTRY, Schedule};

pub type Tensors = BTreeMap<String, Vec<f32>>;

pub struct Inputs {
    pub tensors: Vec<(String, usize)>,
    pub params: Tensors,
    pub grads: Vec<Tensors>,
}

pub struct Case {
    pub kind: &'static str,
    pub name: String,
    pub groups: Groups,
    pub params: Tensors,
    pub missing: BTreeMap<String, Vec<u64>>,
    pub set: Vec<(u64, AnyRule)>,
    pub checkpoints: Vec<(u64, Value)>,
}

fn golden(stem: &str) -> Value {
    let text = match stem {
        "inputs" => include_str!("../golden/inputs.json"),
        "sgd" => include_str!("../golden/sgd.json"),
        "adam" => include_str!("../golden/adam.json"),
        "adamw" => include_str!("../golden/adamw.json"),
        "rmsprop" => include_str!("../golden/rmsprop.json"),
        "adagrad" => include_str!("../golden/adagrad.json"),
        "lamb" => include_str!("../golden/lamb.json"),
        other => panic!("no golden file for {other}: record one with tests/golden/make.py"),
    };
    serde_json::from_str(text).unwrap()
}

fn tensors(value: &Value) -> Tensors {
    serde_json::from_value(value.clone()).unwrap()
}

pub fn inputs() -> Inputs {
    let value = golden("inputs");
    Inputs {
        tensors: serde_json::from_value(value["tensors"].clone()).unwrap(),
        params: tensors(&value["params"]),
        grads: value["grads"].as_array().unwrap().iter().map(tensors).collect(),
    }
}

fn rule(kind: &str, config: &Value) -> AnyRule {
    AnyRule::decode(kind, config.clone()).unwrap()
}

fn groups(kind: &str, case: &Value) -> Groups {
    let schedule = case.get("schedule").map(|value| serde_json::from_value::<Schedule>(value.clone()).unwrap());
    let with = |groups: Groups| schedule.iter().cloned().fold(groups, Groups::schedule);
    let mut groups = with(Groups::new(rule(kind, &case["config"])));
    for group in case.get("groups").and_then(Value::as_array).into_iter().flatten() {
        let names: Vec<&str> = group["tensors"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        groups = with(groups.group(&names, rule(kind, &group["config"])));
    }
    groups
}

/// Every recorded trajectory of a rule.
pub fn cases(kind: &'static str) -> Vec<Case> {
    let inputs = inputs();
    let one = |case: &Value| {
        let mut params = inputs.params.clone();
        params.extend(case.get("params").map(tensors).unwrap_or_default());
        let steps = |value: &Value| serde_json::from_value(value.clone()).unwrap();
        let set = case.get("set").and_then(Value::as_array).into_iter().flatten();
        let checkpoints = case["checkpoints"].as_object().unwrap();
        let mut checkpoints: Vec<_> =
            checkpoints.iter().map(|(step, value)| (step.parse().unwrap(), value.clone())).collect();
        checkpoints.sort_by_key(|(step, _)| *step);
        Case {
            kind,
            name: case["name"].as_str().unwrap().to_owned(),
            groups: groups(kind, case),
            params,
            missing: case.get("missing").map(steps).unwrap_or_default(),
            set: set.map(|change| (change["step"].as_u64().unwrap(), rule(kind, &change["config"]))).collect(),
            checkpoints,
        }
    };
    golden(kind)["cases"].as_array().unwrap().iter().map(one).collect()
}

pub fn kinds() -> impl Iterator<Item = &'static str> {
    REGISTRY.iter().map(|entry| entry.kind)
}

/// Borrowed as the trainers take them.
pub fn borrow(tensors: &Tensors) -> Vec<(&str, &[f32])> {
    tensors.iter().map(|(name, values)| (name.as_str(), values.as_slice())).collect()
}

/// The largest difference as a fraction of `scale`; infinite where NaN, or where 0 was missed and `scale` is 0.
///
/// `scale` is the largest value the tensor has had in the run: a value on its way through zero has the rounding of
/// where it came from.
pub fn drift(got: &[f32], want: &[f64], scale: f64) -> f64 {
    assert_eq!(got.len(), want.len());
    got.iter().zip(want).fold(0.0, |worst: f64, (got, want)| {
        let off = (f64::from(*got) - want).abs();
        if off == 0.0 {
            return worst;
        }
        let relative = off / scale;
        if relative.is_nan() { f64::INFINITY } else { worst.max(relative) }
    })
}

/// The largest magnitudes seen so far, by tensor and slot.
#[derive(Default)]
pub struct Scales(BTreeMap<(String, String), f64>);

impl Scales {
    /// Begins with the parameters as they are before the first step.
    pub fn of_params(params: &Tensors) -> Self {
        let mut scales = Self::default();
        for (name, values) in params {
            scales.grow(name, "params", &wide(values));
        }
        scales
    }

    /// Takes in the values there should be now, and gives the scale to judge them by.
    pub fn grow(&mut self, tensor: &str, slot: &str, want: &[f64]) -> f64 {
        let scale = self.0.entry((tensor.to_owned(), slot.to_owned())).or_default();
        *scale = want.iter().fold(*scale, |scale, value| scale.max(value.abs()));
        *scale
    }
}

pub fn wide(values: &[f32]) -> Vec<f64> {
    values.iter().copied().map(f64::from).collect()
}

/// The five values furthest off, for a message.
pub fn mismatches(got: &[f32], want: &[f64]) -> String {
    let mut pairs: Vec<_> = got.iter().zip(want).enumerate().collect();
    let off = |(got, want): (&f32, &f64)| (f64::from(*got) - want).abs();
    pairs.sort_by(|a, b| off(b.1).total_cmp(&off(a.1)));
    let lines: Vec<_> = pairs.iter().take(5).map(|(i, (got, want))| format!("[{i}] got {got}, want {want}")).collect();
    lines.join("; ")
}

/// Values in (-1, 1), the same for the same seed, exactly representable.
pub fn noise(seed: u64, length: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((state >> 40) as f32 / (1u64 << 23) as f32) - 1.0
    };
    (0..length).map(|_| next()).collect()
}

const LENGTHS: [usize; 10] = [0, 1, 3, 63, 64, 65, 255, 257, 1000, 5000];

/// The case's own tensors, and one of each length around the edges of vectors, segments and tiles, an empty one last.
pub fn edge_tensors(case: &Case) -> Tensors {
    let mut tensors = case.params.clone();
    tensors.extend(LENGTHS.iter().map(|length| (format!("n{length}"), noise(*length as u64 + 1, *length))));
    tensors.insert("z".into(), Vec::new());
    tensors
}

/// Gradients of all of them, the same for the same step.
pub fn scaled_noise(tensors: &Tensors, step: u64, case: &Case) -> Tensors {
    let missing = |name: &str| case.missing.get(name).is_some_and(|steps| steps.contains(&step));
    let mut grads = BTreeMap::new();
    for (place, (name, values)) in tensors.iter().enumerate() {
        if !missing(name) {
            // Scales from 1e-3 to 10, so that eps matters somewhere.
            let scale = 10f32.powi((place as i32 % 5) - 3);
            let values = noise(step * 1000 + place as u64, values.len()).iter().map(|value| value * scale).collect();
            grads.insert(name.clone(), values);
        }
    }
    grads
}

/// What a run of mixed steps does next.
pub enum Act<'a> {
    Step(&'a [(&'a str, &'a [f32])]),
    Accumulate(&'a [(&'a str, &'a [f32])], f64),
    StepAccumulated,
}

/// Accumulates and steps; some gradients overflow, some are left out, and the 8th act ends inside a window.
pub fn acts(
    start: &Tensors,
    steps: std::ops::Range<u64>,
    mut on: impl FnMut(Act<'_>) -> Result<(), webgpu_optim::Error>,
) {
    for step in steps {
        let mut grads: Tensors = start.iter().map(|(name, it)| (name.clone(), noise(step + 9, it.len()))).collect();
        if step % 4 == 2 {
            grads.get_mut("w").unwrap()[0] = f32::NAN;
        }
        if step % 5 == 0 {
            grads.remove("w");
        }
        let grads = borrow(&grads);
        match step % 3 {
            0 => on(Act::Step(&grads)).unwrap(),
            1 => on(Act::Accumulate(&grads, 2.0)).unwrap(),
            _ => {
                on(Act::Accumulate(&grads, 3.0)).unwrap();
                on(Act::StepAccumulated).unwrap();
            }
        }
    }
}

/// Applies what a case changes before a 1-based step.
pub fn change(case: &Case, step: u64, mut set: impl FnMut(usize, Group)) {
    for (_, rule) in case.set.iter().filter(|(at, _)| *at == step) {
        set(0, Group { rule: rule.clone(), schedule: None, names: Vec::new() });
    }
}

/// The gradients of a case at a 1-based step.
pub fn grads_at<'a>(case: &Case, grads: &'a Tensors, step: u64) -> Vec<(&'a str, &'a [f32])> {
    let missing = |name: &str| case.missing.get(name).is_some_and(|steps| steps.contains(&step));
    borrow(grads).into_iter().filter(|(name, _)| !missing(name)).collect()
}

pub fn host(case: &Case) -> HostTrainer {
    HostTrainer::new(case.groups.clone(), &borrow(&case.params)).unwrap()
}

/// Drift of parameters and of every slot, or what is off by more than `bound`.
#[cfg(feature = "gpu")]
pub async fn compare(
    gpu: &webgpu_optim::Trainer,
    cpu: &HostTrainer,
    scales: &mut Scales,
    bound: f64,
) -> Result<f64, String> {
    let mut worst = 0.0f64;
    let mut all = vec![("params".to_owned(), gpu.params().await.unwrap())];
    for (_, slot) in cpu.ledger().slots() {
        all.push((slot.to_owned(), gpu.slot(slot).unwrap().await.unwrap()));
    }
    for (kind, tensors) in all {
        for (name, got) in tensors {
            let want = if kind == "params" { cpu.params(&name).unwrap() } else { cpu.slot(&name, &kind).unwrap() };
            let want = wide(want);
            let drift = drift(&got, &want, scales.grow(&name, &kind, &want));
            if drift > bound {
                return Err(format!("{kind} of {name} off by {drift:e}: {}", mismatches(&got, &want)));
            }
            worst = worst.max(drift);
        }
    }
    Ok(worst)
}

/// Adds a line to the report that the test command prints at its end.
#[cfg(not(target_arch = "wasm32"))]
pub fn report(judge: &str, device: &str, rule: &str, cases: usize, after: u64, drift: f64) {
    use std::io::Write;
    println!("{judge}: {rule} on {device}: {cases} cases, largest drift {drift:.1e} after {after} steps");
    if let Some(path) = std::env::var_os("WEBGPU_OPTIM_REPORT") {
        let line = serde_json::json!({ "judge": judge, "device": device, "rule": rule, "cases": cases, "after": after, "drift": drift });
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        writeln!(file, "{line}").unwrap();
    }
}

/// Every adapter of this machine. Too few are a failure: a parity test without a device would prove nothing.
#[cfg(all(not(target_arch = "wasm32"), feature = "gpu"))]
pub fn gpus() -> Vec<webgpu_optim::Gpu> {
    let gpus = pollster::block_on(webgpu_optim::Gpu::all()).unwrap();
    let required = std::env::var("WEBGPU_OPTIM_REQUIRE_GPU").map_or(1, |number| number.parse().unwrap());
    let names: Vec<_> = gpus.iter().map(|gpu| gpu.info().name.as_str()).collect();
    assert!(
        gpus.len() >= required,
        "{required} adapters are required, found {names:?}; Mesa's lavapipe is one without a GPU"
    );
    gpus
}

#[cfg(all(not(target_arch = "wasm32"), feature = "gpu"))]
pub fn params(trainer: &webgpu_optim::Trainer) -> Tensors {
    pollster::block_on(trainer.params()).unwrap().into_iter().collect()
}

/// Parameters, every slot, and averages where there are some.
#[cfg(all(not(target_arch = "wasm32"), feature = "gpu"))]
pub fn everything(trainer: &webgpu_optim::Trainer) -> BTreeMap<String, Tensors> {
    let slots: Vec<_> = trainer.ledger().slots().map(|(_, slot)| slot).collect();
    let slot = |name: &str| pollster::block_on(trainer.slot(name).unwrap()).unwrap().into_iter().collect();
    let mut all: BTreeMap<String, Tensors> = slots.into_iter().map(|name| (name.to_owned(), slot(name))).collect();
    all.insert("params".into(), params(trainer));
    if let Ok(averages) = trainer.averages() {
        all.insert("averages".into(), pollster::block_on(averages).unwrap().into_iter().collect());
    }
    all
}

/// What stands in a part of a buffer.
#[cfg(all(not(target_arch = "wasm32"), feature = "gpu"))]
pub fn read(gpu: &webgpu_optim::Gpu, source: &wgpu::Buffer, offset: u64, size: u64) -> Vec<f32> {
    let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
    let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
    let staging = gpu.device().create_buffer(&descriptor);
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    encoder.copy_buffer_to_buffer(source, offset, &staging, 0, size);
    gpu.queue().submit([encoder.finish()]);
    staging.map_async(wgpu::MapMode::Read, .., |result| result.unwrap());
    gpu.device().poll(wgpu::PollType::wait_indefinitely()).unwrap();
    bytemuck::pod_collect_to_vec(&staging.get_mapped_range(..).unwrap())
}
