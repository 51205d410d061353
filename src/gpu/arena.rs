//! The buffers of a run: parameters, gradients and slots, one buffer a window each. Passive.

use super::control::ControlBuffers;
use super::device::Gpu;
use super::layout::{Home, Layout};
use crate::optim::Ledger;
use crate::optim::rule::{Binding, MAX_SLOTS};
use std::sync::OnceLock;

/// Buffers by window.
pub(super) type Windows = Vec<wgpu::Buffer>;

/// All values of a run on the device, and the tables that say where they stand.
#[derive(Debug)]
pub(super) struct Arena {
    pub layout: Layout,
    /// Where a window's parameters stand in buffers of the caller, a buffer of no use.
    pub params: Windows,
    grads: Vec<OnceLock<wgpu::Buffer>>,
    /// The model's parameters in 16 bits; empty where it has none, of no use where they are the caller's.
    pub copies: Windows,
    pub means: Windows,
    pub averages: Windows,
    pub previous: Windows,
    moves: wgpu::Buffer,
    pub share: wgpu::Buffer,
    pub slots: [Windows; MAX_SLOTS],
    pub hypers: wgpu::Buffer,
    pub partials: wgpu::Buffer,
    pub trust: wgpu::Buffer,
    pub shares: wgpu::Buffer,
    pub spans: wgpu::Buffer,
    pub control: Option<ControlBuffers>,
}

/// A storage buffer; WebGPU binds none of 0 bytes, so there is always room for one row.
pub(super) fn storage(gpu: &Gpu, label: &str, size: u64) -> wgpu::Buffer {
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    let label = format!("webgpu-optim.{label}");
    gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: Some(&label),
        size: size.max(16),
        usage,
        mapped_at_creation: false,
    })
}

pub(super) fn table<T: bytemuck::Pod>(gpu: &Gpu, label: &str, rows: &[T]) -> wgpu::Buffer {
    let buffer = storage(gpu, label, size_of_val(rows) as u64);
    gpu.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(rows));
    buffer
}

impl Arena {
    /// Makes zeroed buffers for the tensors of a ledger, without slots.
    pub fn new(gpu: &Gpu, ledger: &Ledger, home: impl Fn(usize) -> Home) -> Self {
        let lengths: Vec<usize> = ledger.tensors().iter().map(|tensor| tensor.length).collect();
        let layout = Layout::new(&lengths, home, gpu.window_capacity());
        let count: usize = layout.spans().iter().map(|span| span.length as usize).sum();
        let keeps = ledger.control().history > 0;
        let params = |(window, size)| storage(gpu, "params", if layout.is_elsewhere(window) { 0 } else { size });
        let ours = |window| matches!(layout.home(window), Home { own: false, half: Some(_) });
        let copies = |(window, size)| storage(gpu, "copies", if ours(window) { size / 2 } else { 0 });
        let halves = (0..layout.windows().len()).any(ours);
        Self {
            params: layout.windows().enumerate().map(params).collect(),
            grads: layout.windows().map(|_| OnceLock::new()).collect(),
            copies: if halves { layout.windows().enumerate().map(copies).collect() } else { Windows::new() },
            means: Windows::new(),
            averages: if ledger.ema().is_ok() { windows(gpu, &layout, "averages") } else { Windows::new() },
            previous: if keeps { windows(gpu, &layout, "previous") } else { Windows::new() },
            moves: storage(gpu, "moves", if keeps { count as u64 * 16 } else { 0 }),
            share: storage(gpu, "share", 4),
            shares: storage(gpu, "shares", lengths.len() as u64 * 4),
            slots: Default::default(),
            hypers: storage(gpu, "hypers", (lengths.len() * ledger.entry().hyper_size) as u64),
            partials: storage(gpu, "partials", count as u64 * 8),
            trust: storage(gpu, "trust", lengths.len() as u64 * 4),
            spans: table(gpu, "spans", &layout.spans()),
            control: ControlBuffers::new(gpu, ledger),
            layout,
        }
    }

    /// Makes the buffers of a slot, zeroed.
    pub fn add_slot(&mut self, gpu: &Gpu, slot: usize, name: &str) {
        self.slots[slot] = windows(gpu, &self.layout, name);
    }

    /// Makes the buffers of accumulated gradients.
    pub fn add_means(&mut self, gpu: &Gpu) {
        self.means = windows(gpu, &self.layout, "means");
    }

