//! A run on the device, or in wasm memory to make room there.

use super::convert::promise;
use super::gpu::RawGpu;
use super::optimizer::{Engine, RawOptimizer};
use crate::error::Error;
use crate::gpu::{Params, Trainer};
use crate::optim::HostState;
use js_sys::Promise;
use wasm_bindgen::prelude::*;

/// A run on its way from the device.
#[wasm_bindgen]
#[derive(Debug)]
pub struct RawState(HostState);

impl Engine {
    /// The run where it stands in wasm memory.
    pub(super) fn in_memory(&self) -> Option<&HostState> {
        match self {
            Self::Host(trainer) => Some(trainer.state()),
            Self::Gpu(trainer) => trainer.parked(),
        }
    }
}

#[wasm_bindgen]
impl RawOptimizer {
    /// Refuses steps from now on, and brings the run as it stands; undefined where it stands in wasm memory.
    #[wasm_bindgen(unchecked_return_type = "Promise<RawState | undefined>")]
    pub fn leave(&mut self) -> Promise {
        match &mut self.engine {
            Engine::Gpu(trainer) if trainer.parked().is_none() => {
                trainer.leave(true);
                let reading = trainer.state();
                promise(async move { Ok(RawState(reading.await?).into()) })
            }
            _ => Promise::resolve(&JsValue::UNDEFINED),
        }
    }

    /// Lets the run stand in wasm memory, or undoes `leave`.
    pub fn park(&mut self, state: Option<RawState>) {
        if let Engine::Gpu(trainer) = &mut self.engine {
            match state {
                Some(RawState(state)) => trainer.park(state),
                None => trainer.leave(false),
            }
        }
    }

    /// The run on a device, of one that stands in wasm memory; undefined where it is on a device.
    ///
    /// # Errors
    /// As `onGpu`.
    #[wasm_bindgen(unchecked_return_type = "Promise<RawOptimizer | undefined>")]
    pub fn moved(&self, gpu: &RawGpu) -> Promise {
        let Some(state) = self.engine.in_memory().cloned() else { return Promise::resolve(&JsValue::UNDEFINED) };
        let own = if let Engine::Gpu(trainer) = &self.engine { trainer.own_places() } else { Vec::new() };
        let gpu = gpu.0.clone();
        promise(async move {
            let own: Vec<(&str, Params)> = own.iter().map(|(name, params)| (name.as_str(), params.clone())).collect();
            let trainer = gpu.settled(|| Trainer::restored(&gpu, &state, &own)).await?;
            Ok::<_, Error>(Self::begun(Engine::Gpu(Box::new(trainer)), state.outline()).into()).map_err(JsValue::from)
        })
    }
}
