//! Bad input: a clear error with a stable code, and nothing is lost.
#![cfg(not(target_arch = "wasm32"))]

mod common;

use serde_json::{Value, json};
use webgpu_optim::{
    Adam, AdamW, AnyRule, Clip, Error, Group, Groups, HostTrainer, Lamb, LossScale, REGISTRY, Scaling, Sgd,
};

fn trainer() -> HostTrainer {
    let mut trainer = HostTrainer::new(AdamW::default(), &[("w", &[1.0, 2.0, 3.0]), ("b", &[0.5])]).unwrap();
    trainer.step(&[("w", &[0.1, 0.2, 0.3]), ("b", &[0.4])]).unwrap();
    trainer
}

fn state(trainer: &HostTrainer) -> (Vec<f32>, Vec<f32>, u64) {
    let both = |slot: Option<&str>| -> Vec<f32> {
        let get = |name| slot.map_or_else(|| trainer.params(name), |slot| trainer.slot(name, slot)).unwrap().to_vec();
        [get("w"), get("b")].concat()
    };
    (both(None), both(Some("exp_avg_sq")), trainer.ledger().steps())
}

/// The error of a call that must leave everything as it was.
fn refused(act: impl FnOnce(&mut HostTrainer) -> Result<(), Error>) -> (String, &'static str) {
    let mut trainer = trainer();
    let before = state(&trainer);
    let error = act(&mut trainer).unwrap_err();
    assert_eq!(state(&trainer), before);
    (error.to_string(), error.code())
}

#[test]
fn a_gradient_of_the_wrong_length_is_refused() {
    let got = refused(|trainer| trainer.step(&[("b", &[0.1]), ("w", &[0.1, 0.2])]));
    assert_eq!(got, ("grads of `w` has 2 values, expected 3".into(), "LENGTH_MISMATCH"));
}

#[test]
fn an_unknown_name_is_refused() {
    let got = refused(|trainer| trainer.step(&[("v", &[0.1])]));
    assert_eq!(got, ("no parameter is called `v`; there are w, b".into(), "UNKNOWN_PARAM"));
    let groups = Groups::new(Adam::default()).group(&["bias"], Adam::default());
    let error = HostTrainer::new(groups, &[("w", &[1.0])]).unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), error.code()),
        ("no parameter is called `bias`; there are w", "UNKNOWN_PARAM")
    );
}

#[test]
fn a_name_given_twice_is_refused() {
    let got = refused(|trainer| trainer.step(&[("b", &[0.1]), ("b", &[0.1])]));
    assert_eq!(got, ("grads holds `b` twice".into(), "INVALID_CONFIG"));
    let error = HostTrainer::new(Adam::default(), &[("w", &[1.0]), ("w", &[1.0])]).unwrap_err();
    assert_eq!(error.to_string(), "two parameters are called `w`");
}

#[test]
fn an_empty_parameter_set_is_refused() {
    let error = HostTrainer::new(Adam::default(), &[]).unwrap_err();
    assert_eq!((error.to_string().as_str(), error.code()), ("the parameter set is empty", "INVALID_CONFIG"));
}

#[test]
fn a_zero_length_tensor_is_no_error() {
    let mut trainer = HostTrainer::new(Lamb::default(), &[("w", &[1.0]), ("empty", &[])]).unwrap();
    trainer.step(&[("w", &[1.0]), ("empty", &[])]).unwrap();
    assert!(trainer.params("empty").unwrap().is_empty() && trainer.params("w").unwrap()[0] < 1.0);
}

