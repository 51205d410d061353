//! Checkpoints: a run goes on bit for bit, whatever is damaged or does not fit is refused, and old files load.
#![cfg(not(target_arch = "wasm32"))]

mod common;

use common::{Act, Tensors, acts, borrow, cases, kinds};
use proptest::prelude::*;
use webgpu_optim::checkpoint::{self, Checkpoint};
use webgpu_optim::{AdamW, Clip, Ema, Error, Groups, HostTrainer, LossScale, Scaling, Schedule, Sgd};

fn controlled(groups: Groups) -> Groups {
    let scale = LossScale::Dynamic(Scaling { init: 8.0, growth_interval: 3, ..Scaling::default() });
    groups.clip(Clip::GlobalNorm(0.5)).loss_scale(scale).ema(Ema::default()).history(3)
}

fn act(trainer: &mut HostTrainer, start: &Tensors, steps: std::ops::Range<u64>) {
    acts(start, steps, |act| match act {
        Act::Step(grads) => trainer.step(grads),
        Act::Accumulate(grads, weight) => trainer.accumulate(grads, weight),
        Act::StepAccumulated => trainer.step_accumulated(),
    });
}

#[test]
fn a_run_goes_on_from_its_file_bit_for_bit() {
    for kind in kinds() {
        for case in cases(kind) {
            for groups in [case.groups.clone(), controlled(case.groups.clone())] {
                let mut trainer = HostTrainer::new(groups, &borrow(&case.params)).unwrap();
                act(&mut trainer, &case.params, 0..8);
                let bytes = checkpoint::save(trainer.state(), &[], None).unwrap();
                let mut again = HostTrainer::resumed(checkpoint::load(&bytes).unwrap());
                // Compared as files: NaN is no number equal to itself.
                assert_eq!(checkpoint::save(again.state(), &[], None).unwrap(), bytes, "{kind} {}", case.name);
                act(&mut trainer, &case.params, 8..16);
                act(&mut again, &case.params, 8..16);
                let [got, want] = [&again, &trainer].map(|it| checkpoint::save(it.state(), &[], None).unwrap());
                assert_eq!(got, want, "{kind} {}", case.name);
            }
        }
    }
}

#[test]
fn averages_in_the_parameters_place_are_saved_under_their_own_name() {
    let mut trainer = HostTrainer::new(Groups::new(Sgd::default()).ema(Ema::default()), &[("w", &[1.0, 2.0])]).unwrap();
    trainer.step(&[("w", &[1.0, 1.0])]).unwrap();
    let params = trainer.params("w").unwrap().to_vec();
    trainer.swap_ema().unwrap();
    let bytes = checkpoint::save(trainer.state(), &[], None).unwrap();
    let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    assert_eq!(tensors.tensor("params/w").unwrap().data(), bytemuck::cast_slice::<f32, u8>(&params));
    let mut again = HostTrainer::resumed(checkpoint::load(&bytes).unwrap());
    assert!(again.step(&[("w", &[1.0, 1.0])]).is_err());
    again.swap_ema().unwrap();
    assert_eq!(again.params("w").unwrap(), params);
}

fn adamw() -> Groups {
    let schedule = Schedule::Cosine { peak: 1e-3, total: 100, warmup: 10, start: 0.0, floor: 0.0 };
    Groups::new(AdamW::default()).schedule(schedule).group(&["b"], AdamW { weight_decay: 0.0, ..AdamW::default() })
}

fn refusal(file: Groups, params: &[(&str, &[f32])], here: &HostTrainer) -> String {
    let bytes = checkpoint::save(HostTrainer::new(file, params).unwrap().state(), &[], None).unwrap();
    let (checkpoint, _) = Checkpoint::of(&bytes).unwrap();
    checkpoint.fit(here.state().outline(), &[], false).unwrap_err().to_string()
}