    /// The gradients of a window, made when they are first asked for: a caller may have buffers of its own for all.
    pub fn grads(&self, gpu: &Gpu, window: usize) -> &wgpu::Buffer {
        let size = || self.layout.windows().nth(window).unwrap_or_default();
        self.grads[window].get_or_init(|| storage(gpu, "grads", size()))
    }

    /// Writes a tensor's gradient, in 32 bits or in 16.
    pub fn write_grad<T: bytemuck::Pod>(&self, gpu: &Gpu, tensor: usize, values: &[T]) {
        self.write_pieces(gpu, |window| self.grads(gpu, window), tensor, values);
    }

    /// Writes a tensor's values into one of the sets of windows. `values` has the tensor's length.
    pub fn write(&self, gpu: &Gpu, set: &[wgpu::Buffer], tensor: usize, values: &[f32]) {
        self.write_pieces(gpu, |window| &set[window], tensor, values);
    }

    fn write_pieces<'a, T: bytemuck::Pod>(
        &self,
        gpu: &Gpu,
        of: impl Fn(usize) -> &'a wgpu::Buffer,
        tensor: usize,
        values: &[T],
    ) {
        for piece in self.layout.pieces(tensor) {
            let bytes: &[u8] = bytemuck::cast_slice(&values[piece.values.clone()]);
            let (words, rest) = bytes.split_at(bytes.len() / 4 * 4);
            let (buffer, at) = (of(piece.window), piece.at as u64 * 4);
            gpu.queue.write_buffer(buffer, at, words);
            if let [low, high] = rest {
                gpu.queue.write_buffer(buffer, at + words.len() as u64, &[*low, *high, 0, 0]);
            }
        }
    }

    /// The windows that a binding means; none for what has no windows of ours.
    pub fn set(&self, binding: Binding) -> &[wgpu::Buffer] {
        match binding {
            Binding::Params => &self.params,
            Binding::Slot(slot) => &self.slots[slot],
            Binding::Means => &self.means,
            Binding::Averages => &self.averages,
            Binding::Previous => &self.previous,
            Binding::Copies => &self.copies,
            _ => &[],
        }
    }

    /// The buffer that a binding means in a window; none where the run has none of that kind. Tiles and gradients are
    /// those of a batch.
    pub fn buffer(&self, binding: Binding, window: usize) -> Option<&wgpu::Buffer> {
        let control = self.control.as_ref();
        match binding {
            Binding::Hypers | Binding::Rows => Some(&self.hypers),
            Binding::Tiles | Binding::Blocks | Binding::Grads => None,
            Binding::Params
            | Binding::Slot(_)
            | Binding::Means
            | Binding::Averages
            | Binding::Previous
            | Binding::Copies => self.set(binding).get(window),
            Binding::Partials => Some(&self.partials),
            Binding::Trust => Some(&self.trust),
            Binding::Shares => Some(&self.shares),
            Binding::Share => Some(&self.share),
            Binding::Moves => Some(&self.moves),
            Binding::Records => control.map(|it| &it.records),
            Binding::Spans => Some(&self.spans),
            Binding::Norms => control.map(|it| &it.norms),
            Binding::Plans => control.map(|it| &it.plans),
            Binding::Rates => control.map(|it| &it.rates),
            Binding::Counts => control.map(|it| &it.counts),
            Binding::Standing => control.map(|it| &it.standing),
            Binding::Settings => control.map(|it| &it.settings),
        }
    }
}

fn windows(gpu: &Gpu, layout: &Layout, label: &str) -> Windows {
    layout.windows().map(|size| storage(gpu, label, size)).collect()
}

impl Arena {
    /// Gives the memory back at once: a browser would keep it until its garbage collector runs.
    pub fn destroy(&self) {
        let sets = [&self.params, &self.copies, &self.means, &self.averages, &self.previous];
        let sets = sets.into_iter().chain(&self.slots).flatten();
        let grads = self.grads.iter().filter_map(OnceLock::get);
        let control = self.control.iter().flat_map(ControlBuffers::all);
        let tables = [&self.moves, &self.hypers, &self.partials, &self.trust, &self.shares, &self.share, &self.spans];
        sets.chain(grads).chain(tables).chain(control).for_each(wgpu::Buffer::destroy);
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        self.destroy();
    }
}
