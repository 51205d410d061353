//! The browser's own objects behind wgpu's, out and in: the one file here that names wasm_bindgen.
//!
//! wgpu imports no device. For the moment in which its instance is created, `navigator.gpu` is an object whose adapter
//! hands out the caller's device; afterwards it is what it was. To be dropped once wgpu can import one.

use super::Gpu;
use crate::error::Error;
use js_sys::{Function, Object, Promise, Reflect};
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

/// Calls `act` while `navigator.gpu` is `stand_in`, and puts back what was there.
fn while_gpu_is<T>(stand_in: &JsValue, act: impl FnOnce() -> T) -> Result<T, JsValue> {
    let key = JsValue::from("gpu");
    let navigator: Object = Reflect::get(&js_sys::global(), &"navigator".into())?.dyn_into()?;
    let before = Reflect::get_own_property_descriptor(&navigator, &key)?;
    let own = object(&[("value", stand_in), ("configurable", &JsValue::TRUE)])?;
    Reflect::define_property(&navigator, &key, own.unchecked_ref())?;
    let result = act();
    match before.dyn_ref::<Object>() {
        Some(before) => Reflect::define_property(&navigator, &key, before)?,
        None => Reflect::delete_property(&navigator, &key)?,
    };
    Ok(result)
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
    let instance = while_gpu_is(&stand_in, instance).map_err(refused)?;
    let adapter = instance.request_adapter(&Default::default()).await;
    let adapter = adapter.map_err(|why| refused(why.to_string().into()))?;
    Gpu::open_foreign(&adapter).await
}
