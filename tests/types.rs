//! The TypeScript types follow the registry.
#![cfg(not(target_arch = "wasm32"))]

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use webgpu_optim::REGISTRY;

fn read(path: &str) -> String {
    std::fs::read_to_string(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// The options of an interface, with the defaults that their comments state.
fn options(source: &str, interface: &str) -> BTreeMap<String, String> {
    let start = source.find(&format!("export interface {interface} ")).unwrap_or_else(|| panic!("no {interface}"));
    let (head, rest) = source[start..].split_once('{').unwrap();
    let body = rest.split('}').next().unwrap();
    let mut found = head.split_once(" extends ").map(|(_, base)| options(source, base.trim())).unwrap_or_default();
    let mut default = String::new();
    for line in body.lines().map(str::trim) {
        if let Some((_, text)) = line.split_once("Default ") {
            default = text.trim_end_matches(" */").trim_end_matches('.').to_owned();
        } else if let Some((name, _)) = line.split_once("?:") {
            found.insert(name.to_owned(), default.clone());
        }
    }
    found
}

fn stated(value: &Value) -> String {
    if value.is_null() { "none".into() } else { value.to_string() }
}

#[test]
fn every_rule_has_a_class_and_an_interface_with_its_options_and_their_defaults() {
    let source = read("src/js/rules.ts");
    for entry in REGISTRY {
        let class = entry.class;
        assert!(source.contains(&format!("export class {class}<")), "{class}");
        assert!(source.contains(&format!("new {class}(await build(\"{}\"", entry.kind)), "{class}");
        assert!(source.contains(&format!("  {}: {class}Options;", entry.kind)), "{class}");
        let stated_defaults = options(&source, &format!("{class}Options"));
        let Value::Object(mut defaults) = serde_json::to_value((entry.default)()).unwrap() else { panic!() };
        let lr = defaults.remove("lr").unwrap().as_f64().unwrap();
        assert!(
            source.contains(&format!("lr {lr:e}. ")) || source.contains(&format!("; lr {lr:e}")),
            "{class}: lr {lr:e}"
        );
        let names: Vec<_> = defaults.keys().cloned().collect();
        assert_eq!(stated_defaults.keys().cloned().collect::<Vec<_>>(), names, "{class}");
        for (name, default) in &defaults {
            let text = &stated_defaults[name];
            // AdamW's interface is Adam's; its own decay stands in its description.
            if class == "AdamW" && name == "weightDecay" {
                assert!(source.contains(&format!("a decoupled `weightDecay` of {default} by default")));
            } else if let (Some(want), Ok(got)) = (default.as_f64(), text.parse::<f64>()) {
                assert_eq!(got, want, "{class}.{name}");
            } else {
                assert_eq!(*text, stated(default), "{class}.{name}");
            }
        }
    }
    let kinds = source.split("export interface OptionsByKind {").nth(1).unwrap().split('}').next().unwrap();
    assert_eq!(kinds.matches(':').count(), REGISTRY.len());
}

#[test]
fn no_type_is_any() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/js");
    for file in std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
        if file.extension().is_some_and(|it| it == "ts") {
            let text = std::fs::read_to_string(&file).unwrap();
            for word in [": any", "<any", "any>", "any[]", "as any"] {
                assert!(!text.contains(word), "{} has `{word}`", file.display());
            }
        }
    }
}
