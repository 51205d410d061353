//! One optimizer, on the GPU or in wasm memory.

use super::config;
use super::convert::promise;
use super::given::{Given, format, given};
use super::gpu::RawGpu;
use super::snapshot::Kept;
use super::value::plain;
use crate::error::Error;
use crate::gpu::adopt::{self, Adopted};
use crate::gpu::{Grads, Trainer};
use crate::optim::{HostTrainer, Ledger};
use crate::precision::Half;
use js_sys::{Array, Promise};
use wasm_bindgen::prelude::*;

#[derive(Debug)]
pub(super) enum Engine {
    Host(Box<HostTrainer>),
    Gpu(Box<Trainer>),
}

/// An optimizer. Names are resolved to places once, by [`RawOptimizer::index`].
#[wasm_bindgen]
#[derive(Debug)]
pub struct RawOptimizer {
    pub(super) engine: Engine,
    pub(super) adopted: Adopted,
    pub(super) kept: Kept,
    /// The model's own format of each tensor.
    pub(super) halves: Vec<Option<Half>>,
}

#[wasm_bindgen]
impl RawOptimizer {
    /// An optimizer on a device. `groups` is `[{ options, schedule, names }]`, the first for all other tensors; `dtype`
    /// what parameters hold that do not say it themselves.
    #[wasm_bindgen(js_name = onGpu, unchecked_return_type = "Promise<RawOptimizer>")]
    pub fn on_gpu(
        gpu: &RawGpu,
        kind: String,
        names: Vec<String>,
        #[wasm_bindgen(unchecked_param_type = "unknown[]")] params: Array,
        #[wasm_bindgen(unchecked_param_type = "unknown[]")] groups: Array,
        #[wasm_bindgen(unchecked_param_type = "object")] control: JsValue,
        dtype: String,
    ) -> Promise {
        let gpu = gpu.0.clone();
        promise(async move {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let (groups, dtype) = (config::groups(&kind, &groups, &control)?, format(&dtype)?);
            let (given, mut adopted) = (given("params", &names, &params, |_| dtype)?, Adopted::new(names.len()));
            let named = names.iter().copied().zip(&given);
            let places = named.clone().map(|(name, given)| Ok((name, given.place(&gpu, &mut adopted)?)));
            let places = places.collect::<Result<Vec<_>, Error>>()?;
            let trainer = gpu.settled(|| Trainer::placed(&gpu, groups, &places)).await?;
            let mut masters = Vec::new();
            for (name, given) in named {
                let Some(length) = given.length() else { continue };
                trainer.ledger().fit("params", name, length)?;
                if let Given::Array(..) = given {
                    masters.push(name);
                    given.upload(&trainer, &trainer.master_slices(name)?)?;
                } else {
                    given.upload(&trainer, &trainer.param_slices(name)?)?;
                }
            }
            trainer.start(&masters)?;
            let halves = given.iter().map(Given::half).collect();
            Ok(Self { engine: Engine::Gpu(Box::new(trainer)), adopted, kept: Kept::default(), halves }.into())
        })
    }

    /// An optimizer in wasm memory; arguments as for `onGpu`.
    #[wasm_bindgen(js_name = onCpu)]
    pub fn on_cpu(
        kind: &str,
        names: Vec<String>,
        #[wasm_bindgen(unchecked_param_type = "unknown[]")] params: Array,
        #[wasm_bindgen(unchecked_param_type = "unknown[]")] groups: Array,
        #[wasm_bindgen(unchecked_param_type = "object")] control: JsValue,
        dtype: &str,
    ) -> Result<RawOptimizer, JsValue> {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (groups, dtype) = (config::groups(kind, &groups, &control)?, format(dtype)?);
        let given = given("params", &names, &params, |_| dtype)?;
        let values = given.iter().map(Given::values).collect::<Result<Vec<_>, Error>>()?;
        let params: Vec<_> = names.iter().zip(&values).map(|(name, values)| (*name, values.as_slice())).collect();
        let halves: Vec<_> = given.iter().map(Given::half).collect();
        let trainer = HostTrainer::new(groups, &params)?.in_formats(halves.clone());
        Ok(Self { engine: Engine::Host(Box::new(trainer)), adopted: Adopted::new(0), kept: Kept::default(), halves })
    }

    pub(super) fn ledger(&self) -> &Ledger {
        match &self.engine {
            Engine::Host(trainer) => trainer.ledger(),
            Engine::Gpu(trainer) => trainer.ledger(),
        }
    }

    /// The place of a tensor.
    ///
    /// # Errors
    /// `UNKNOWN_PARAM`.
    pub fn index(&self, name: &str) -> Result<usize, JsValue> {
        Ok(self.ledger().index(name)?)
    }

