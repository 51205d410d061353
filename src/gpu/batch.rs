//! Tiles that one dispatch can take: of one window, reached in one form through the same buffers.

use super::arena::{Arena, table};
use super::device::Gpu;
use super::form::{Form, Reach};
use super::layout::{Piece, Tile};
use super::view::{Bound, View};

/// Where a tensor's gradient is taken from.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Grad {
    /// There has been none.
    Absent,
    /// The gradient buffers.
    Arena,
    /// A buffer of the caller.
    Own(View),
}

/// What one dispatch takes. The tensors of a batch share everything but their rows.
#[derive(Debug)]
pub(super) struct Batch {
    pub window: usize,
    pub form: Form,
    pub params: Option<Bound>,
    pub grads: Option<Bound>,
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
    window: usize,
    form: Form,
    params: Option<Bound>,
    grads: Option<Bound>,
    tiles: Vec<Tile>,
    values: u64,
}

impl Batches {
    /// `own` says where parameters stand that are not in the arena, `grads` where gradients stand; `most` values are in a
    /// batch, or one tile.
    pub fn new(gpu: &Gpu, arena: &Arena, own: &[Option<View>], grads: &[Grad], most: u64) -> Self {
        let of = |label, tiles: Vec<Vec<Tile>>| {
            let mut groups: Vec<Group> = Vec::new();
            for (piece, tiles) in arena.layout.all().iter().zip(tiles) {
                let (own, grad) = (&own[piece.tensor], &grads[piece.tensor]);
                let Some(group) = placed(gpu, piece, tiles, own, grad) else { continue };
                add(&mut groups, group, most);
            }
            let batch = |Group { window, form, params, grads, tiles, values }: Group| {
                let (count, table) = (tiles.len(), table(gpu, label, &tiles));
                Batch { window, form, params, grads, table, count, values }
            };
            groups.into_iter().map(batch).collect()
        };
        Self { tiles: of("tiles", arena.layout.tiles()), blocks: of("blocks", arena.layout.blocks()) }
    }
}

/// The tiles of a piece, told where parameters and gradients begin; none where there is no gradient.
fn placed(gpu: &Gpu, piece: &Piece, mut tiles: Vec<Tile>, own: &Option<View>, grad: &Grad) -> Option<Group> {
    let grad = match grad {
        Grad::Absent => return None,
        Grad::Arena => None,
        Grad::Own(view) => Some(view),
    };
    let mut form = Form {
        params: own.as_ref().map_or(Reach::Whole, View::reach),
        grads: grad.map_or(Reach::Whole, View::reach),
        beside: matches!((own, grad), (Some(own), Some(grad)) if own.buffer == grad.buffer),
    };
    if form.beside && form.params != form.grads {
        (form.params, form.grads) = (Reach::Single, Reach::Single);
    }
    let (params, grads) = (own.as_ref().map(|view| view.bound(gpu)), grad.map(|view| view.bound(gpu)));
    let base = |view: Option<&View>, bound: &Option<Bound>, reach| {
        let (view, bound) = (view?, bound.as_ref()?);
        Some((view.first(bound, piece, reach), if reach == Reach::Whole { 1 } else { 4 }))
    };
    let (param, gradient) = (base(own.as_ref(), &params, form.params), base(grad, &grads, form.grads));
    let start = (piece.at / 4) as u32;
    for tile in &mut tiles {
        let within = tile.first - start;
        tile.param = param.map_or(tile.first, |(first, unit)| first + within * unit);
        tile.grad = gradient.map_or(tile.first, |(first, unit)| first + within * unit);
    }
    Some(Group { window: piece.window, form, params, grads, tiles, values: 0 })
}

/// Adds tiles to a group that shares everything with theirs and has room, or to new ones.
fn add(groups: &mut Vec<Group>, of: Group, most: u64) {
    let same = |it: &&mut Group| {
        it.window == of.window && it.form == of.form && it.params == of.params && it.grads == of.grads
    };
    for tile in &of.tiles {
        let length = u64::from(tile.length);
        match groups.iter_mut().rev().find(same) {
            Some(group) if group.values + length <= most => {
                group.tiles.push(*tile);
                group.values += length;
            }
            _ => {
                let (params, grads) = (of.params.clone(), of.grads.clone());
                groups.push(Group {
                    window: of.window,
                    form: of.form,
                    params,
                    grads,
                    tiles: vec![*tile],
                    values: length,
                });
            }
        }
    }
}

impl Drop for Batches {
    fn drop(&mut self) {
        self.tiles.iter().chain(&self.blocks).for_each(|batch| batch.table.destroy());
    }
}
