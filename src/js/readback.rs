//! What an optimizer tells of itself, by promises over futures that own what they need.

use super::convert::{floats, object, plain, promise, take};
use super::optimizer::{Engine, RawOptimizer};
use js_sys::Promise;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
impl RawOptimizer {
    /// The learning rate of each group at a 0-based step.
    pub fn lrs(&self, step: f64) -> Vec<f64> {
        self.ledger().lrs(step as u64)
    }

    /// Steps asked for.
    #[wasm_bindgen(getter)]
    pub fn steps(&self) -> f64 {
        self.ledger().asked() as f64
    }

    /// Where schedules are.
    #[wasm_bindgen(getter)]
    pub fn position(&self) -> f64 {
        self.ledger().steps() as f64
    }

    /// The parameters by name, as of the call.
    #[wasm_bindgen(unchecked_return_type = "Promise<Record<string, Float32Array>>")]
    pub fn params(&self) -> Promise {
        let names = self.names();
        match &self.engine {
            Engine::Host(trainer) => {
                let get = |name: &String| trainer.params(name).map(floats).unwrap_or_default();
                Promise::resolve(&object(names.iter().map(|name| (name.clone(), get(name)))))
            }
            Engine::Gpu(trainer) => {
                let reading = trainer.params();
                promise(async move {
                    let values = reading.await?;
                    Ok(object(names.into_iter().map(|name| (name.clone(), take(&values, &name)))))
                })
            }
        }
    }

    /// The slots by tensor and by PyTorch's name, as of the call.
    #[wasm_bindgen(unchecked_return_type = "Promise<Record<string, Record<string, Float32Array>>>")]
    pub fn slots(&self) -> Promise {
        let (names, slots) = (self.names(), self.ledger().slots().map(|(_, slot)| slot));
        match &self.engine {
            Engine::Host(trainer) => {
                let slots: Vec<_> = slots.collect();
                let get = |name: &str, slot: &str| trainer.slot(name, slot).map(floats).unwrap_or_default();
                let of = |name: &String| object(slots.iter().map(|slot| ((*slot).to_owned(), get(name, slot))));
                Promise::resolve(&object(names.iter().map(|name| (name.clone(), of(name)))))
            }
            Engine::Gpu(trainer) => {
                let reading: Vec<_> = slots.map(|slot| (slot, trainer.slot(slot))).collect();
                promise(async move {
                    let mut values = Vec::new();
                    for (slot, reading) in reading {
                        values.push((slot, reading?.await?));
                    }
                    let of =
                        |name: &str| object(values.iter().map(|(slot, all)| ((*slot).to_owned(), take(all, name))));
                    Ok(object(names.iter().map(|name| (name.clone(), of(name)))))
                })
            }
        }
    }

    /// The moving averages of the parameters by name, as of the call.
    ///
    /// # Errors
    /// `UNSUPPORTED` without `ema`.
    #[wasm_bindgen(js_name = emaParams, unchecked_return_type = "Promise<Record<string, Float32Array>>")]
    pub fn ema_params(&self) -> Result<Promise, JsValue> {
        let names = self.names();
        match &self.engine {
            Engine::Host(trainer) => {
                trainer.ledger().ema()?;
                let get = |name: &String| trainer.average(name).map(floats).unwrap_or_default();
                Ok(Promise::resolve(&object(names.iter().map(|name| (name.clone(), get(name))))))
            }
            Engine::Gpu(trainer) => {
                let reading = trainer.averages()?;
                Ok(promise(async move {
                    let values = reading.await?;
                    Ok(object(names.into_iter().map(|name| (name.clone(), take(&values, &name)))))
                }))
            }
        }
    }

    /// How the run stands; undefined for one that decides nothing.
    #[wasm_bindgen(unchecked_return_type = "Promise<RawSummary | undefined>")]
    pub fn summary(&self) -> Promise {
        match &self.engine {
            Engine::Host(trainer) => Promise::resolve(&plain(trainer.summary())),
            Engine::Gpu(trainer) => {
                let reading = trainer.summary();
                promise(async move { Ok(plain(reading.await?)) })
            }
        }
    }
}