#[test]
fn what_does_not_fit_is_told_difference_by_difference() {
    let here = HostTrainer::new(adamw(), &[("w", &[1.0, 2.0]), ("b", &[0.5])]).unwrap();
    let same: &[(&str, &[f32])] = &[("b", &[0.5]), ("w", &[3.0, 4.0])];
    let other = Groups::new(Sgd::default());
    assert_eq!(refusal(other, same, &here), "the checkpoint does not fit: it is of SGD, this is AdamW");
    let shapes: &[(&str, &[f32])] = &[("b", &[0.5, 1.0]), ("x", &[3.0])];
    let all = refusal(adamw(), shapes, &here);
    let wanted = ["`w` is missing", "`x`, which is unknown", "`b` has 2 values in the checkpoint and 1 here"];
    assert!(wanted.iter().all(|part| all.contains(part)), "{all}");
    let options = Groups::new(AdamW { beta1: 0.8, ..AdamW::default() }).group(&["b"], AdamW::default());
    let all = refusal(options.clip(Clip::Value(1.0)), same, &here);
    let wanted = [
        "group 0: beta1 is 0.8 in the checkpoint and 0.9 here",
        "group 0: the schedule is null",
        "group 1: weightDecay is 0.01 in the checkpoint and 0 here",
        r#"clip is {"value":1} in the checkpoint and null here"#,
    ];
    assert!(wanted.iter().all(|part| all.contains(part)), "{all}");
}

#[test]
fn a_partial_load_takes_what_there_is_in_both_by_name() {
    let mut file = HostTrainer::new(AdamW::default(), &[("a", &[1.0]), ("b", &[2.0]), ("c", &[3.0])]).unwrap();
    file.step(&[("a", &[1.0]), ("b", &[1.0]), ("c", &[1.0])]).unwrap();
    let bytes = checkpoint::save(file.state(), &[], None).unwrap();
    let (checkpoint, _) = Checkpoint::of(&bytes).unwrap();
    let here = HostTrainer::new(AdamW::default(), &[("c", &[0.0]), ("b", &[0.0, 0.0]), ("d", &[0.0])]).unwrap();
    let fitted = checkpoint.fit(here.state().outline(), &[], true).unwrap();
    let names = |list: &[String]| list.join(",");
    let report = &fitted.report;
    let found = [&report.loaded, &report.missing, &report.unexpected, &report.misshapen].map(|it| names(it));
    assert_eq!(found, ["c", "d", "a", "b"]);
    assert!(fitted.sections.iter().all(|section| section.tensor == 0) && fitted.sections.len() == 3);
    assert_eq!(fitted.outline.ledger.tensors().iter().map(|it| it.steps).collect::<Vec<_>>(), [1, 0, 0]);
}

/// Written when the schema was new, with `WEBGPU_OPTIM_WRITE_CHECKPOINT=1`, and never again.
#[test]
fn a_file_of_schema_1_loads() {
    let path = "tests/golden/checkpoint-1.safetensors";
    if std::env::var_os("WEBGPU_OPTIM_WRITE_CHECKPOINT").is_some() {
        std::fs::write(path, sample()).unwrap();
    }
    let bytes = std::fs::read(path).unwrap();
    let state = checkpoint::load(&bytes).unwrap();
    assert_eq!(state.ledger().tensors().iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["b", "s", "w"]);
    assert_eq!((state.ledger().steps(), state.ledger().asked(), state.ledger().is_accumulating()), (3, 5, true));
    let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let bits = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>();
    for name in ["b", "s", "w"] {
        assert_eq!(bits(state.params(name).unwrap()), tensors.tensor(&format!("params/{name}")).unwrap().data());
        assert_eq!(bits(state.average(name).unwrap()), tensors.tensor(&format!("ema/{name}")).unwrap().data());
        for slot in ["exp_avg", "exp_avg_sq"] {
            let want = tensors.tensor(&format!("{slot}/{name}")).unwrap();
            assert_eq!(bits(state.slot(name, slot).unwrap()), want.data());
        }
    }
    let mut trainer = HostTrainer::resumed(state);
    trainer.step_accumulated().unwrap();
    assert_eq!(trainer.ledger().asked(), 6);
}

fn sample() -> Vec<u8> {
    let case = &cases("adamw")[0];
    let mut trainer = HostTrainer::new(controlled(adamw()), &borrow(&case.params)).unwrap();
    act(&mut trainer, &case.params, 0..8);
    checkpoint::save(trainer.state(), &[], Some("{}")).unwrap()
}

