//! What outlives a lost device.

use super::convert::promise;
use super::given::given;
use super::gpu::RawGpu;
use super::optimizer::{Engine, RawOptimizer, on_cpu};
use crate::error::Error;
use crate::gpu::adopt::Adopted;
use crate::gpu::{Params, Trainer};
use crate::optim::HostState;
use js_sys::{Array, Promise};
use std::cell::RefCell;
use std::rc::Rc;
use wasm_bindgen::prelude::*;

/// The newest snapshot, shared with the promises that bring the next.
pub(super) type Kept = Rc<RefCell<Option<Rc<HostState>>>>;

#[wasm_bindgen]
impl RawOptimizer {
    /// Keeps the run as of the call, to be restored from. On the CPU nothing gets lost, and nothing is kept.
    #[wasm_bindgen(unchecked_return_type = "Promise<void>")]
    pub fn keep(&self) -> Promise {
        let Engine::Gpu(trainer) = &self.engine else { return Promise::resolve(&JsValue::UNDEFINED) };
        let (reading, kept) = (trainer.state(), Rc::clone(&self.kept));
        promise(async move {
            let snapshot = reading.await?;
            kept.replace(Some(Rc::new(snapshot)));
            Ok(JsValue::UNDEFINED)
        })
    }

    /// The run as it was last kept, on another device; parameters called `names` stand in buffers of the caller.
    ///
    /// # Errors
    /// `UNSUPPORTED` on the CPU and where nothing was kept; as `onGpu`.
    #[wasm_bindgen(unchecked_return_type = "Promise<RawOptimizer>")]
    pub fn restored(
        &self,
        gpu: &RawGpu,
        names: Vec<String>,
        #[wasm_bindgen(unchecked_param_type = "unknown[]")] params: Array,
    ) -> Promise {
        let on_gpu = matches!(self.engine, Engine::Gpu(_));
        let (gpu, kept, snapshot) = (gpu.0.clone(), Rc::clone(&self.kept), self.kept.borrow().clone());
        let (mut halves, places) = (self.halves.clone(), names.iter().map(|name| self.ledger().index(name)));
        let places = places.collect::<Result<Vec<_>, _>>();
        promise(async move {
            if !on_gpu {
                return Err(on_cpu("restore").into());
            }
            let nothing = "there is nothing to restore: the option snapshotEvery keeps snapshots";
            let snapshot = snapshot.ok_or(Error::Unsupported { what: nothing.into() })?;
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let (places, mut adopted) = (places?, Adopted::new(snapshot.ledger().tensors().len()));
            let known = halves.clone();
            let half = |at: usize| places.get(at).and_then(|place: &usize| known[*place]);
            let mut own = Vec::new();
            for ((name, place), given) in names.iter().zip(&places).zip(given("params", &names, &params, half)?) {
                let view = given.view(&gpu, &mut adopted)?;
                let only =
                    || Error::invalid(format!("params of `{name}` are in the snapshot: only a buffer can be given"));
                own.push((*name, Params::Own(view.ok_or_else(only)?)));
                halves[*place] = given.half();
            }
            let trainer = gpu.settled(|| Trainer::restored(&gpu, &snapshot, &own)).await?;
            Ok(RawOptimizer { engine: Engine::Gpu(Box::new(trainer)), adopted, kept, halves }.into())
        })
    }
}
