//! PyTorch and optax judge the schedules.
#![cfg(not(target_arch = "wasm32"))]

use serde_json::{Value, json};
use webgpu_optim::{ReduceOnPlateau, Schedule};

fn golden() -> Value {
    serde_json::from_str(include_str!("golden/schedules.json")).unwrap()
}

/// Within 1e-12 of it, or within what a difference of two rates rounds to.
fn close(got: f64, want: f64) -> bool {
    (got - want).abs() <= (1e-12 * want.abs()).max(1e-17)
}

/// A metric; JSON has no infinities and NaNs, so they stand there as text.
fn metric(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| value.as_str().unwrap().parse().unwrap())
}

#[test]
fn every_schedule_has_the_recorded_value_at_every_recorded_step() {
    let golden = golden();
    let cases = golden["cases"].as_array().unwrap();
    assert!(cases.len() >= 20);
    for case in cases {
        let schedule: Schedule = serde_json::from_value(case["schedule"].clone()).unwrap();
        schedule.check().unwrap();
        for (step, want) in case["values"].as_object().unwrap() {
            let (got, want) = (schedule.at(step.parse().unwrap()), want.as_f64().unwrap());
            assert!(close(got, want), "{} at {step}: got {got}, want {want}", case["name"]);
        }
        assert!(schedule.at(u64::MAX).is_finite(), "{}", case["name"]);
    }
}

#[test]
fn reduce_on_plateau_takes_the_recorded_decisions() {
    let golden = golden();
    let cases = golden["plateau"].as_array().unwrap();
    assert!(cases.len() >= 9);
    for case in cases {
        let mut plateau: ReduceOnPlateau = serde_json::from_value(case["config"].clone()).unwrap();
        plateau.check().unwrap();
        for (value, want) in case["metrics"].as_array().unwrap().iter().zip(case["lrs"].as_array().unwrap()) {
            let (got, want) = (plateau.observe(metric(value)), want.as_f64().unwrap());
            assert!(close(got, want), "{}: got {got}, want {want}", case["config"]);
        }
    }
}

#[test]
fn past_its_end_a_schedule_holds_its_last_value() {
    let schedules = [
        json!({ "linear": { "from": 0.1, "to": 0.2, "total": 5 } }),
        json!({ "cosine": { "peak": 0.4, "total": 9, "warmup": 3, "floor": 0.1 } }),
        json!({ "oneCycle": { "peak": 0.4, "total": 9 } }),
        json!({ "polynomial": { "lr": 0.4, "to": 0.1, "total": 9, "power": 2.0 } }),
    ];
    for schedule in schedules {
        let schedule: Schedule = serde_json::from_value(schedule).unwrap();
        assert!(close(schedule.at(9), schedule.at(90)) && schedule.at(u64::MAX).is_finite());
    }
}

#[test]
fn a_bad_field_is_refused_by_name() {
    let cases = [
        (json!({ "constant": { "lr": -0.1 } }), "lr must be finite and at least 0, got -0.1"),
        (json!({ "linear": { "from": 0.1, "to": 0.2, "total": 0 } }), "total must be at least 1, got 0"),
        (json!({ "step": { "lr": 0.1, "every": 0 } }), "every must be at least 1, got 0"),
        (json!({ "multistep": { "lr": 0.1, "at": [5, 3] } }), "at must ascend, got [5, 3]"),
        (json!({ "exponential": { "lr": 0.1, "gamma": 0.0 } }), "gamma must be finite and greater than 0, got 0"),
        (json!({ "cosine": { "peak": 0.1, "total": 5, "warmup": 5 } }), "total must be at least 6, got 5"),
        (json!({ "cosineRestarts": { "peak": 0.1, "period": 5, "mult": 0 } }), "mult must be at least 1, got 0"),
        (
            json!({ "oneCycle": { "peak": 0.1, "total": 9, "pctStart": 1.5 } }),
            "pctStart must be between 0 and 1, got 1.5",
        ),
        (
            json!({ "oneCycle": { "peak": 0.1, "total": 9, "pctStart": 0.6, "threePhase": true } }),
            "pctStart must be between 0 and 0.5, got 0.6",
        ),
        (
            json!({ "polynomial": { "lr": 0.1, "total": 9, "power": -1.0 } }),
            "power must be finite and greater than 0, got -1",
        ),
        (json!({ "inverseSqrt": { "peak": 0.1, "warmup": 0 } }), "warmup must be at least 1, got 0"),
        (
            json!({ "sequential": { "schedules": [{ "constant": { "lr": 0.1 } }], "boundaries": [3] } }),
            "boundaries must be one fewer than schedules, got 1 and 1",
        ),
    ];
    for (schedule, message) in cases {
        let schedule: Schedule = serde_json::from_value(schedule).unwrap();
        let error = schedule.check().unwrap_err();
        assert_eq!((error.to_string().as_str(), error.code()), (message, "INVALID_CONFIG"));
    }
    let unknown = serde_json::from_value::<Schedule>(json!({ "linear": { "from": 0.1, "to": 0.2, "totl": 3 } }));
    assert!(unknown.unwrap_err().to_string().contains("unknown field `totl`"));
}

#[test]
fn a_metric_that_is_no_number_or_infinite_is_no_improvement() {
    let mut plateau = ReduceOnPlateau { lr: 0.4, patience: 1, ..ReduceOnPlateau::default() };
    assert_eq!([f64::INFINITY, f64::NAN].map(|metric| plateau.observe(metric)), [0.4, 0.4 * 0.1]);
    assert_eq!(plateau.observe(5.0), 0.4 * 0.1);
    assert_eq!(plateau.best, Some(5.0));
}

#[test]
fn a_rise_of_no_length_begins_at_its_peak() {
    for three_phase in [false, true] {
        let schedule = json!({ "oneCycle": { "peak": 0.4, "total": 10, "pctStart": 0.1, "threePhase": three_phase } });
        let schedule: Schedule = serde_json::from_value(schedule).unwrap();
        schedule.check().unwrap();
        assert_eq!(schedule.at(0), 0.4);
        assert!((0..20).all(|step| schedule.at(step).is_finite()));
    }
}
