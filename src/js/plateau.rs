//! The schedule that remembers.

use super::config;
use crate::optim::ReduceOnPlateau;
use wasm_bindgen::prelude::*;

/// Lowers a learning rate when a metric stops improving.
#[wasm_bindgen]
#[derive(Debug)]
pub struct RawPlateau(ReduceOnPlateau);

#[wasm_bindgen]
impl RawPlateau {
    /// From its options as a plain object.
    ///
    /// # Errors
    /// `INVALID_CONFIG`.
    #[wasm_bindgen(constructor)]
    pub fn new(#[wasm_bindgen(unchecked_param_type = "object")] options: &JsValue) -> Result<RawPlateau, JsValue> {
        let plateau: ReduceOnPlateau = config::object("ReduceOnPlateau", options)?;
        plateau.check()?;
        Ok(Self(plateau))
    }

    /// Takes a metric in and gives the learning rate from now on.
    pub fn observe(&mut self, metric: f64) -> f64 {
        self.0.observe(metric)
    }

    /// The learning rate in force.
    #[wasm_bindgen(getter)]
    pub fn lr(&self) -> f64 {
        self.0.lr
    }
}
