//! A device for optimizers to share.

use crate::gpu::{Gpu, adopt};
use wasm_bindgen::prelude::*;

/// A GPU device opened through `navigator.gpu`.
#[wasm_bindgen]
#[derive(Debug)]
pub struct RawGpu(pub(super) Gpu);

#[wasm_bindgen]
impl RawGpu {
    /// Opens the fastest adapter.
    ///
    /// # Errors
    /// `NO_WEBGPU`.
    pub async fn open() -> Result<RawGpu, JsValue> {
        Ok(Self(Gpu::new().await?))
    }

    /// Takes the caller's device.
    ///
    /// # Errors
    /// `NO_WEBGPU` for anything but a `GPUDevice`.
    pub async fn adopt(#[wasm_bindgen(unchecked_param_type = "GPUDevice")] device: JsValue) -> Result<RawGpu, JsValue> {
        Ok(Self(adopt::adopt(device).await?))
    }

    /// The `GPUDevice`.
    #[wasm_bindgen(getter, unchecked_return_type = "GPUDevice")]
    pub fn device(&self) -> JsValue {
        adopt::device(&self.0)
    }

    /// Whether it computes on the CPU.
    #[wasm_bindgen(getter)]
    pub fn software(&self) -> bool {
        self.0.is_software()
    }

    /// Whether the device is lost.
    #[wasm_bindgen(getter)]
    pub fn lost(&self) -> bool {
        self.0.is_lost()
    }
}
