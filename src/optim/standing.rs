//! How a controlled run stands, as a device has it.

use super::control::{Control, GradNorm, Move, Record, Summary};
use super::progress::Progress;
use super::rule::row;

row! {
    /// How a run stands; as in `shaders/step/prepare.wgsl`.
    pub struct Standing {
        scale: f32,
        taken: u32,
        skipped: u32,
        good: u32,
        found: u32,
        largest: f32,
        root: f32,
        clip_factor: f32,
        divisor: f32,
    }
}

impl Standing {
    pub(crate) fn start(control: &Control) -> Self {
        let scale = control.scaling().init;
        Self { scale, taken: 0, skipped: 0, good: 0, found: 0, largest: 0.0, root: 0.0, clip_factor: 1.0, divisor: 1.0 }
    }

    fn grad(&self, largest: f32, marked: f32) -> GradNorm {
        let nonfinite = marked < 0.0;
        let squares = if nonfinite { -1.0 - marked } else { marked };
        GradNorm { norm: single(plain(largest, squares) / f64::from(self.divisor)), nonfinite }
    }

    /// A row of `shaders/step/history.wgsl`, of a run that skips or not.
    pub(crate) fn record(&self, skips: bool, tensors: &[f32]) -> Record {
        let moved = |row: &[f32]| Move {
            grad: self.grad(row[0], row[1]),
            update: single(plain(row[2], row[3])),
            param: single(plain(row[4], row[5])),
        };
        Record {
            step: u64::from(self.taken) + u64::from(self.skipped),
            skipped: skips && self.found == 1,
            grad_norm: single(f64::from(self.largest) * f64::from(self.root)),
            clip_factor: self.clip_factor.into(),
            loss_scale: self.divisor.into(),
            tensors: tensors.chunks_exact(6).map(moved).collect(),
        }
    }

    /// As the device left it, with the norms of `shaders/step/norm.wgsl`, for a run in main memory.
    pub(crate) fn progress(&self, norms: &[[f32; 2]], history: Vec<Record>) -> Progress {
        let Summary { grad_norm, clip_factor, tensors, history, .. } = self.summary(norms, history);
        let (scale, good, divisor) = (self.scale.into(), self.good, self.divisor.into());
        Progress { scale, good, norms: tensors, grad_norm, clip_factor, divisor, history: history.into() }
    }

    /// Steps taken and skipped.
    pub(crate) fn counted(&self) -> [u64; 2] {
        [self.taken.into(), self.skipped.into()]
    }

    /// For a device to go on from.
    pub(crate) fn resumed(progress: &Progress, [taken, skipped]: [u64; 2]) -> Self {
        let [largest, squares] = parts(progress.grad_norm);
        Self {
            scale: progress.scale as f32,
            taken: taken as u32,
            skipped: skipped as u32,
            good: progress.good,
            found: progress.found().into(),
            largest,
            root: squares.sqrt(),
            clip_factor: progress.clip_factor as f32,
            divisor: progress.divisor as f32,
        }
    }

    /// The norm of a gradient, as `shaders/step/norm.wgsl` leaves it.
    pub(crate) fn norm(&self, grad: &GradNorm) -> [f32; 2] {
        let [largest, squares] = parts(grad.norm * f64::from(self.divisor));
        [largest, if grad.nonfinite { -1.0 - squares } else { squares }]
    }

    /// A kept step and its tensors, as a row of `shaders/step/history.wgsl`.
    pub(crate) fn row(record: &Record) -> (Self, Vec<f32>) {
        let [largest, squares] = parts(record.grad_norm);
        let (clip_factor, divisor) = (record.clip_factor as f32, record.loss_scale as f32);
        let (taken, found, root) = (record.step as u32, record.skipped.into(), squares.sqrt());
        let own = Self { scale: 0.0, taken, skipped: 0, good: 0, found, largest, root, clip_factor, divisor };
        let moved = |it: &Move| [own.norm(&it.grad), parts(it.update), parts(it.param)];
        let tensors = record.tensors.iter().flat_map(moved).flatten().collect();
        (own, tensors)
    }

    /// With the norms as `shaders/step/norm.wgsl` leaves them.
    pub(crate) fn summary(&self, norms: &[[f32; 2]], history: Vec<Record>) -> Summary {
        let tensor = |&[largest, marked]: &[f32; 2]| self.grad(largest, marked);
        Summary {
            step: self.taken.into(),
            skipped: self.skipped.into(),
            grad_norm: single(f64::from(self.largest) * f64::from(self.root)),
            clip_factor: self.clip_factor.into(),
            loss_scale: self.scale.into(),
            found_nonfinite: self.found == 1,
            tensors: norms.iter().map(tensor).collect(),
            history,
        }
    }
}

/// A largest value and squares in units of it for a norm that may lie beyond the largest f32.
fn parts(norm: f64) -> [f32; 2] {
    let unit = unit(norm);
    [(norm / unit) as f32, (unit * unit) as f32]
}

fn unit(norm: f64) -> f64 {
    if norm > 1e38 { 2f64.powi(32) } else { 1.0 }
}

/// A norm as exact as a device had it, and as it can have it again.
fn single(norm: f64) -> f64 {
    let unit = unit(norm);
    f64::from((norm / unit) as f32) * unit
}

/// A norm from its largest value and its squares in units of that.
fn plain(largest: f32, squares: f32) -> f64 {
    f64::from(largest) * f64::from(squares).sqrt()
}
