//! From JavaScript's plain values and back.

use crate::checkpoint::Value;
use js_sys::{Array, JSON, Object};
use serde::Serialize;
use wasm_bindgen::prelude::*;

impl From<JsValue> for Value {
    fn from(value: JsValue) -> Self {
        if let Some(list) = value.dyn_ref::<Array>() {
            return Self::List(list.iter().map(Self::from).collect());
        }
        if let Some(object) = value.dyn_ref::<Object>() {
            let pair = |entry: JsValue| {
                let entry = Array::from(&entry);
                (entry.get(0).as_string().unwrap_or_default(), Self::from(entry.get(1)))
            };
            return Self::Map(Object::entries(object).iter().map(pair).collect());
        }
        let scalar = value.as_f64().map(Self::Number).or_else(|| value.as_bool().map(Self::Bool));
        scalar.or_else(|| value.as_string().map(Self::Text)).unwrap_or(Self::Null)
    }
}

/// A plain object of what serialises.
pub(super) fn plain(value: &impl Serialize) -> JsValue {
    JSON::parse(&serde_json::to_string(value).unwrap_or_default()).unwrap_or_default()
}
