//! What the last steps did to each tensor, kept on the device.

use super::pipeline::Shader;
use crate::optim::Record;
use crate::optim::rule::{Binding, Over, Pass};
use crate::optim::standing::Standing;

pub(super) const SHADER: Shader = Shader {
    stem: "history",
    source: concat!(
        include_str!("../../shaders/shared/grid.wgsl"),
        include_str!("../../shaders/shared/nonfinite.wgsl"),
        include_str!("../../shaders/shared/reduce.wgsl"),
        include_str!("../../shaders/shared/sums.wgsl"),
        include_str!("../../shaders/step/history.wgsl"),
    ),
};

/// Before the rule's passes.
pub(super) const BEFORE: &[Pass] = &[PASSES[0]];

/// After them.
pub(super) const AFTER: &[Pass] = &[PASSES[1], PASSES[2]];

pub(super) const PASSES: &[Pass] = {
    use Binding::{Blocks, Moves, Norms, Params, Previous, Records, Settings, Spans, Standing, Tiles};
    &[
        Pass { entry: "remember", over: Over::Tiles, uses: &[Tiles, Params, Previous] },
        Pass { entry: "block_moves", over: Over::Blocks, uses: &[Blocks, Params, Previous, Moves] },
        Pass { entry: "record", over: Over::Tensors, uses: &[Spans, Norms, Standing, Settings, Moves, Records] },
    ]
};

/// Words of a row before those of the tensors, as in `shaders/step/history.wgsl`.
const HEAD: usize = 10;

/// Bytes of the records of so many steps.
pub(super) fn size(steps: u32, tensors: usize) -> u64 {
    u64::from(steps) * (HEAD + 6 * tensors) as u64 * 4
}

/// The steps kept in the words of the records, the oldest first.
pub(super) fn records(words: &[f32], steps: u32, tensors: usize, skips: bool) -> Vec<Record> {
    let row = |words: &[f32]| {
        let bytes = bytemuck::cast_slice::<f32, u8>(words).get(..size_of::<Standing>())?;
        Some(bytemuck::pod_read_unaligned::<Standing>(bytes).record(skips, &words[HEAD..]))
    };
    let rows = words.chunks_exact(HEAD + 6 * tensors).take(steps as usize);
    let mut all: Vec<Record> = rows.filter_map(row).filter(|record| record.step > 0).collect();
    let oldest = (0..all.len()).min_by_key(|place| all[*place].step).unwrap_or_default();
    all.rotate_left(oldest);
    all
}

/// The words of kept steps, each at the place its number gives it.
pub(super) fn rows<'a>(history: impl IntoIterator<Item = &'a Record>, steps: u32, tensors: usize) -> Vec<f32> {
    let width = HEAD + 6 * tensors;
    let mut words = vec![0.0; steps as usize * width];
    for record in history {
        let (standing, moves) = Standing::row(record);
        let at = (record.step.saturating_sub(1) % u64::from(steps.max(1))) as usize * width;
        let Some(row) = words.get_mut(at..at + width) else { continue };
        let head = bytemuck::cast_slice::<u8, f32>(bytemuck::bytes_of(&standing));
        row[..head.len()].copy_from_slice(head);
        row[HEAD..HEAD + moves.len()].copy_from_slice(&moves);
    }
    words
}
