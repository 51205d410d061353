//! The state of a run in buffers of its own: a copy that steps leave alone, on its way out of the arena or into it.

use super::device::Gpu;
use super::staging::{Source, Staging};
use crate::error::Error;
use crate::optim::Section;
use std::ops::Range;

/// The most bytes of one of its buffers.
const CHUNK: u64 = 64 << 20;

/// How many values are read at a time.
pub(crate) const PIECE: u64 = 2 << 20;

/// Values on the device, section behind section. It takes as much memory as the state it copies, and gives it back when
/// dropped; what is read of it passes through one staging buffer.
#[derive(Debug)]
pub struct Image {
    gpu: Gpu,
    staging: Staging,
    chunks: Vec<wgpu::Buffer>,
    chunk: u64,
    values: u64,
}

/// Where a section's values stand on the device, as a buffer, first byte and number of bytes.
pub(super) type Part = (wgpu::Buffer, u64, u64);

impl Image {
    /// Room for so many values.
    pub fn new(gpu: &Gpu, values: u64) -> Self {
        let chunk = gpu.device.limits().max_buffer_size.min(CHUNK) / 16 * 16;
        let usage = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let make = |start: u64| {
            let (label, size) = (Some("webgpu-optim.image"), chunk.min(values * 4 - start));
            gpu.device.create_buffer(&wgpu::BufferDescriptor { label, size, usage, mapped_at_creation: false })
        };
        let chunks = (0..(values * 4).div_ceil(chunk)).map(|number| make(number * chunk)).collect();
        Self { gpu: gpu.clone(), staging: Staging::default(), chunks, chunk, values }
    }

    /// Its length in values.
    pub fn len(&self) -> u64 {
        self.values
    }

    /// Whether it holds nothing.
    pub fn is_empty(&self) -> bool {
        self.values == 0
    }

    /// The parts of a range of bytes, each inside one buffer: number, first byte there, first byte of the range, length.
    fn parts(&self, range: Range<u64>) -> impl Iterator<Item = (&wgpu::Buffer, u64, u64, u64)> {
        let mut at = range.start;
        std::iter::from_fn(move || {
            let inside = at % self.chunk;
            let size = (self.chunk - inside).min(range.end - at);
            let buffer = self.chunks.get((at / self.chunk) as usize).filter(|_| size > 0)?;
            let part = (buffer, inside, at - range.start, size);
            at += size;
            Some(part)
        })
    }

    /// Records copies between a section and where its values stand: into the image, or out of it.
    pub(super) fn copy(&self, encoder: &mut wgpu::CommandEncoder, section: &Section, places: &[Part], into: bool) {
        let mut at = section.values.start * 4;
        for (buffer, offset, size) in places {
            for (chunk, inside, from, size) in self.parts(at..at + size) {
                let (image, place) = ((chunk, inside), (buffer, offset + from));
                let (source, sink) = if into { (place, image) } else { (image, place) };
                encoder.copy_buffer_to_buffer(source.0, source.1, sink.0, sink.1, size);
            }
            at += size;
        }
    }

    /// Writes values that begin at `at`.
    ///
    /// # Errors
    /// [`Error::InvalidConfig`] for more than there is room for; [`Error::Gpu`] and [`Error::DeviceLost`] of work before.
    pub fn write(&self, at: u64, values: &[f32]) -> Result<(), Error> {
        self.gpu.check()?;
        let bytes: &[u8] = bytemuck::cast_slice(values);
        let end = at.saturating_add(values.len() as u64);
        if end > self.values {
            return Err(Error::invalid(format!("values {at} to {end} of {} were to be written", self.values)));
        }
        for (buffer, inside, from, size) in self.parts(at * 4..end * 4) {
            self.gpu.queue.write_buffer(buffer, inside, &bytes[from as usize..(from + size) as usize]);
        }
        Ok(())
    }

    /// Reads a range of values.
    ///
    /// # Errors
    /// The future yields [`Error::Gpu`] or [`Error::DeviceLost`].
    pub fn read(&self, range: Range<u64>) -> impl Future<Output = Result<Vec<f32>, Error>> + use<> {
        let end = range.end.min(self.values);
        let parts = self.parts(range.start.min(end) * 4..end * 4);
        let sources: Vec<_> = parts.map(|(buffer, inside, _, size)| Source::new(buffer, inside, size)).collect();
        let reading = self.staging.read(&self.gpu, &sources);
        async move { Ok(reading.await?.concat()) }
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        self.chunks.iter().for_each(wgpu::Buffer::destroy);
    }
}
