//! Between the browser's values and the trainers'.

use crate::error::Error;
use crate::gpu::adopt::Adopted;
use crate::gpu::{Gpu, Slice, Trainer, View, adopt};
use crate::optim::{Record, Summary};
use js_sys::{Array, Float32Array, Float64Array, Object, Promise, Reflect, Uint8Array};
use std::collections::HashMap;
use std::pin::Pin;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;

#[wasm_bindgen(typescript_custom_section)]
const SUMMARY: &str = "export interface RawSummary { step: number; skipped: number; gradNorm: number; clipFactor: number; lossScale: number; foundNonfinite: boolean; history: Float64Array; norms: Float64Array; nonfinite: Uint8Array }";

#[wasm_bindgen]
extern "C" {
    type Queue;
    #[wasm_bindgen(method, catch, js_name = writeBuffer)]
    fn write_buffer(
        this: &Queue,
        buffer: &JsValue,
        at: f64,
        data: &Float32Array,
        from: f64,
        count: f64,
    ) -> Result<(), JsValue>;
}

/// Writes an array straight into the slices of its tensor, without passing through wasm memory.
pub(super) fn upload(trainer: &Trainer, slices: &[Slice], array: &Float32Array) -> Result<(), JsValue> {
    let queue = adopt::queue(trainer.gpu());
    let mut from = 0.0;
    for slice in slices {
        let count = (slice.size / 4) as f64;
        let buffer = adopt::buffer(&slice.buffer);
        queue.unchecked_ref::<Queue>().write_buffer(&buffer, slice.offset as f64, array, from, count)?;
        from += count;
    }
    Ok(())
}

/// Values of a tensor as the caller gives them.
#[derive(Debug)]
pub(super) enum Given {
    Array(Float32Array),
    /// A `GPUBuffer` with first byte and, where it is not all the rest, number of values.
    Own(JsValue, u64, Option<usize>),
}

impl Given {
    fn new(what: &'static str, name: &str, value: JsValue) -> Result<Self, Error> {
        if let Some(array) = value.dyn_ref::<Float32Array>() {
            return Ok(Self::Array(array.clone()));
        }
        if adopt::is_buffer(&value) {
            return Ok(Self::Own(value, 0, None));
        }
        let get = |key: &str| Reflect::get(&value, &key.into()).unwrap_or_default();
        if !value.is_object() || !adopt::is_buffer(&get("buffer")) {
            let class = |object: &Object| String::from(object.constructor().name());
            let got = value.dyn_ref::<Object>().map(class);
            let got = got.unwrap_or_else(|| value.js_typeof().as_string().unwrap_or_default());
            return Err(Error::WrongType { what, name: name.to_owned(), got });
        }
        let count = |key: &str| match get(key) {
            absent if absent.is_undefined() => Ok(None),
            number => match number.as_f64() {
                Some(number) if number >= 0.0 && number.fract() == 0.0 => Ok(Some(number as u64)),
                _ => Err(Error::invalid(format!("{key} of {what} of `{name}` must be an integer of at least 0"))),
            },
        };
        let length = count("length")?.or(count("size")?.map(|bytes| bytes / 4)).map(|length| length as usize);
        Ok(Self::Own(get("buffer"), count("offset")?.unwrap_or_default(), length))
    }

    /// Where they stand, for those in a buffer.
    pub(super) fn view(&self, gpu: &Gpu, adopted: &mut Adopted) -> Result<Option<View>, Error> {
        let Self::Own(raw, offset, length) = self else { return Ok(None) };
        let buffer = adopted.buffer(gpu, raw)?;
        let length = length.unwrap_or((buffer.size().saturating_sub(*offset) / 4) as usize);
        Ok(Some(View { buffer, offset: *offset, length }))
    }

    /// The array, where there has to be one.
    pub(super) fn array(&self) -> Result<&Float32Array, Error> {
        match self {
            Self::Array(array) => Ok(array),
            Self::Own(..) => Err(super::optimizer::on_cpu("a GPUBuffer")),
        }
    }
}

/// What each of `names` is given, or the error that names the first with something else.
pub(super) fn given(what: &'static str, names: &[&str], list: &Array) -> Result<Vec<Given>, Error> {
    names.iter().zip(list.iter()).map(|(name, value)| Given::new(what, name, value)).collect()
}

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
