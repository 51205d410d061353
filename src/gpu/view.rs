//! Values that stand in buffers of the caller.

use super::device::Gpu;
use super::form::Reach;
use super::layout::{ALIGNMENT, Piece};
use crate::error::Error;
use crate::precision::Half;

/// Where values stand in a buffer of the caller. It is bound as it is, never copied, and stays the caller's.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    /// The buffer, usable as `STORAGE`.
    pub buffer: wgpu::Buffer,
    /// First byte, a multiple of 4.
    pub offset: u64,
    /// Values, of 4 bytes each, or of 2 where they are halves.
    pub length: usize,
    /// Their format where they have 16 bits, two in a word of 4 bytes.
    pub half: Option<Half>,
}

/// What is bound of a buffer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Bound {
    pub buffer: wgpu::Buffer,
    pub offset: u64,
    pub size: u64,
}

impl Bound {
    pub fn whole(buffer: &wgpu::Buffer) -> Self {
        Self { buffer: buffer.clone(), offset: 0, size: buffer.size() }
    }

    pub fn resource(&self) -> wgpu::BindingResource<'_> {
        let size = std::num::NonZeroU64::new(self.size);
        wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: &self.buffer, offset: self.offset, size })
    }
}

/// Bytes of a value.
pub(super) fn width(half: Option<Half>) -> u64 {
    if half.is_some() { 2 } else { 4 }
}

impl View {
    /// All of a buffer that holds values in 32 bits.
    pub fn whole(buffer: &wgpu::Buffer) -> Self {
        let length = usize::try_from(buffer.size() / 4).unwrap_or(usize::MAX);
        Self { buffer: buffer.clone(), offset: 0, length, half: None }
    }

    /// Its length in bytes.
    pub(super) fn size(&self) -> u64 {
        (self.length as u64).saturating_mul(width(self.half))
    }

    fn end(&self) -> u64 {
        self.offset.saturating_add(self.size())
    }

    /// Refuses a place outside the buffer, an odd one, and a buffer that cannot be used as it must be.
    pub(super) fn check(&self, gpu: &Gpu, what: &str, name: &str, usage: wgpu::BufferUsages) -> Result<(), Error> {
        let size = self.buffer.size();
        let missing = usage - self.buffer.usage();
        let refuse = |why: String| Err(Error::invalid(format!("the buffer of {what} of `{name}` {why}")));
        if !missing.is_empty() {
            return refuse(format!("lacks the usage {missing:?}"));
        }
        if !self.offset.is_multiple_of(4) {
            return refuse(format!("is to begin at byte {}, which is no multiple of 4", self.offset));
        }
        if self.end() > size {
            return refuse(format!("has {size} bytes, and {} to {} are asked for", self.offset, self.end()));
        }
        let most = gpu.window_capacity();
        if size > most && self.end() - self.offset / ALIGNMENT * ALIGNMENT > most {
            let what = format!(
                "the buffer of {what} of `{name}` has {size} bytes; the device binds {most} at most (maxStorageBufferBindingSize)"
            );
            return Err(Error::Unsupported { what });
        }
        Ok(())
    }

    /// How the values can be reached.
    pub(super) fn reach(&self) -> Reach {
        let aligned = self.offset.is_multiple_of(4 * width(self.half));
        if aligned && self.length.is_multiple_of(4) { Reach::Whole } else { Reach::Single }
    }

    /// What to bind to reach them: the whole buffer where that may be, so that its tensors share a dispatch.
    pub(super) fn bound(&self, gpu: &Gpu) -> Bound {
        let (size, most) = (self.buffer.size(), gpu.window_capacity());
        let offset = if size <= most { 0 } else { self.offset / ALIGNMENT * ALIGNMENT };
        Bound { buffer: self.buffer.clone(), offset, size: (size - offset).min(most) / 4 * 4 }
    }

    /// Where a piece begins in what is bound, in the units of `reach`.
    pub(super) fn first(&self, bound: &Bound, piece: &Piece, reach: Reach) -> u32 {
        let width = width(self.half);
        let bytes = self.offset - bound.offset + piece.values.start as u64 * width;
        (bytes / if reach == Reach::Whole { 4 * width } else { width }) as u32
    }
}

/// Binds each once, for the device to refuse a buffer that is not its own.
pub(super) fn probe<'a>(gpu: &Gpu, views: impl Iterator<Item = &'a View>) {
    let ty = wgpu::BufferBindingType::Storage { read_only: false };
    let entry = wgpu::BindGroupLayoutEntry {
        binding: 0,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None },
        count: None,
    };
    let label = Some("webgpu-optim.probe");
    let descriptor = wgpu::BindGroupLayoutDescriptor { label, entries: &[entry] };
    let layout = &gpu.device.create_bind_group_layout(&descriptor);
    for bound in views.map(|view| view.bound(gpu)) {
        let entries = &[wgpu::BindGroupEntry { binding: 0, resource: bound.resource() }];
        let _bound = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor { label, layout, entries });
    }
}

/// Refuses places of which one overlaps another. `views` are what each holds, the tensor's name, and the place.
pub(super) fn apart(views: &mut [(&str, &str, &View)]) -> Result<(), Error> {
    views.sort_unstable_by_key(|(_, _, view)| view.offset);
    for (i, (what, name, view)) in views.iter().enumerate() {
        let behind = views[i + 1..].iter().take_while(|(_, _, next)| next.offset < view.end());
        for (other, other_name, next) in behind {
            if next.buffer == view.buffer && next.length > 0 {
                return Err(Error::invalid(format!(
                    "{what} of `{name}` and {other} of `{other_name}` overlap in one buffer"
                )));
            }
        }
    }
    Ok(())
}
