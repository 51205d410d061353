//! Between the browser's values and the trainers'.

use crate::error::Error;
use crate::gpu::{Slice, adopt};
use crate::optim::{Record, Summary};
use js_sys::{Float32Array, Float64Array, Object, Promise, Reflect, Uint8Array};
use std::collections::HashMap;
use std::pin::Pin;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;

#[wasm_bindgen(typescript_custom_section)]
const SUMMARY: &str = "export interface RawSummary { step: number; skipped: number; gradNorm: number; clipFactor: number; lossScale: number; foundNonfinite: boolean; history: Float64Array; norms: Float64Array; nonfinite: Uint8Array }";

pub(super) fn object(entries: impl IntoIterator<Item = (String, JsValue)>) -> JsValue {
    let object = Object::new();
    for (key, value) in entries {
        let _ = Reflect::set(&object, &key.into(), &value);
    }
    object.into()
}

pub(super) fn plain(summary: Option<Summary>) -> JsValue {
    let Some(it) = summary else { return JsValue::UNDEFINED };
    let norms: Vec<f64> = it.tensors.iter().map(|tensor| tensor.norm).collect();
    let nonfinite: Vec<u8> = it.tensors.iter().map(|tensor| tensor.nonfinite.into()).collect();
    let fields = [
        ("step", (it.step as f64).into()),
        ("skipped", (it.skipped as f64).into()),
        ("gradNorm", it.grad_norm.into()),
        ("clipFactor", it.clip_factor.into()),
        ("lossScale", it.loss_scale.into()),
        ("foundNonfinite", it.found_nonfinite.into()),
        ("history", Float64Array::from(rows(&it.history).as_slice()).into()),
        ("norms", Float64Array::from(norms.as_slice()).into()),
        ("nonfinite", Uint8Array::from(nonfinite.as_slice()).into()),
    ];
    object(fields.map(|(key, value)| (key.to_owned(), value)))
}

/// Each kept step as a row: five numbers of its own, then norms of gradient, update and parameters of each tensor.
fn rows(history: &[Record]) -> Vec<f64> {
    let row = |it: &Record| {
        let own = [it.step as f64, f64::from(u8::from(it.skipped)), it.grad_norm, it.clip_factor, it.loss_scale];
        let tensors = it.tensors.iter().flat_map(|moved| [moved.grad.norm, moved.update, moved.param]);
        own.into_iter().chain(tensors).collect::<Vec<_>>()
    };
    history.iter().flat_map(row).collect()
}

/// A promise over a future that owns what it needs. Boxed, the machinery is compiled once for all of them.
pub(super) fn promise(future: impl Future<Output = Result<JsValue, JsValue>> + 'static) -> Promise {
    let boxed: Pin<Box<dyn Future<Output = Result<JsValue, JsValue>>>> = Box::pin(future);
    future_to_promise(boxed)
}

pub(super) fn floats(values: &[f32]) -> JsValue {
    Float32Array::from(values).into()
}

pub(super) fn slice(slices: Vec<Slice>, name: &str) -> Result<JsValue, Error> {
    let [slice] = slices.as_slice() else {
        let what = format!("`{name}` stands in {} buffers and has no single slice", slices.len());
        return Err(Error::Unsupported { what });
    };
    let number = |value: u64| JsValue::from(value as f64);
    let (offset, size) = (number(slice.offset), number(slice.size));
    Ok(object([("buffer".into(), adopt::buffer(&slice.buffer)), ("offset".into(), offset), ("size".into(), size)]))
}

pub(super) fn take(values: &HashMap<String, Vec<f32>>, name: &str) -> JsValue {
    values.get(name).map_or(JsValue::UNDEFINED, |values| floats(values))
}
