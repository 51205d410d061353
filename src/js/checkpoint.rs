//! Checkpoints, piece by piece: out of an optimizer, and into one.

use super::convert::{floats, object, promise};
use super::gpu::RawGpu;
use super::optimizer::{Engine, RawOptimizer};
use super::snapshot::Kept;
use crate::checkpoint::{self, Checkpoint, Report};
use crate::error::Error;
use crate::gpu::adopt::Adopted;
use crate::gpu::{Image, Trainer};
use crate::optim::{HostState, HostTrainer, Outline, Section, extent};
use js_sys::{Array, Float32Array, Promise};
use std::rc::Rc;
use wasm_bindgen::prelude::*;

#[derive(Debug)]
enum Values {
    Host(Box<HostState>, Vec<Section>),
    Gpu(Box<Image>),
}

/// A run on its way to a file.
#[wasm_bindgen]
#[derive(Debug)]
pub struct RawSaving {
    header: Vec<u8>,
    values: Values,
}

#[wasm_bindgen]
impl RawSaving {
    /// The file's head.
    pub fn header(&self) -> Vec<u8> {
        self.header.clone()
    }

    /// Number of values behind the head.
    #[wasm_bindgen(getter)]
    pub fn values(&self) -> f64 {
        match &self.values {
            Values::Host(_, sections) => extent(sections) as f64,
            Values::Gpu(image) => image.len() as f64,
        }
    }

    /// Some of the values.
    #[wasm_bindgen(unchecked_return_type = "Promise<Float32Array<ArrayBuffer>>")]
    pub fn read(&self, from: f64, to: f64) -> Promise {
        let range = from as u64..to as u64;
        match &self.values {
            Values::Host(state, sections) => {
                let values = state.read(sections, range);
                Promise::resolve(&floats(&values))
            }
            Values::Gpu(image) => {
                let reading = image.read(range);
                promise(async move { Ok(Float32Array::from(reading.await?.as_slice()).into()) })
            }
        }
    }
}

/// The head of a file.
#[wasm_bindgen]
#[derive(Debug)]
pub struct RawCheckpoint(Rc<Checkpoint>);

/// Length of the JSON, from a file's first 8 bytes and its size.
///
/// # Errors
/// `INVALID_CHECKPOINT`.
#[wasm_bindgen(js_name = headerSize)]
pub fn header_size(first: &[u8], size: f64) -> Result<usize, JsValue> {
    Ok(checkpoint::header_size(first, size as u64)?)
}

#[wasm_bindgen]
impl RawCheckpoint {
    /// Reads the JSON of a file with so many bytes behind it.
    ///
    /// # Errors
    /// `INVALID_CHECKPOINT`, `UNSUPPORTED` for a newer schema.
    pub fn parse(json: &[u8], data: f64) -> Result<RawCheckpoint, JsValue> {
        Ok(Self(Rc::new(Checkpoint::parse(json, data as u64)?)))
    }

    /// Name of the rule.
    #[wasm_bindgen(getter)]
    pub fn kind(&self) -> String {
        self.0.outline.ledger.entry().kind.to_owned()
    }

    /// The package that wrote it.
    #[wasm_bindgen(getter)]
    pub fn version(&self) -> String {
        self.0.version.clone()
    }

    /// Its schema.
    #[wasm_bindgen(getter)]
    pub fn schema(&self) -> f64 {
        self.0.schema as f64
    }

    /// Steps asked for.
    #[wasm_bindgen(getter)]
    pub fn steps(&self) -> f64 {
        self.0.outline.ledger.asked() as f64
    }

    /// Names of the tensors.
    #[wasm_bindgen(getter)]
    pub fn names(&self) -> Vec<String> {
        self.0.outline.ledger.tensors().iter().map(|tensor| tensor.name.clone()).collect()
    }

    /// Values of each tensor.
    #[wasm_bindgen(getter)]
    pub fn lengths(&self) -> Vec<f64> {
        self.0.outline.ledger.tensors().iter().map(|tensor| tensor.length as f64).collect()
    }

    /// Groups whose learning rate was a function.
    #[wasm_bindgen(getter)]
    pub fn functions(&self) -> Vec<usize> {
        self.0.functions.clone()
    }

    /// What the caller added, as JSON.
    #[wasm_bindgen(getter)]
    pub fn extra(&self) -> Option<String> {
        self.0.extra.clone()
    }
}

/// Values of a file on their way into an optimizer, which does not know of them yet.
#[wasm_bindgen]
#[derive(Debug)]
pub struct RawLoading {
    checkpoint: Rc<Checkpoint>,
    partial: bool,
    functions: Vec<usize>,
    room: Room,
}

#[derive(Debug)]
enum Room {
    Host(Vec<f32>),
    Gpu(Box<Image>),
}

#[wasm_bindgen]
impl RawLoading {
    /// Takes values that begin at `at` in.
    ///
    /// # Errors
    /// `GPU`, `DEVICE_LOST`.
    pub fn write(&mut self, at: f64, bytes: &[u8]) -> Result<(), JsValue> {
        let values = checkpoint::values(bytes);
        match &mut self.room {
            Room::Host(all) => all.extend_from_slice(&values),
            Room::Gpu(image) => image.write(at as u64, &values)?,
        }
        Ok(())
    }
}

