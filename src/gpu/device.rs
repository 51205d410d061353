//! A device with what is asked of it: the adapter's own limits, and errors that are kept instead of thrown.

use super::pipeline::{Kernel, Key};
use crate::error::Error;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A GPU device and its queue. Clones share them, and the kernels compiled so far.
#[derive(Debug, Clone)]
pub struct Gpu {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    info: wgpu::AdapterInfo,
    fault: Arc<Mutex<Option<Error>>>,
    native: bool,
    pub(super) kernels: Arc<Mutex<HashMap<Key, Kernel>>>,
}

/// A lock that outlives a panic of another holder: the data is only ever replaced whole.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn none(error: impl std::fmt::Display) -> Error {
    Error::NoWebGpu { reason: error.to_string() }
}

/// What a device says of some work, once it has taken it in.
pub type Verdict = std::pin::Pin<Box<dyn Future<Output = Result<(), Error>>>>;

impl Gpu {
    /// Opens the fastest adapter there is.
    ///
    /// # Errors
    /// [`Error::NoWebGpu`] when there is no adapter or it gives no device.
    pub async fn new() -> Result<Self, Error> {
        let options = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            ..Default::default()
        };
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let adapter = instance.request_adapter(&options).await.map_err(none)?;
        Self::open(&adapter, |_| ()).await
    }

    /// Opens every adapter of this machine, software ones included.
    ///
    /// # Errors
    /// [`Error::NoWebGpu`] when an adapter gives no device. No adapter at all is an empty list.
    pub async fn all() -> Result<Vec<Self>, Error> {
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle());
        let mut all = Vec::new();
        for adapter in instance.enumerate_adapters(wgpu::Backends::all()).await {
            all.push(Self::open(&adapter, |_| ()).await?);
        }
        Ok(all)
    }

    /// Opens an adapter with its own limits, which `limit` may lower.
    ///
    /// # Errors
    /// [`Error::NoWebGpu`] when the adapter gives no device.
    pub async fn open(adapter: &wgpu::Adapter, limit: impl FnOnce(&mut wgpu::Limits)) -> Result<Self, Error> {
        let gpu = Self::request(adapter, limit).await?;
        gpu.keep_errors();
        Ok(gpu)
    }

    /// Opens an adapter whose device is the caller's: its handler of uncaptured errors stays the caller's too.
    #[cfg(all(feature = "js", target_arch = "wasm32"))]
    pub(super) async fn open_foreign(adapter: &wgpu::Adapter) -> Result<Self, Error> {
        Self::request(adapter, |_| ()).await
    }

    async fn request(adapter: &wgpu::Adapter, limit: impl FnOnce(&mut wgpu::Limits)) -> Result<Self, Error> {
        let mut required_limits = adapter.limits();
        limit(&mut required_limits);
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("webgpu-optim"),
            required_limits,
            required_features: adapter.features() & wgpu::Features::SHADER_F16,
            ..Default::default()
        };
        let (device, queue) = adapter.request_device(&descriptor).await.map_err(none)?;
        let native = device.features().contains(wgpu::Features::SHADER_F16);
        let (info, fault, kernels) = (adapter.get_info(), Arc::default(), Arc::default());
        let gpu = Self { device, queue, info, fault, native, kernels };
        gpu.keep_loss();
        Ok(gpu)
    }

    fn keep_errors(&self) {
        let fault = self.fault.clone();
        self.device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
            lock(&fault).get_or_insert(Error::Gpu { message: error.to_string() });
        }));
    }

    fn keep_loss(&self) {
        let fault = self.fault.clone();
        self.device.set_device_lost_callback(move |_, reason| {
            *lock(&fault) = Some(Error::DeviceLost { reason });
        });
    }

    /// The first error the device has reported since the last call; a lost device stays lost.
    pub(super) fn check(&self) -> Result<(), Error> {
        let mut fault = lock(&self.fault);
        match fault.as_ref() {
            Some(lost @ Error::DeviceLost { .. }) => Err(lost.clone()),
            Some(_) => fault.take().map_or(Ok(()), Err),
            None => Ok(()),
        }
    }

    /// Runs `build` now; the future tells what the device says of it, so that being out of memory is an error at once.
    ///
    /// # Errors
    /// The future yields [`Error::Gpu`].
    pub fn watched<T>(&self, build: impl FnOnce() -> T) -> (T, Verdict) {
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let built = build();
        let (validation, memory) = (validation.pop(), memory.pop());
        let verdict = async move {
            match (validation.await, memory.await) {
                (None, None) => Ok(()),
                (Some(error), _) | (_, Some(error)) => Err(Error::Gpu { message: error.to_string() }),
            }
        };
        (built, Box::pin(verdict))
    }

    /// Runs `build` and waits for what the device says of it.
    ///
    /// # Errors
    /// Those of `build`, and [`Error::Gpu`].
    pub async fn settled<T>(&self, build: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        self.check()?;
        let (built, verdict) = self.watched(build);
        verdict.await?;
        built
    }

    /// Whether the device is lost for good.
    pub fn is_lost(&self) -> bool {
        matches!(*lock(&self.fault), Some(Error::DeviceLost { .. }))
    }

    /// Which adapter this is.
    pub fn info(&self) -> &wgpu::AdapterInfo {
        &self.info
    }

    /// Whether the adapter computes on the CPU.
    pub fn is_software(&self) -> bool {
        let name = self.info.name.to_ascii_lowercase();
        self.info.device_type == wgpu::DeviceType::Cpu
            || ["swiftshader", "llvmpipe", "lavapipe", "basic render"].iter().any(|known| name.contains(known))
    }

    /// The device.
    pub fn device(&self) -> &wgpu::Device {
        &self.device
    }

    /// Its queue.
    pub fn queue(&self) -> &wgpu::Queue {
        &self.queue
    }

    /// Whether kernels may use the device's own type for binary16.
    pub fn has_f16(&self) -> bool {
        self.native
    }

    /// The same device as one whose kernels may not: they hold two halves a word then, with the same results.
    pub fn packed(self) -> Self {
        Self { native: false, ..self }
    }

    /// The most bytes one window of an arena may have.
    pub(super) fn window_capacity(&self) -> u64 {
        let limits = self.device.limits();
        limits.max_storage_buffer_binding_size.min(limits.max_buffer_size)
    }

    /// A grid of at least `count` workgroups, folded near-square past the limit of one dimension.
    pub(super) fn fold(&self, count: usize) -> (u32, u32) {
        fold(count as u32, self.device.limits().max_compute_workgroups_per_dimension)
    }
}

fn fold(count: u32, most: u32) -> (u32, u32) {
    if count <= most {
        return (count, 1);
    }
    let width = f64::from(count).sqrt().ceil() as u32;
    (width, count.div_ceil(width))
}

#[cfg(test)]
mod tests {
    use super::fold;

    #[test]
    fn past_the_workgroup_limit_the_grid_folds() {
        assert_eq!(fold(65_535, 65_535), (65_535, 1));
        for count in [65_536, 65_537, 1_000_003, 4_000_000_000] {
            let (x, y) = fold(count, 65_535);
            assert!(x <= 65_535 && y <= 65_535);
            let covered = u64::from(x) * u64::from(y);
            assert!(covered >= u64::from(count) && covered - u64::from(count) < u64::from(x));
        }
    }
}
