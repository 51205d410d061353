//! Where parameters, gradients and the loss scale stand, for shaders of the page.

use super::convert::slice;
use super::optimizer::RawOptimizer;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
impl RawOptimizer {
    /// Where a tensor's gradient stands.
    ///
    /// # Errors
    /// `UNKNOWN_PARAM`; `UNSUPPORTED` on the CPU, for an empty tensor, and for one larger than a binding.
    #[wasm_bindgen(js_name = gradBuffer, unchecked_return_type = "{ buffer: GPUBuffer; offset: number; size: number }")]
    pub fn grad_buffer(&self, name: &str) -> Result<JsValue, JsValue> {
        Ok(slice(self.trainer("gradBuffer")?.grad_slices(name)?, name)?)
    }

    /// Where a tensor's parameters stand; as `gradBuffer`.
    ///
    /// # Errors
    /// As `gradBuffer`.
    #[wasm_bindgen(js_name = paramBuffer, unchecked_return_type = "{ buffer: GPUBuffer; offset: number; size: number }")]
    pub fn param_buffer(&self, name: &str) -> Result<JsValue, JsValue> {
        Ok(slice(self.trainer("paramBuffer")?.param_slices(name)?, name)?)
    }
    /// Where the loss scale stands.
    ///
    /// # Errors
    /// `UNSUPPORTED` on the CPU, and for a run that decides nothing.
    #[wasm_bindgen(js_name = lossScaleBuffer, unchecked_return_type = "{ buffer: GPUBuffer; offset: number; size: number }")]
    pub fn loss_scale_buffer(&self) -> Result<JsValue, JsValue> {
        let found = self.trainer("lossScaleBuffer")?.loss_scale_slice();
        Ok(slice(found.into_iter().collect(), "lossScale")?)
    }
}
