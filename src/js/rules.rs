//! The registry as data.

use super::value::plain;
use crate::optim::{Entry, REGISTRY};
use js_sys::{Array, Object, Reflect};
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
    let defaults = plain(&(entry.default)());
    let object = Object::new();
    let fields =
        [("kind", entry.kind.into()), ("class", entry.class.into()), ("slots", slots.into()), ("defaults", defaults)];
    for (key, value) in fields {
        let _ = Reflect::set(&object, &key.into(), &value);
    }
    object.into()
}
