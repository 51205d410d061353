//! Where each tensor stands: windows, pieces and tiles. Arithmetic only.

use crate::precision::Half;
use bytemuck::{Pod, Zeroable};
use std::ops::Range;

/// Bytes to which the start of a tensor is aligned: what WebGPU asks of a storage binding's offset.
pub const ALIGNMENT: u64 = 256;

/// The most values one workgroup updates: 256 threads of four.
pub const TILE: usize = 1024;

/// Workgroups that keep the largest devices busy.
const MANY_WORKGROUPS: usize = 4096;

/// The most values in a block.
const LARGEST_BLOCK: usize = 64 * TILE;

/// Values to which the start of a tensor is aligned, in 32 bits and in 16.
const STRIDE: usize = ALIGNMENT as usize / size_of::<u16>();

/// A run of one tensor's values inside one window. Only a tensor larger than a window has more than one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The tensor, in the order given.
    pub tensor: usize,
    /// The window it stands in.
    pub window: usize,
    /// Where it starts in the window, in values.
    pub at: usize,
    /// Which of the tensor's values it holds.
    pub values: Range<usize>,
}

/// What one workgroup updates; as in `shaders/shared/grid.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Tile {
    /// The tensor.
    pub segment: u32,
    /// Its first vec4 in the window.
    pub first: u32,
    /// Values in it.
    pub length: u32,
    /// Its place among the tiles of all windows.
    pub number: u32,
    /// Where its parameters begin, in vec4s or, where they are taken one by one, in values.
    pub param: u32,
    /// Where its gradients begin.
    pub grad: u32,
    /// Where its parameters in 16 bits begin.
    pub copy: u32,
}

/// The blocks of one tensor; as in `shaders/lamb.wgsl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Span {
    /// The first block's number.
    pub first: u32,
    /// How many there are.
    pub length: u32,
}

/// Where a tensor's parameters are to be. Those of one window have the same home.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Home {
    /// Whether the model's parameters stand in buffers of the caller.
    pub own: bool,
    /// Their format, where they have 16 bits: those in 32 bits stand in the window then.
    pub half: Option<Half>,
}

#[derive(Debug, Clone, Copy)]
struct Window {
    values: usize,
    home: Home,
}

/// The placement of all tensors in windows, each no larger than one storage binding may be.
#[derive(Debug, Clone)]
pub struct Layout {
    windows: Vec<Window>,
    pieces: Vec<Piece>,
    by_tensor: Vec<Range<usize>>,
}

impl Layout {
    /// Places tensors of the given lengths into windows of at most `capacity` bytes. Those of another home have windows
    /// apart.
    ///
    /// A tensor of length 0 has no piece. A tensor that fits in a window is never cut.
    pub fn new(lengths: &[usize], home: impl Fn(usize) -> Home, capacity: u64) -> Self {
        let stride = (STRIDE * size_of::<f32>()) as u64;
        let capacity = usize::try_from(capacity / stride).unwrap_or(usize::MAX / STRIDE).max(1) * STRIDE;
        let mut layout = Self { windows: Vec::new(), pieces: Vec::new(), by_tensor: Vec::new() };
        for (tensor, &length) in lengths.iter().enumerate() {
            let first = layout.pieces.len();
            let mut start = 0;
            while start < length {
                let end = length.min(start + capacity);
                layout.place(tensor, start..end, home(tensor), capacity);
                start = end;
            }
            layout.by_tensor.push(first..layout.pieces.len());
        }
        layout
    }

    fn place(&mut self, tensor: usize, values: Range<usize>, home: Home, capacity: usize) {
        let size = values.len().next_multiple_of(STRIDE);
        let last = self.windows.iter().rposition(|window| window.home == home);
        let window = last.filter(|last| self.windows[*last].values + size <= capacity).unwrap_or_else(|| {
            self.windows.push(Window { values: 0, home });
            self.windows.len() - 1
        });
        self.pieces.push(Piece { tensor, window, at: self.windows[window].values, values });
        self.windows[window].values += size;
    }

    /// The size of each window in bytes.
    pub fn windows(&self) -> impl ExactSizeIterator<Item = u64> {
        self.windows.iter().map(|window| window.values as u64 * size_of::<f32>() as u64)
    }

    /// Where the parameters of a window are to be.
    pub fn home(&self, window: usize) -> Home {
        self.windows[window].home
    }

    /// Whether the parameters that steps change stand in buffers of the caller, and not in the window.
    pub fn is_elsewhere(&self, window: usize) -> bool {
        let Home { own, half } = self.home(window);
        own && half.is_none()
    }

    /// All pieces, in the order of the tensors and their values.
    pub fn all(&self) -> &[Piece] {
        &self.pieces
    }

    /// The pieces of a tensor, in the order of its values.
    pub fn pieces(&self, tensor: usize) -> &[Piece] {
        &self.pieces[self.by_tensor[tensor].clone()]
    }

    /// The tiles of each piece. Their numbers follow the tensors' order, so that a tensor's tiles are neighbours.
    pub fn tiles(&self) -> Vec<Vec<Tile>> {
        self.cut(TILE)
    }