#[test]
fn options_out_of_range_are_refused_by_name_and_value() {
    let lr = "lr must be finite and at least 0, got -0.1";
    let all: &[(Value, &str)] = &[(json!({ "lr": -0.1 }), lr)];
    let decay = (json!({ "weightDecay": -1.0 }), "weightDecay must be finite and at least 0, got -1");
    let betas = [
        (json!({ "beta1": 1.0 }), "beta1 must be at least 0 and less than 1, got 1"),
        (json!({ "beta2": -0.5 }), "beta2 must be at least 0 and less than 1, got -0.5"),
        (json!({ "eps": -1e-8 }), "eps must be finite and at least 0, got -0.00000001"),
    ];
    let own = |kind: &str| match kind {
        "sgd" => vec![
            (json!({ "momentum": -0.9 }), "momentum must be finite and at least 0, got -0.9"),
            (json!({ "momentum": 0.9, "dampening": 1.0 }), "dampening must be at least 0 and less than 1, got 1"),
            (json!({ "dampening": 0.5 }), "dampening needs momentum above 0, got dampening 0.5"),
            (
                json!({ "nesterov": true }),
                "nesterov needs momentum above 0 and dampening 0, got momentum 0 and dampening 0",
            ),
            (
                json!({ "nesterov": true, "momentum": 0.9, "dampening": 0.1 }),
                "nesterov needs momentum above 0 and dampening 0, got momentum 0.9 and dampening 0.1",
            ),
        ],
        "adam" | "adamw" => betas.to_vec(),
        "rmsprop" => vec![
            (json!({ "alpha": 1.5 }), "alpha must be at least 0 and less than 1, got 1.5"),
            (json!({ "eps": -1.0 }), "eps must be finite and at least 0, got -1"),
            (json!({ "momentum": -0.9 }), "momentum must be finite and at least 0, got -0.9"),
        ],
        "adagrad" => vec![
            (json!({ "lrDecay": -1.0 }), "lrDecay must be finite and at least 0, got -1"),
            (json!({ "initialAccumulator": -1.0 }), "initialAccumulator must be finite and at least 0, got -1"),
            (json!({ "eps": -1.0 }), "eps must be finite and at least 0, got -1"),
        ],
        "lamb" => {
            let mut cases = betas.to_vec();
            cases.push((json!({ "trustClamp": [2.0, 1.0] }), "trustClamp must be 0 <= low <= high, got [2, 1]"));
            cases.push((json!({ "trustClamp": [-1.0, 1.0] }), "trustClamp must be 0 <= low <= high, got [-1, 1]"));
            cases
        }
        other => panic!("no bad options are listed for {other}"),
    };
    for entry in REGISTRY {
        for (options, message) in all.iter().cloned().chain([decay.clone()]).chain(own(entry.kind)) {
            let rule = AnyRule::decode(entry.kind, options).unwrap();
            let error = HostTrainer::new(rule, &[("w", &[1.0])]).unwrap_err();
            assert_eq!((error.to_string(), error.code()), (format!("{}: {message}", entry.class), "INVALID_CONFIG"));
        }
    }
}

#[test]
fn options_that_are_not_finite_are_refused_for_every_number_of_every_rule() {
    for entry in REGISTRY {
        let Value::Object(defaults) = serde_json::to_value((entry.default)()).unwrap() else { panic!() };
        for name in defaults.iter().filter(|(_, value)| value.is_number()).map(|(name, _)| name) {
            for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
                let fields = [(name.as_str(), bad)].into_iter();
                let options = serde::de::value::MapDeserializer::<_, serde::de::value::Error>::new(fields);
                let rule = AnyRule::decode(entry.kind, options).unwrap();
                let error = HostTrainer::new(rule, &[("w", &[1.0])]).unwrap_err();
                assert!(error.to_string().contains(name.as_str()), "{error}");
            }
        }
    }
}

#[test]
fn an_unknown_option_and_one_of_another_optimizer_are_refused_by_name() {
    for (kind, option) in [("adam", "learningRate"), ("adamw", "momentum"), ("sgd", "beta1"), ("lamb", "amsgrad")] {
        let error = AnyRule::decode(kind, json!({ option: 0.5 })).unwrap_err().to_string();
        assert!(error.starts_with(&format!("unknown field `{option}`")), "{error}");
    }
    let error = AnyRule::decode("adm", json!({})).unwrap_err().to_string();
    assert!(error.starts_with("there is no optimizer called adm; there are sgd, adam,"), "{error}");
}