/// A file with its JSON put through `change`.
fn changed(bytes: &[u8], change: impl FnOnce(String) -> String) -> Vec<u8> {
    let length = checkpoint::header_size(bytes, bytes.len() as u64).unwrap();
    let json = change(String::from_utf8(bytes[8..8 + length].to_vec()).unwrap());
    [&(json.len() as u64).to_le_bytes(), json.as_bytes(), &bytes[8 + length..]].concat()
}

fn why(bytes: &[u8]) -> String {
    checkpoint::load(bytes).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn every_kind_of_damage_has_its_sentence() {
    let bytes = sample();
    let swap = |from: &str, to: &str| {
        let file = changed(&bytes, |json| {
            assert!(json.contains(from), "{from} is not in {json}");
            json.replacen(from, to, 1)
        });
        why(&file)
    };
    assert!(why(&bytes[..4]).contains("no head"));
    assert!(why(&bytes[..bytes.len() - 4]).contains("bytes of values"));
    assert!(why(&[255; 64]).contains("its head claims"));
    assert!(swap("\"F32\"", "\"F64\"").contains("invalid shape"));
    assert!(swap("\"F32\"", "\"I32\"").contains("not F32"));
    assert!(swap("\"data_offsets\":[0,", "\"data_offsets\":[4,").contains("offset"));
    assert!(swap("params/b", "params/w").contains("there twice"));
    assert!(swap("params/b", "params/z").contains("no params of `b`"));
    assert!(swap("exp_avg/b", "other/b").contains("`exp_avg/b` is missing"));
    assert!(swap(r#"\"steps\":3"#, r#"\"steps\":null"#).contains("unit value"));
    assert!(swap(r#"\"steps\":3"#, r#"\"steps\":-1"#).contains("-1"));
    assert!(swap(r#"\"steps\":3"#, r#"\"steps\":4294967296"#).contains("out of range"));
    assert!(swap(r#"\"steps\":3"#, r#"\"steps\":18446744073709551615"#).contains("floating point"));
    assert!(swap(r#"\"beta1\":0.9"#, r#"\"beta1\":9"#).contains("beta1"));
    assert!(swap(r#"\"kind\":\"adamw\""#, r#"\"kind\":\"adamz\""#).contains("adamz"));
    assert!(swap(r#"\"scale\":"#, r#"\"scale\":1e30,\"x\":"#).contains("unknown field"));
    assert!(swap(r#"\"group\":1"#, r#"\"group\":7"#).contains("not there"));
    assert!(swap("\"webgpu-optim\"", "\"other\"").contains("no run of this package"));
    let newer = changed(&bytes, |json| json.replace(r#"\"schema\":1"#, r#"\"schema\":2"#));
    assert!(matches!(checkpoint::load(&newer), Err(Error::Unsupported { what }) if what.contains("schema 2")));
    let claimed = br#"{"params/w":{"dtype":"F32","shape":[2500000000],"data_offsets":[0,10000000000]}}"#;
    let claimed = [&(claimed.len() as u64).to_le_bytes()[..], claimed].concat();
    assert!(why(&claimed).contains("bytes of values"));
}

/// 20,000 inputs, or as many as `PROPTEST_CASES` says.
fn many() -> ProptestConfig {
    let cases = ProptestConfig::default().cases.max(20_000);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(many())]

    #[test]
    fn no_bytes_make_the_loader_panic(bytes in prop::collection::vec(any::<u8>(), 0..256)) {
        let _ = checkpoint::load(&bytes);
    }
}

proptest! {
    #![proptest_config(many())]

    #[test]
    fn no_edit_of_a_file_makes_the_loader_panic(
        edits in prop::collection::vec((any::<prop::sample::Index>(), "[0-9a-z:,\\[\\]{}\"\\\\.eE+-]{0,6}", 0usize..8), 1..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut file = SAMPLE.with(Clone::clone);
        file = changed(&file, |mut json| {
            for (at, text, remove) in edits {
                let at = at.index(json.len());
                let end = (at + remove).min(json.len());
                if json.is_char_boundary(at) && json.is_char_boundary(end) {
                    json.replace_range(at..end, &text);
                }
            }
            json
        });
        if let Some(cut) = cut {
            file.truncate(cut.index(file.len()));
        }
        if let Ok(state) = checkpoint::load(&file) {
            prop_assert!(checkpoint::save(&state, &[], None).is_ok());
        }
    }
}

thread_local! {
    static SAMPLE: Vec<u8> = sample();
}
