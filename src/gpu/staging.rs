//! Reading back: copy now, map later, through buffers that are used again.

use super::device::{Gpu, lock};
use crate::error::Error;
use futures_channel::oneshot;
use std::sync::{Arc, Mutex};

/// What is to be read of a buffer, in bytes.
pub(super) struct Source<'a> {
    buffer: &'a wgpu::Buffer,
    offset: u64,
    size: u64,
}

impl<'a> Source<'a> {
    pub fn new(buffer: &'a wgpu::Buffer, offset: u64, size: u64) -> Self {
        Self { buffer, offset, size }
    }

    pub fn whole(buffer: &'a wgpu::Buffer) -> Self {
        Self::new(buffer, 0, buffer.size())
    }
}

/// The staging buffers that no read is using.
#[derive(Debug, Clone, Default)]
pub(super) struct Staging(Arc<Mutex<Vec<wgpu::Buffer>>>);

impl Staging {
    fn take(&self, gpu: &Gpu, size: u64) -> wgpu::Buffer {
        let mut free = lock(&self.0);
        if let Some(place) = free.iter().position(|buffer| buffer.size() >= size) {
            return free.swap_remove(place);
        }
        gpu.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("webgpu-optim.staging"),
            size,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        })
    }

    /// Copies buffers as they are after the work submitted so far; the future yields the values.
    pub fn read(
        &self,
        gpu: &Gpu,
        sources: &[Source<'_>],
    ) -> impl Future<Output = Result<Vec<Vec<f32>>, Error>> + use<> {
        let copies: Vec<_> = sources.iter().map(|source| (self.take(gpu, source.size.max(4)), source.size)).collect();
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        for (source, (staging, size)) in sources.iter().zip(&copies) {
            encoder.copy_buffer_to_buffer(source.buffer, source.offset, staging, 0, *size);
        }
        if !sources.is_empty() {
            gpu.queue.submit([encoder.finish()]);
        }
        let mapped: Vec<_> = copies.into_iter().map(|(buffer, size)| (map(&buffer, size), buffer, size)).collect();
        let (gpu, ring) = (gpu.clone(), self.clone());
        async move {
            // Blocks on native backends; in a browser it returns at once and the promise does the waiting.
            let _ = gpu.device.poll(wgpu::PollType::wait_indefinitely());
            let mut values = Vec::with_capacity(mapped.len());
            for (done, buffer, size) in mapped {
                let mapping = done.await;
                gpu.check()?;
                match mapping {
                    Ok(Ok(())) => values.push(collect(&buffer, size)?),
                    // Nothing but the loss of its device undoes the mapping of a buffer nobody else has.
                    Ok(Err(error)) => return Err(Error::DeviceLost { reason: error.to_string() }),
                    Err(gone) => return Err(Error::DeviceLost { reason: gone.to_string() }),
                }
                buffer.unmap();
                lock(&ring.0).push(buffer);
            }
            Ok(values)
        }
    }
}

fn map(buffer: &wgpu::Buffer, size: u64) -> oneshot::Receiver<Result<(), wgpu::BufferAsyncError>> {
    let (send, receive) = oneshot::channel();
    buffer.map_async(wgpu::MapMode::Read, 0..size, move |result| drop(send.send(result)));
    receive
}

fn collect(buffer: &wgpu::Buffer, size: u64) -> Result<Vec<f32>, Error> {
    let view = buffer.get_mapped_range(0..size).map_err(|error| Error::Gpu { message: error.to_string() })?;
    Ok(bytemuck::pod_collect_to_vec(&view))
}
