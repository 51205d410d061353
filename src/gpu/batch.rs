//! Tiles that one dispatch can take: of one window, reached in one form through the same buffers.

use super::arena::{Arena, table};
use super::device::Gpu;
use super::form::{Form, Reach};
use super::layout::{Piece, Tile};
use super::view::{Bound, View};
use crate::precision::Half;

/// Where a tensor's gradient is taken from.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Grad {
    /// There has been none.
    Absent,
    /// The gradient buffers, in 32 bits or in a format of 16.
    Arena(Option<Half>),
    /// A buffer of the caller.
    Own(View),
    /// The model's parameters in 16 bits: what stands there is taken as it is.
    Copies,
}

/// Where a tensor's parameters in 16 bits stand.
#[derive(Debug, Clone)]
pub(super) struct Halves {
    pub half: Half,
    /// In a buffer of the caller, or else in the arena.
    pub own: Option<View>,
}

/// What the tiles of a batch share.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Places {
    pub window: usize,
    pub form: Form,
    /// What is bound in the place of the window's own.
    pub params: Option<Bound>,
    pub grads: Option<Bound>,
    pub copies: Option<Bound>,
}

/// What one dispatch takes. The tensors of a batch share everything but their rows.
#[derive(Debug)]
pub(super) struct Batch {
    pub places: Places,
    pub table: wgpu::Buffer,
    pub count: usize,
    pub values: u64,
}

/// The batches of all tiles, and of all blocks.
#[derive(Debug)]
pub(super) struct Batches {
    pub tiles: Vec<Batch>,
    pub blocks: Vec<Batch>,
}

struct Group {
    places: Places,
    tiles: Vec<Tile>,
    values: u64,
}

/// Where everything stands that batches are made of.
pub(super) struct Standing<'a> {
    pub arena: &'a Arena,
    /// Parameters in 32 bits in buffers of the caller.
    pub own: &'a [Option<View>],
    pub copies: &'a [Option<Halves>],
    pub grads: &'a [Grad],
}

impl Batches {
    /// At most `most` values are in a batch, or one tile.
    pub fn new(gpu: &Gpu, standing: &Standing<'_>, most: u64) -> Self {
        let layout = &standing.arena.layout;
        let of = |label, tiles: Vec<Vec<Tile>>| {
            let mut groups: Vec<Group> = Vec::new();
            for (piece, mut tiles) in layout.all().iter().zip(tiles) {
                let Some(places) = standing.place(gpu, piece, &mut tiles) else { continue };
                tiles.iter().for_each(|tile| add(&mut groups, &places, *tile, most));
            }
            let batch = |Group { places, tiles, values }: Group| {
                let (count, table) = (tiles.len(), table(gpu, label, &tiles));
                Batch { places, table, count, values }
            };
            groups.into_iter().map(batch).collect()
        };
        Self { tiles: of("tiles", layout.tiles()), blocks: of("blocks", layout.blocks()) }
    }
}

impl Standing<'_> {
    /// Where the values of a piece stand, and its tiles told where they begin there; none where there is no gradient.
    fn place(&self, gpu: &Gpu, piece: &Piece, tiles: &mut [Tile]) -> Option<Places> {
        let (own, halves, grad) =
            (self.own[piece.tensor].as_ref(), self.copies[piece.tensor].as_ref(), &self.grads[piece.tensor]);
        let copies = halves.and_then(|halves| halves.own.as_ref());
        let (grads, grad_half) = match grad {
            Grad::Absent => return None,
            Grad::Arena(half) => (None, *half),
            Grad::Own(view) => (Some(view), view.half),
            Grad::Copies => (copies, Some(halves?.half)),
        };
        let reach = |view: Option<&View>| view.map_or(Reach::Whole, View::reach);
        let model = if halves.is_some() { copies } else { own };
        let together = matches!((model, grads), (Some(model), Some(grads)) if model.buffer == grads.buffer);
        let form = Form {
            params: reach(own),
            grads: reach(grads),
            grad_half,
            copies: halves.map(|halves| (halves.half, reach(copies))),
            beside: together && *grad != Grad::Copies,
            native: gpu.has_f16(),
        };
        let form = form.possible();
        let bound = |view: Option<&View>| view.map(|view| view.bound(gpu));
        let mut places =
            Places { window: piece.window, form, params: bound(own), grads: bound(grads), copies: bound(copies) };
        let start = (piece.at / 4) as u32;
        let at = |view: Option<&View>, bound: &Option<Bound>, reach, ours| match (view, bound) {
            (Some(view), Some(bound)) => (view.first(bound, piece, reach), if reach == Reach::Whole { 1 } else { 4 }),
            _ => (ours, 1),
        };
        let (param, param_unit) = at(own, &places.params, form.params, start);
        let copy_reach = form.copies.map_or(Reach::Whole, |(_, reach)| reach);
        let (copy, copy_unit) = at(copies, &places.copies, copy_reach, start);
        // Halves in a gradient buffer take the first half of the room that values in 32 bits have.
        let ours = if matches!(grad, Grad::Arena(Some(_))) { 2 * start } else { start };
        let (gradient, grad_unit) = at(grads, &places.grads, form.grads, ours);
        for tile in tiles {
            let within = tile.first - start;
            tile.param = param + within * param_unit;
            tile.grad = gradient + within * grad_unit;
            tile.copy = copy + within * copy_unit;
        }
        if *grad == Grad::Copies && copies.is_none() {
            places.grads = self.arena.copies.get(piece.window).map(Bound::whole);
        }
        Some(places)
    }
}

/// Adds a tile to a group of the same places that has room, or to a new one.
fn add(groups: &mut Vec<Group>, places: &Places, tile: Tile, most: u64) {
    let length = u64::from(tile.length);
    match groups.iter_mut().rev().find(|group| group.places == *places) {
        Some(group) if group.values + length <= most => {
            group.tiles.push(tile);
            group.values += length;
        }
        _ => groups.push(Group { places: places.clone(), tiles: vec![tile], values: length }),
    }
}

impl Drop for Batches {
    fn drop(&mut self) {
        self.tiles.iter().chain(&self.blocks).for_each(|batch| batch.table.destroy());
    }
}
