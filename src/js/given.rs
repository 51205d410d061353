//! Values of tensors as a page gives them.

use super::optimizer::on_cpu;
use crate::error::Error;
use crate::gpu::adopt::{self, Adopted};
use crate::gpu::{Gpu, Params, Slice, Trainer, View};
use crate::precision::Half;
use js_sys::{Array, Float32Array, Object, Reflect, Uint16Array};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    type Queue;
    #[wasm_bindgen(method, catch, js_name = writeBuffer)]
    fn write_buffer(
        this: &Queue,
        buffer: &JsValue,
        at: f64,
        data: &Object,
        from: f64,
        count: f64,
    ) -> Result<(), JsValue>;
}

/// Values of a tensor. Formats are those of 16 bits, or none.
#[derive(Debug)]
pub(super) enum Given {
    /// Values in 32 bits, and the format that the model is to have them in.
    Array(Float32Array, Option<Half>),
    Halves(Uint16Array, Half),
    /// A `GPUBuffer` with first byte and, where it is not all the rest, number of values.
    Own(JsValue, u64, Option<usize>, Option<Half>),
}

/// The format of a name; none for `f32`.
pub(super) fn format(name: &str) -> Result<Option<Half>, Error> {
    match name {
        "f32" => Ok(None),
        "f16" => Ok(Some(Half::F16)),
        "bf16" => Ok(Some(Half::Bf16)),
        other => Err(Error::invalid(format!("dtype must be f32, f16 or bf16, got {other}"))),
    }
}

fn get(value: &JsValue, key: &str) -> JsValue {
    Reflect::get(value, &key.into()).unwrap_or_default()
}

/// The class of an object, or the type of anything else.
fn class(value: &JsValue) -> String {
    let class = value.dyn_ref::<Object>().map(|object| String::from(object.constructor().name()));
    class.unwrap_or_else(|| value.js_typeof().as_string().unwrap_or_default())
}

fn count(what: &str, name: &str, value: &JsValue, key: &str) -> Result<Option<u64>, Error> {
    match get(value, key) {
        absent if absent.is_undefined() => Ok(None),
        number => match number.as_f64() {
            Some(number) if number >= 0.0 && number.fract() == 0.0 => Ok(Some(number as u64)),
            _ => Err(Error::invalid(format!("{key} of {what} of `{name}` must be an integer of at least 0"))),
        },
    }
}

impl Given {
    /// `half` is the format of what does not tell its own.
    fn new(what: &'static str, name: &str, value: JsValue, half: Option<Half>) -> Result<Self, Error> {
        if adopt::is_buffer(&value) {
            return Ok(Self::Own(value, 0, None, half));
        }
        if let Some(array) = Self::array(what, name, &value, half)? {
            return Ok(array);
        }
        let wrong = || Error::WrongType { what, name: name.to_owned(), got: class(&value) };
        if !value.is_object() {
            return Err(wrong());
        }
        let half = match get(&value, "dtype") {
            absent if absent.is_undefined() => half,
            given => format(&given.as_string().unwrap_or_else(|| class(&given)))?,
        };
        if let Some(array) = Self::array(what, name, &get(&value, "data"), half)? {
            return Ok(array);
        }
        if !adopt::is_buffer(&get(&value, "buffer")) {
            return Err(wrong());
        }
        let width = if half.is_some() { 2 } else { 4 };
        let length =
            count(what, name, &value, "length")?.or(count(what, name, &value, "size")?.map(|size| size / width));
        let offset = count(what, name, &value, "offset")?.unwrap_or_default();
        Ok(Self::Own(get(&value, "buffer"), offset, length.map(|length| length as usize), half))
    }

    fn array(what: &str, name: &str, value: &JsValue, half: Option<Half>) -> Result<Option<Self>, Error> {
        if let Some(array) = value.dyn_ref::<Float32Array>() {
            return Ok(Some(Self::Array(array.clone(), half)));
        }
        if let Some(array) = value.dyn_ref::<Uint16Array>() {
            let unsaid =
                || Error::invalid(format!("{what} of `{name}` are a Uint16Array: its dtype must be f16 or bf16"));
            return Ok(Some(Self::Halves(array.clone(), half.ok_or_else(unsaid)?)));
        }
        if class(value) != "Float16Array" {
            return Ok(None);
        }
        let number = |key| get(value, key).as_f64().unwrap_or_default() as u32;
        let bits =
            Uint16Array::new_with_byte_offset_and_length(&get(value, "buffer"), number("byteOffset"), number("length"));
        Ok(Some(Self::Halves(bits, Half::F16)))
    }