    /// The blocks of each piece, numbered as tiles are: so large that one workgroup can add up their sums, and so
    /// small that the device is kept busy.
    pub fn blocks(&self) -> Vec<Vec<Tile>> {
        self.cut(self.block())
    }

    fn block(&self) -> usize {
        let values: usize = self.windows.iter().map(|window| window.values).sum();
        (values / MANY_WORKGROUPS).next_multiple_of(TILE).clamp(TILE, LARGEST_BLOCK)
    }

    fn cut(&self, most: usize) -> Vec<Vec<Tile>> {
        let mut number = 0;
        let mut tile = |piece: &Piece, start: usize| {
            let first = ((piece.at + start - piece.values.start) / 4) as u32;
            let (segment, length) = (piece.tensor as u32, most.min(piece.values.end - start) as u32);
            number += 1;
            Tile { segment, first, length, number: number - 1, param: first, grad: first, copy: first }
        };
        let mut of = |piece: &Piece| piece.values.clone().step_by(most).map(|start| tile(piece, start)).collect();
        self.pieces.iter().map(&mut of).collect()
    }

    /// The blocks of each tensor.
    pub fn spans(&self) -> Vec<Span> {
        let (block, mut first) = (self.block(), 0);
        let blocks = |piece: &Piece| piece.values.len().div_ceil(block) as u32;
        let spans = (0..self.by_tensor.len()).map(|tensor| {
            let span = Span { first, length: self.pieces(tensor).iter().map(blocks).sum() };
            first += span.length;
            span
        });
        spans.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tensor_starts_on_an_aligned_offset() {
        let layout = Layout::new(&[3, 0, 65, 1], |_| Home::default(), 1 << 20);
        let starts: Vec<_> = [0, 2, 3].map(|tensor| layout.pieces(tensor)[0].at).into();
        assert_eq!(starts, [0, 128, 256]);
        assert!(layout.pieces(1).is_empty());
        assert_eq!(layout.windows().collect::<Vec<_>>(), [1536]);
    }

    #[test]
    fn only_a_tensor_larger_than_a_window_is_cut() {
        let layout = Layout::new(&[100, 200, 30], |_| Home::default(), 512);
        assert_eq!(layout.pieces(0).len(), 1);
        let cut: Vec<_> = layout.pieces(1).iter().map(|piece| (piece.window, piece.values.clone())).collect();
        assert_eq!(cut, [(1, 0..128), (2, 128..200)]);
        assert_eq!(layout.pieces(2)[0].window, 3);
        assert!(layout.windows().all(|bytes| bytes <= 512));
    }

    #[test]
    fn tensors_in_buffers_of_the_caller_have_windows_apart() {
        let layout = Layout::new(&[10, 20, 30, 40], |tensor| Home { own: tensor % 2 == 1, half: None }, 1 << 20);
        let windows: Vec<_> = (0..4).map(|tensor| layout.pieces(tensor)[0].window).collect();
        assert_eq!(windows, [0, 1, 0, 1]);
        assert_eq!([0, 1].map(|window| layout.is_elsewhere(window)), [false, true]);
    }

    #[test]
    fn tensors_in_16_bits_have_windows_apart_by_format() {
        let halves = [None, Some(Half::F16), Some(Half::Bf16), Some(Half::F16)];
        let layout = Layout::new(&[10, 20, 30, 40], |tensor| Home { own: false, half: halves[tensor] }, 1 << 20);
        let windows: Vec<_> = (0..4).map(|tensor| layout.pieces(tensor)[0].window).collect();
        assert_eq!(windows, [0, 1, 2, 1]);
        assert!((0..3).all(|window| !layout.is_elsewhere(window)));
    }

    #[test]
    fn tiles_and_blocks_cover_every_value_once_and_spans_find_the_blocks() {
        for lengths in [[2500, 1, 0, 1024, 5000], [9_000_000, 3, 0, 5_000_000, 70_000]] {
            covered(&lengths, 8192);
            covered(&lengths, 1 << 24);
        }
    }

    fn covered(lengths: &[usize], capacity: u64) {
        let layout = Layout::new(lengths, |tensor| Home { own: tensor == 2, half: None }, capacity);
        let tiles: Vec<Tile> = layout.tiles().concat();
        assert!(tiles.iter().all(|tile| tile.length as usize <= TILE));
        assert_eq!(tiles.iter().map(|tile| tile.length as usize).sum::<usize>(), lengths.iter().sum::<usize>());
        let blocks: Vec<Tile> = layout.blocks().concat();
        for (tensor, (&length, span)) in lengths.iter().zip(layout.spans()).enumerate() {
            let own: Vec<_> = blocks.iter().filter(|block| block.segment == tensor as u32).collect();
            assert_eq!(own.iter().map(|block| block.length as usize).sum::<usize>(), length);
            let numbers: Vec<_> = own.iter().map(|block| block.number).collect();
            assert_eq!(numbers, (span.first..span.first + span.length).collect::<Vec<_>>());
        }
    }
}
