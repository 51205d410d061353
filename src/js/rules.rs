//! The registry as data.

use crate::optim::{Entry, REGISTRY};
use js_sys::{Array, Object, Reflect};
use serde::Serialize;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::prelude::*;

/// Every rule with its slots and the defaults of its options.
#[wasm_bindgen(
    unchecked_return_type = "{ kind: string; class: string; slots: string[]; defaults: Record<string, unknown> }[]"
)]
pub fn rules() -> Array {
    REGISTRY.iter().map(describe).collect()
}

fn describe(entry: &Entry) -> JsValue {
    let slots: Array = entry.slots.iter().map(|slot| JsValue::from(*slot)).collect();
    let defaults = (entry.default)().serialize(&Serializer::json_compatible()).unwrap_or_default();
    let object = Object::new();
    let fields =
        [("kind", entry.kind.into()), ("class", entry.class.into()), ("slots", slots.into()), ("defaults", defaults)];
    for (key, value) in fields {
        let _ = Reflect::set(&object, &key.into(), &value);
    }
    object.into()
}