    /// Names of the tensors at `places`, and what each is given; arrays fit.
    fn fitting(&self, places: &[usize], grads: &Array) -> Result<(Vec<String>, Vec<Given>), Error> {
        let tensors = self.ledger().tensors();
        let names = places.iter().filter_map(|place| tensors.get(*place)).map(|tensor| tensor.name.clone());
        let names: Vec<String> = names.collect();
        let own = |at: usize| places.get(at).and_then(|place| self.halves.get(*place).copied()).flatten();
        let grads = given("grads", &names.iter().map(String::as_str).collect::<Vec<_>>(), grads, own)?;
        for (name, given) in names.iter().zip(&grads) {
            if let Some(length) = given.length() {
                self.ledger().fit("grads", name, length)?;
            }
        }
        Ok((names, grads))
    }

    /// Hands the gradients of the tensors at `places` to `on_host`, or uploads arrays and tells `on_gpu` where all are.
    fn with_grads(
        &mut self,
        places: &[usize],
        grads: &Array,
        on_host: impl FnOnce(&mut HostTrainer, &[(&str, &[f32])]) -> Result<(), Error>,
        on_gpu: impl FnOnce(&mut Trainer, &[(&str, Grads<'_>)]) -> Result<(), Error>,
    ) -> Result<(), JsValue> {
        let (names, grads) = self.fitting(places, grads)?;
        let names = names.iter().map(String::as_str);
        match &mut self.engine {
            Engine::Host(trainer) => {
                let values = grads.iter().map(Given::values).collect::<Result<Vec<_>, Error>>()?;
                on_host(trainer, &names.zip(values.iter().map(Vec::as_slice)).collect::<Vec<_>>())?;
            }
            Engine::Gpu(trainer) => {
                let mut all = Vec::with_capacity(grads.len());
                for (name, given) in names.zip(&grads) {
                    given.upload(trainer, &trainer.grad_slices(name)?)?;
                    let view = given.view(trainer.gpu(), &mut self.adopted)?;
                    // A format beside an array of 32 bits is the tensor's own.
                    let half = if let Given::Halves(_, half) = given { Some(*half) } else { None };
                    all.push((name, view.map_or(Grads::Written(half), Grads::Own)));
                }
                on_gpu(trainer, &all)?;
            }
        }
        Ok(())
    }

    /// One step of the tensors at `places`, with a gradient each.
    ///
    /// # Errors
    /// `WRONG_TYPE`, `LENGTH_MISMATCH`, `INVALID_CONFIG` while accumulated gradients wait, `GPU`, `DEVICE_LOST`.
    pub fn step(
        &mut self,
        places: Vec<usize>,
        #[wasm_bindgen(unchecked_param_type = "unknown[]")] grads: Array,
    ) -> Result<(), JsValue> {
        self.ledger().no_window()?;
        self.with_grads(&places, &grads, HostTrainer::step, Trainer::step_from)
    }

    /// Adds gradients to the weighted mean that the next step without gradients takes.
    ///
    /// # Errors
    /// As `step`; `INVALID_CONFIG` for a weight that is negative or not finite.
    pub fn accumulate(
        &mut self,
        places: Vec<usize>,
        #[wasm_bindgen(unchecked_param_type = "unknown[]")] grads: Array,
        weight: f64,
    ) -> Result<(), JsValue> {
        self.ledger().check_weight(weight)?;
        let on_host = |trainer: &mut HostTrainer, grads: &[(&str, &[f32])]| trainer.accumulate(grads, weight);
        self.with_grads(&places, &grads, on_host, |trainer, grads| trainer.accumulate_from(grads, weight))
    }

    /// As `accumulate`, of every tensor, with what stands in the gradient buffers.
    ///
    /// # Errors
    /// `UNSUPPORTED` on the CPU; as `accumulate`.
    #[wasm_bindgen(js_name = accumulateResident)]
    pub fn accumulate_resident(&mut self, weight: f64) -> Result<(), JsValue> {
        Ok(self.trainer_mut("accumulate() without gradients")?.accumulate_resident(None, weight)?)
    }

    /// One step with the accumulated gradients, or where there are none of every tensor, with what stands in the
    /// gradient buffers.
    ///
    /// # Errors
    /// `UNSUPPORTED` on the CPU where nothing was accumulated, `GPU`, `DEVICE_LOST`.
    pub fn run(&mut self) -> Result<(), JsValue> {
        let waiting = self.ledger().is_accumulating();
        match &mut self.engine {
            Engine::Host(trainer) if waiting => trainer.step_accumulated()?,
            Engine::Gpu(trainer) if waiting => trainer.step_accumulated()?,
            _ => self.trainer_mut("step() without gradients")?.run(None)?,
        }
        Ok(())
    }

    /// Records a step into the caller's encoder: with accumulated gradients, or where there are none of every tensor,
    /// with what stands in the gradient buffers.
    ///
    /// # Errors
    /// `UNSUPPORTED` on the CPU, `INVALID_CONFIG` for anything but an encoder, `GPU`, `DEVICE_LOST`.
    #[wasm_bindgen(js_name = encodeStep)]
    pub fn encode_step(
        &mut self,
        #[wasm_bindgen(unchecked_param_type = "GPUCommandEncoder")] encoder: &JsValue,
    ) -> Result<(), JsValue> {
        let trainer = self.trainer_mut("encodeStep")?;
        let mut encoder = adopt::encoder(trainer.gpu(), encoder)?;
        Ok(trainer.encode_step(&mut encoder, None)?)
    }

    /// As `encodeStep`, of the tensors at `places`, with a gradient each.
    ///
    /// # Errors
    /// As `encodeStep` and `step`.
    #[wasm_bindgen(js_name = encodeStepFrom)]
    pub fn encode_step_from(
        &mut self,
        #[wasm_bindgen(unchecked_param_type = "GPUCommandEncoder")] encoder: &JsValue,
        places: Vec<usize>,
        #[wasm_bindgen(unchecked_param_type = "unknown[]")] grads: Array,
    ) -> Result<(), JsValue> {
        let mut encoder = adopt::encoder(self.trainer_mut("encodeStep")?.gpu(), encoder)?;
        let on_host = |_: &mut HostTrainer, _: &[(&str, &[f32])]| Err(on_cpu("encodeStep"));
        self.with_grads(&places, &grads, on_host, |trainer, grads| trainer.encode_step_from(&mut encoder, grads))
    }

    fn trainer_mut(&mut self, what: &str) -> Result<&mut Trainer, Error> {
        match &mut self.engine {
            Engine::Gpu(trainer) => Ok(trainer),
            Engine::Host(_) => Err(on_cpu(what)),
        }
    }

    pub(super) fn trainer(&self, what: &str) -> Result<&Trainer, Error> {
        match &self.engine {
            Engine::Gpu(trainer) => Ok(trainer),
            Engine::Host(_) => Err(on_cpu(what)),
        }
    }

    /// Puts the averages in the parameters' place, or the parameters back in theirs.
    ///
    /// # Errors
    /// `UNSUPPORTED` without `ema`, `GPU`, `DEVICE_LOST`.
    #[wasm_bindgen(js_name = swapEma)]
    pub fn swap_ema(&mut self) -> Result<(), JsValue> {
        match &mut self.engine {
            Engine::Host(trainer) => trainer.swap_ema()?,
            Engine::Gpu(trainer) => trainer.swap_ema()?,
        }
        Ok(())
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.ledger().tensors().iter().map(|tensor| tensor.name.clone()).collect()
    }

    /// Replaces the options of a group, and its schedule unless `keep` is set.
    ///
    /// # Errors
    /// `INVALID_CONFIG`.
    pub fn set(
        &mut self,
        group: usize,
        #[wasm_bindgen(unchecked_param_type = "object")] options: &JsValue,
        #[wasm_bindgen(unchecked_param_type = "object | undefined")] schedule: &JsValue,
        keep: bool,
    ) -> Result<(), JsValue> {
        let mut new = config::group(self.ledger().entry().kind, options, schedule, Vec::new())?;
        if keep {
            new.schedule = self.ledger().group(group)?.schedule.clone();
        }
        match &mut self.engine {
            Engine::Host(trainer) => trainer.set(group, new)?,
            Engine::Gpu(trainer) => trainer.set(group, new)?,
        }
        Ok(())
    }

    /// Replaces the learning rate of a group, and with it any schedule.
    ///
    /// # Errors
    /// `INVALID_CONFIG`.
    #[wasm_bindgen(js_name = setLr)]
    pub fn set_lr(&mut self, group: usize, lr: f64) -> Result<(), JsValue> {
        match &mut self.engine {
            Engine::Host(trainer) => trainer.set_lr(group, lr)?,
            Engine::Gpu(trainer) => trainer.set_lr(group, lr)?,
        }
        Ok(())
    }

    /// As `setLr`, for the next step alone.
    ///
    /// # Errors
    /// `INVALID_CONFIG`.
    pub fn follow(&mut self, group: usize, lr: f64) -> Result<(), JsValue> {
        match &mut self.engine {
            Engine::Host(trainer) => trainer.set_lr(group, lr)?,
            Engine::Gpu(trainer) => trainer.follow(group, lr)?,
        }
        Ok(())
    }

    /// The options of a group, with the learning rate of the next step.
    ///
    /// # Errors
    /// `INVALID_CONFIG` for a group there is not.
    #[wasm_bindgen(unchecked_return_type = "Record<string, unknown>")]
    pub fn options(&self, group: usize) -> Result<JsValue, JsValue> {
        let found = self.ledger().group(group)?;
        let mut rule = found.rule.clone();
        *rule.lr_mut() = found.lr(self.ledger().steps());
        Ok(plain(&rule))
    }

    /// Number of groups.
    #[wasm_bindgen(getter)]
    pub fn groups(&self) -> usize {
        self.ledger().groups().len()
    }

    /// Number of values in all tensors.
    #[wasm_bindgen(getter)]
    pub fn parameters(&self) -> f64 {
        self.ledger().tensors().iter().map(|tensor| tensor.length as f64).sum()
    }

    /// Names of the slots that exist.
    #[wasm_bindgen(getter, js_name = slotNames)]
    pub fn slot_names(&self) -> Vec<String> {
        self.ledger().slots().map(|(_, slot)| slot.to_owned()).collect()
    }
}

pub(super) fn on_cpu(what: &str) -> Error {
    Error::Unsupported { what: format!("{what} needs a GPU; this optimizer runs on the CPU") }
}
