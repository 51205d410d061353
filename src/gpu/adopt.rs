//! The browser's own objects behind wgpu's: the one file here that names wasm_bindgen.

use super::Gpu;
use wasm_bindgen::JsValue;

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