#[test]
fn a_group_cannot_be_set_to_another_rule_or_be_one_there_is_not() {
    let group = |rule: AnyRule| Group { rule, schedule: None, names: Vec::new() };
    let got = refused(|trainer| trainer.set(0, group(Sgd::default().into())));
    assert_eq!(got, ("AdamW cannot take options of SGD".into(), "INVALID_CONFIG"));
    let got = refused(|trainer| trainer.set(3, group(AdamW::default().into())));
    assert_eq!(got, ("there is no group 3; groups are 0 to 0".into(), "INVALID_CONFIG"));
    let got = refused(|trainer| trainer.set_lr(0, f64::NAN));
    assert_eq!(got, ("AdamW: lr must be finite and at least 0, got NaN".into(), "INVALID_CONFIG"));
}

#[test]
fn bounds_and_scales_out_of_range_are_refused() {
    let new = |groups: Groups| HostTrainer::new(groups, &[("w", &[1.0])]).unwrap_err().to_string();
    let groups = || Groups::new(Adam::default());
    assert_eq!(new(groups().clip(Clip::GlobalNorm(0.0))), "clip.globalNorm must be finite and greater than 0, got 0");
    assert_eq!(new(groups().clip(Clip::Value(f64::NAN))), "clip.value must be finite and greater than 0, got NaN");
    let scale = |scaling: Scaling| new(groups().loss_scale(LossScale::Dynamic(scaling)));
    assert_eq!(
        scale(Scaling { min: 4.0, max: 2.0, ..Scaling::default() }),
        "lossScale: max must be finite and at least min, got 2"
    );
    assert_eq!(
        scale(Scaling { init: f32::NAN, ..Scaling::default() }),
        "lossScale: init must be between min and max, got NaN"
    );
}

#[test]
#[cfg(feature = "gpu")]
fn a_trainer_on_a_device_refuses_the_same() {
    use webgpu_optim::Trainer;
    for gpu in common::gpus() {
        let params: &[(&str, &[f32])] = &[("w", &[1.0, 2.0, 3.0]), ("b", &[0.5])];
        let mut trainer = Trainer::new(&gpu, AdamW::default(), params).unwrap();
        trainer.step(&[("w", &[0.1, 0.2, 0.3]), ("b", &[0.4])]).unwrap();
        let before = pollster::block_on(trainer.params()).unwrap();
        let bad: &[(&str, &[f32])] = &[("b", &[9.0]), ("w", &[0.1])];
        assert_eq!(trainer.step(bad).unwrap_err().code(), "LENGTH_MISMATCH");
        assert_eq!(trainer.step(&[("v", &[0.1])]).unwrap_err().code(), "UNKNOWN_PARAM");
        assert_eq!(trainer.set_lr(0, -1.0).unwrap_err().code(), "INVALID_CONFIG");
        assert_eq!(trainer.grad_slices("v").unwrap_err().code(), "UNKNOWN_PARAM");
        assert_eq!(Trainer::new(&gpu, Adam::default(), &[]).unwrap_err().code(), "INVALID_CONFIG");
        assert_eq!(pollster::block_on(trainer.params()).unwrap(), before);
        assert_eq!(trainer.ledger().steps(), 1);
    }
}

#[test]
fn every_code_is_distinct() {
    let name = || "w".to_owned();
    let all = [
        Error::LengthMismatch { what: "grads", name: name(), got: 1, expected: 2 },
        Error::InvalidConfig { what: name() },
        Error::UnknownParam { name: name(), known: name() },
        Error::WrongType { what: "grads", name: name(), got: name() },
        Error::Unsupported { what: name() },
        Error::NoWebGpu { reason: name() },
        Error::DeviceLost { reason: name() },
        Error::Gpu { message: name() },
    ];
    let codes: std::collections::BTreeSet<_> = all.iter().map(Error::code).collect();
    assert_eq!(codes.len(), all.len());
}