fn listed(report: Report) -> JsValue {
    let list = |names: Vec<String>| names.into_iter().map(JsValue::from).collect::<Array>().into();
    let Report { loaded, missing, unexpected, misshapen } = report;
    let lists = [("loaded", loaded), ("missing", missing), ("unexpected", unexpected), ("misshapen", misshapen)];
    object(lists.map(|(key, names)| (key.to_owned(), list(names))))
}

#[wasm_bindgen]
impl RawOptimizer {
    /// Copies the run as of the call. `functions` are the groups whose learning rate is the page's to compute.
    #[wasm_bindgen(unchecked_return_type = "Promise<RawSaving>")]
    pub fn save(&self, functions: Vec<usize>, extra: Option<String>) -> Promise {
        if let Some(state) = self.engine.in_memory().cloned() {
            return promise(async move {
                let header = checkpoint::header(state.outline(), &functions, extra.as_deref())?;
                let sections = state.ledger().sections();
                Ok(RawSaving { header, values: Values::Host(Box::new(state), sections) }.into())
            });
        }
        let trainer = match self.trainer("save") {
            Ok(trainer) => trainer,
            Err(why) => return Promise::reject(&why.into()),
        };
        let ((outline, image), verdict) = trainer.gpu().watched(|| (trainer.outline(), trainer.image()));
        promise(async move {
            verdict.await?;
            let header = checkpoint::header(&outline.await?, &functions, extra.as_deref())?;
            Ok(RawSaving { header, values: Values::Gpu(Box::new(image)) }.into())
        })
    }

    fn outline(&self) -> Outline {
        match &self.engine {
            Engine::Host(trainer) => trainer.state().outline().clone(),
            Engine::Gpu(trainer) => trainer.known(),
        }
    }

    /// Makes room for the values of a file that fits.
    ///
    /// # Errors
    /// `CHECKPOINT_MISMATCH`; `GPU` and `UNSUPPORTED` where there is no room.
    #[wasm_bindgen(unchecked_return_type = "Promise<RawLoading>")]
    pub fn load(&self, checkpoint: &RawCheckpoint, partial: bool, functions: Vec<usize>) -> Promise {
        let (checkpoint, outline) = (Rc::clone(&checkpoint.0), self.outline());
        let gpu = if let Engine::Gpu(trainer) = &self.engine { Some(trainer.gpu().clone()) } else { None };
        promise(async move {
            checkpoint.fit(&outline, &functions, partial)?;
            let values = checkpoint.values();
            let room = match gpu {
                Some(gpu) => Room::Gpu(Box::new(gpu.settled(|| Ok(Image::new(&gpu, values))).await?)),
                None => Room::Host(room(values)?),
            };
            Ok(RawLoading { checkpoint, partial, functions, room }.into())
        })
    }

    /// Lets the run be what was loaded; tells what of it was taken.
    ///
    /// # Errors
    /// As `load`, and nothing has changed then.
    #[wasm_bindgen(
        unchecked_return_type = "Record<\"loaded\" | \"missing\" | \"unexpected\" | \"misshapen\", string[]>"
    )]
    pub fn commit(&mut self, loading: RawLoading) -> Result<JsValue, JsValue> {
        let fitted = loading.checkpoint.fit(&self.outline(), &loading.functions, loading.partial)?;
        match (&mut self.engine, &loading.room) {
            (Engine::Host(trainer), Room::Host(values)) => {
                trainer.resume(fitted.outline, &fitted.sections, values);
            }
            (Engine::Gpu(trainer), Room::Gpu(image)) => {
                trainer.here()?;
                trainer.resume(&fitted.outline, &fitted.sections, image);
            }
            _ => return Err(Error::Unsupported { what: "the run has moved while the file was read".into() }.into()),
        }
        Ok(listed(fitted.report))
    }

    /// An optimizer on a device as a file has it, its values still to be loaded.
    #[wasm_bindgen(js_name = outlinedOnGpu, unchecked_return_type = "Promise<RawOptimizer>")]
    pub fn outlined_on_gpu(checkpoint: &RawCheckpoint, gpu: &RawGpu) -> Promise {
        let (checkpoint, gpu) = (Rc::clone(&checkpoint.0), gpu.0.clone());
        promise(async move {
            let trainer = gpu.settled(|| Trainer::outlined(&gpu, &checkpoint.outline, &[])).await?;
            Ok(Self::begun(Engine::Gpu(Box::new(trainer)), &checkpoint.outline).into())
        })
    }

    /// As `outlinedOnGpu`, in wasm memory.
    #[wasm_bindgen(js_name = outlinedOnCpu)]
    pub fn outlined_on_cpu(checkpoint: &RawCheckpoint) -> RawOptimizer {
        let outline = &checkpoint.0.outline;
        let trainer = HostTrainer::resumed(HostState::empty(outline.clone()));
        Self::begun(Engine::Host(Box::new(trainer)), outline)
    }

    pub(super) fn begun(engine: Engine, outline: &Outline) -> Self {
        let halves = outline.halves.clone();
        Self { engine, adopted: Adopted::new(halves.len()), kept: Kept::default(), halves }
    }
}

fn room(values: u64) -> Result<Vec<f32>, Error> {
    let mut room = Vec::new();
    let full = || Error::Unsupported { what: format!("there is no memory for {values} values") };
    room.try_reserve_exact(usize::try_from(values).map_err(|_| full())?).map_err(|_| full())?;
    Ok(room)
}
