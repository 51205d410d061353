//! The browser's own objects behind wgpu's, out and in: the one file here that names wasm_bindgen.
//!
//! wgpu imports no device, buffer or encoder. For the moment in which its instance is created, `navigator.gpu` is an
//! object whose adapter hands out the caller's device, and for the moment of one call the device's `createBuffer` or
//! `createCommandEncoder` hands out the caller's own; afterwards all is what it was. To be dropped once wgpu imports them.

use super::Gpu;
use crate::error::Error;
use js_sys::{Function, Map, Object, Promise, Reflect};
use wasm_bindgen::prelude::*;

/// The `GPUBuffer`.
pub fn buffer(buffer: &wgpu::Buffer) -> JsValue {
    buffer.as_webgpu().map_or(JsValue::UNDEFINED, |raw| raw.clone().into())
}

/// The `GPUDevice`.
pub fn device(gpu: &Gpu) -> JsValue {
    gpu.device.as_webgpu().map_or(JsValue::UNDEFINED, |raw| raw.clone().into())
}

/// The `GPUQueue`.
pub fn queue(gpu: &Gpu) -> JsValue {
    gpu.queue.as_webgpu().map_or(JsValue::UNDEFINED, |raw| raw.clone().into())
}

fn refused(why: JsValue) -> Error {
    Error::NoWebGpu { reason: format!("the device could not be adopted: {why:?}") }
}

/// A function that resolves to `value`, kept alive by the closure beside it.
fn resolving(value: JsValue) -> (Function, Closure<dyn FnMut() -> Promise>) {
    let closure = Closure::new(move || Promise::resolve(&value));
    (closure.as_ref().unchecked_ref::<Function>().clone(), closure)
}

fn object(fields: &[(&str, &JsValue)]) -> Result<JsValue, JsValue> {
    let object = Object::new();
    for (key, value) in fields {
        Reflect::set(&object, &(*key).into(), value)?;
    }
    Ok(object.into())
}

/// Calls `act` while a property of `owner` is `stand_in`, and puts back what was there.
fn while_it_is<T>(owner: &Object, key: &str, stand_in: &JsValue, act: impl FnOnce() -> T) -> Result<T, JsValue> {
    let key = JsValue::from(key);
    let before = Reflect::get_own_property_descriptor(owner, &key)?;
    let own = object(&[("value", stand_in), ("configurable", &JsValue::TRUE)])?;
    Reflect::define_property(owner, &key, own.unchecked_ref())?;
    let result = act();
    match before.dyn_ref::<Object>() {
        Some(before) => Reflect::define_property(owner, &key, before)?,
        None => Reflect::delete_property(owner, &key)?,
    };
    Ok(result)
}

/// Calls `act` while a method of the device hands out `value`.
fn while_device_gives<T>(gpu: &Gpu, method: &str, value: &JsValue, act: impl FnOnce() -> T) -> Result<T, Error> {
    let value = value.clone();
    let give: Closure<dyn FnMut() -> JsValue> = Closure::new(move || value.clone());
    while_it_is(device(gpu).unchecked_ref(), method, give.as_ref(), act)
        .map_err(|why| Error::invalid(format!("{method} could not be stood in for: {why:?}")))
}

fn number(object: &JsValue, key: &str) -> Option<f64> {
    Reflect::get(object, &key.into()).ok()?.as_f64()
}

/// Whether a value is a `GPUBuffer`, as far as it can be told.
pub fn is_buffer(value: &JsValue) -> bool {
    value.is_object() && number(value, "usage").is_some() && number(value, "size").is_some()
}

/// Buffers of the caller that were handed in, so that each is one buffer to wgpu however often it comes.
#[derive(Debug)]
pub struct Adopted {
    places: Map,
    buffers: Vec<wgpu::Buffer>,
    most: usize,
}

impl Adopted {
    /// For a run of so many tensors. It lets go of all buffers before there are more than a few a tensor: what it
    /// remembers stays in memory, and a caller may make new ones every step.
    pub fn new(tensors: usize) -> Self {
        Self { places: Map::new(), buffers: Vec::new(), most: 4 * tensors + 16 }
    }

    /// The caller's `GPUBuffer` as wgpu knows it.
    ///
    /// # Errors
    /// [`Error::InvalidConfig`] where the host lets no method of the device be stood in for.
    pub fn buffer(&mut self, gpu: &Gpu, raw: &JsValue) -> Result<wgpu::Buffer, Error> {
        let known = self.places.get(raw).as_f64().and_then(|place| self.buffers.get(place as usize));
        if let Some(buffer) = known {
            return Ok(buffer.clone());
        }
        if self.buffers.len() == self.most {
            self.places.clear();
            self.buffers.clear();
        }
        let usage = wgpu::BufferUsages::from_bits_truncate(number(raw, "usage").unwrap_or_default() as u32);
        let size = number(raw, "size").unwrap_or_default() as u64;
        let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        let buffer = while_device_gives(gpu, "createBuffer", raw, || gpu.device.create_buffer(&descriptor))?;
        self.places.set(raw, &JsValue::from(self.buffers.len() as f64));
        self.buffers.push(buffer.clone());
        Ok(buffer)
    }
}

/// The caller's `GPUCommandEncoder`, to be recorded into and never finished.
///
/// # Errors
/// [`Error::InvalidConfig`] for anything else.
pub fn encoder(gpu: &Gpu, raw: &JsValue) -> Result<wgpu::CommandEncoder, Error> {
    let method = raw.is_object().then(|| Reflect::get(raw, &"beginComputePass".into()).ok()).flatten();
    if !method.is_some_and(|method| method.is_function()) {
        return Err(Error::invalid("a step is recorded into a GPUCommandEncoder, got something else"));
    }
    while_device_gives(gpu, "createCommandEncoder", raw, || gpu.device.create_command_encoder(&Default::default()))
}

/// A [`Gpu`] on the caller's `GPUDevice`, which stays the caller's: its error handler is not touched.
///
/// # Errors
/// [`Error::NoWebGpu`] for anything but a `GPUDevice`.
pub async fn adopt(device: JsValue) -> Result<Gpu, Error> {
    let get = |key: &str| Reflect::get(&device, &key.into()).map_err(refused);
    if get("queue")?.is_undefined() {
        return Err(refused("it is no GPUDevice".into()));
    }
    let (give_device, _device_alive) = resolving(device.clone());
    let adapter = object(&[
        ("features", &get("features")?),
        ("limits", &get("limits")?),
        ("info", &get("adapterInfo")?),
        ("requestDevice", &give_device),
    ]);
    let (give_adapter, _adapter_alive) = resolving(adapter.map_err(refused)?);
    let stand_in = object(&[("requestAdapter", &give_adapter)]).map_err(refused)?;
    let instance = || wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
    let navigator = Reflect::get(&js_sys::global(), &"navigator".into()).and_then(JsCast::dyn_into::<Object>);
    let navigator = navigator.map_err(refused)?;
    let instance = while_it_is(&navigator, "gpu", &stand_in, instance).map_err(refused)?;
    let adapter = instance.request_adapter(&Default::default()).await;
    let adapter = adapter.map_err(|why| refused(why.to_string().into()))?;
    Gpu::open_foreign(&adapter).await
}