    /// Number of values, where it does not take a buffer to tell.
    pub(super) fn length(&self) -> Option<usize> {
        match self {
            Self::Array(array, _) => Some(array.length() as usize),
            Self::Halves(array, _) => Some(array.length() as usize),
            Self::Own(..) => None,
        }
    }

    /// The format that the model has parameters like these in.
    pub(super) fn half(&self) -> Option<Half> {
        match self {
            Self::Array(_, half) | Self::Own(_, _, _, half) => *half,
            Self::Halves(_, half) => Some(*half),
        }
    }

    /// Where they stand, for those in a buffer.
    pub(super) fn view(&self, gpu: &Gpu, adopted: &mut Adopted) -> Result<Option<View>, Error> {
        let Self::Own(raw, offset, length, half) = self else { return Ok(None) };
        let buffer = adopted.buffer(gpu, raw)?;
        let width = if half.is_some() { 2 } else { 4 };
        let length = length.unwrap_or((buffer.size().saturating_sub(*offset) / width) as usize);
        Ok(Some(View { buffer, offset: *offset, length, half: *half }))
    }

    /// Where parameters like these are to stand.
    pub(super) fn place(&self, gpu: &Gpu, adopted: &mut Adopted) -> Result<Params, Error> {
        if let Some(view) = self.view(gpu, adopted)? {
            return Ok(Params::Own(view));
        }
        let length = self.length().unwrap_or_default();
        Ok(self.half().map_or(Params::Zeroed(length), |half| Params::Halves(length, half)))
    }

    /// The values, which have to be in an array.
    pub(super) fn values(&self) -> Result<Vec<f32>, Error> {
        match self {
            Self::Array(array, _) => Ok(array.to_vec()),
            Self::Halves(array, half) => Ok(array.to_vec().into_iter().map(|bits| half.widen(bits)).collect()),
            Self::Own(..) => Err(on_cpu("a GPUBuffer")),
        }
    }

    /// Writes an array straight into the slices of its tensor, without passing through wasm memory.
    pub(super) fn upload(&self, trainer: &Trainer, slices: &[Slice]) -> Result<(), JsValue> {
        match self {
            Self::Array(array, _) => write(trainer, slices, array, array.length(), 4),
            Self::Halves(array, _) => {
                write(trainer, slices, array, array.length(), 2)?;
                let Some(slice) = slices.last().filter(|_| array.length() % 2 == 1) else { return Ok(()) };
                // A queue writes whole words only.
                let last = Uint16Array::new_with_length(2);
                last.set_index(0, array.get_index(array.length() - 1));
                let slice = Slice { buffer: slice.buffer.clone(), offset: slice.offset + slice.size - 4, size: 4 };
                write(trainer, &[slice], &last, 2, 2)
            }
            Self::Own(..) => Ok(()),
        }
    }
}

fn write(trainer: &Trainer, slices: &[Slice], array: &Object, length: u32, width: u64) -> Result<(), JsValue> {
    let queue = adopt::queue(trainer.gpu());
    let whole = u64::from(length) * width / 4 * 4 / width;
    let mut from = 0;
    for slice in slices {
        let count = (slice.size / width).min(whole - from);
        let (buffer, at) = (adopt::buffer(&slice.buffer), slice.offset as f64);
        queue.unchecked_ref::<Queue>().write_buffer(&buffer, at, array, from as f64, count as f64)?;
        from += count;
    }
    Ok(())
}

/// What each of `names` is given, or the error that names the first with something else. `half` is the format of what
/// does not tell its own.
pub(super) fn given(
    what: &'static str,
    names: &[&str],
    list: &Array,
    half: impl Fn(usize) -> Option<Half>,
) -> Result<Vec<Given>, Error> {
    let each = names.iter().zip(list.iter()).enumerate();
    each.map(|(place, (name, value))| Given::new(what, name, value, half(place))).collect()
}
