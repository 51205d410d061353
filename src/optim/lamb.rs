//! LAMB.

use super::check::non_negative;
use super::moments::Moments;
use super::pace::Pace;
use super::rule::{Binding::*, Over, Pass, Rule, Slots, Used, common_options, row};
use crate::error::Error;
use serde::{Deserialize, Serialize};

/// LAMB: Adam with a layer-wise trust ratio, for large batches.
///
/// ```text
/// g     = grad                                         (-grad when maximizing)
/// m     = beta1 * m + (1 - beta1) * g
/// v     = beta2 * v + (1 - beta2) * g^2
/// u     = m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + eps) + weight_decay * p
/// trust = clamp(|p| / |u|, trust_clamp), 1 if either norm is 0 or the tensor is excluded
/// p     = p - lr * trust * u
/// ```
///
/// Norms are taken over each tensor. Slots: `exp_avg` (m), `exp_avg_sq` (v).
/// The same as optax's `lamb`; PyTorch has no LAMB. You et al. 2020.
///
/// ```
/// use webgpu_optim::{HostTrainer, Lamb};
/// let mut trainer = HostTrainer::new(Lamb { lr: 0.1, ..Lamb::default() }, &[("w", &[3.0, 4.0])])?;
/// trainer.step(&[("w", &[1.0, 1.0])])?;
/// // u = (1, 1), so trust = 5 / sqrt(2) and each value moves by 0.1 * trust.
/// assert!((trainer.params("w")?[0] - (3.0 - 0.5 / 2f32.sqrt())).abs() < 1e-5);
/// # Ok::<(), webgpu_optim::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct Lamb {
    /// Learning rate, at least 0. Default 1e-3.
    pub lr: f64,
    /// Decay rate of the first moment, in [0, 1). Default 0.9.
    pub beta1: f64,
    /// Decay rate of the second moment, in [0, 1). Default 0.999.
    pub beta2: f64,
    /// Added to the root, at least 0. Default 1e-6.
    pub eps: f64,
    /// Decay that enters the update before its norm is taken, at least 0. Default 0.
    pub weight_decay: f64,
    /// Lowest and highest trust ratio, `0 <= low <= high`. Default none.
    pub trust_clamp: Option<[f64; 2]>,
    /// Trust ratio 1 and no decay, for biases and norms. Default false.
    pub exclude: bool,
    /// Ascend instead of descend. Default false.
    pub maximize: bool,
}

impl Default for Lamb {
    fn default() -> Self {
        Self {
            lr: 1e-3,
            beta1: 0.9,
            beta2: 0.999,
            eps: 1e-6,
            weight_decay: 0.0,
            trust_clamp: None,
            exclude: false,
            maximize: false,
        }
    }
}

row! {
    /// One tensor's row in `shaders/lamb.wgsl`.
    pub struct Hyper {
        pace: Pace,
        moments: Moments,
        eps: f32,
        weight_decay: f32,
        trust_low: f32,
        trust_high: f32,
        exclude: u32,
    }
}

impl Hyper {
    fn direction(&self, p: f32, m: f32, v: f32) -> f32 {
        m * self.pace.correction() / (v.sqrt() * self.pace.root_scale() + self.eps) + self.weight_decay * p
    }

    fn trust(&self, params: f64, update: f64) -> f32 {
        if self.exclude == 1 || params == 0.0 || update == 0.0 {
            return 1.0;
        }
        ((params.sqrt() / update.sqrt()) as f32).clamp(self.trust_low, self.trust_high)
    }
}

impl Rule for Lamb {
    const KIND: &'static str = "lamb";
    const CLASS: &'static str = "LAMB";
    const SLOTS: &'static [&'static str] = &["exp_avg", "exp_avg_sq"];
    type Hyper = Hyper;

    fn check(&self) -> Result<(), Error> {
        non_negative("lr", self.lr)?;
        non_negative("weightDecay", self.weight_decay)?;
        Moments::check(self.beta1, self.beta2, self.eps)?;
        match self.trust_clamp {
            Some([low, high]) if !(low >= 0.0 && low <= high && high.is_finite()) => {
                Err(Error::invalid(format!("trustClamp must be 0 <= low <= high, got [{low}, {high}]")))
            }
            _ => Ok(()),
        }
    }

    common_options!();

    fn betas(&self) -> [f64; 2] {
        [self.beta1, self.beta2]
    }

    fn used(&self) -> Used {
        [true, true, false]
    }

    fn passes(_used: Used) -> &'static [Pass] {
        &[
            Pass {
                entry: "moments",
                over: Over::Blocks,
                uses: &[Hypers, Blocks, Params, Grads, Slot(0), Slot(1), Partials],
            },
            Pass { entry: "finish", over: Over::Tensors, uses: &[Hypers, Partials, Trust, Spans] },
            Pass { entry: "apply", over: Over::Tiles, uses: &[Hypers, Tiles, Params, Copies, Slot(0), Slot(1), Trust] },
        ]
    }

    fn hyper(&self, pace: Pace) -> Hyper {
        let [low, high] = self.trust_clamp.unwrap_or([0.0, f64::from(f32::MAX)]);
        Hyper {
            pace,
            moments: Moments::new(self.beta1, self.beta2),
            eps: self.eps as f32,
            weight_decay: if self.exclude { 0.0 } else { self.weight_decay as f32 },
            trust_low: low as f32,
            trust_high: high as f32,
            exclude: self.exclude.into(),
        }
    }

    fn step(h: &Hyper, params: &mut [f32], grads: &[f32], [m, v, _]: Slots<'_>) {
        let (mut of_params, mut of_update) = (0.0, 0.0);
        for (i, (p, grad)) in params.iter().zip(grads).enumerate() {
            h.moments.update(&mut m[i], &mut v[i], h.pace.paced(*grad));
            of_params += f64::from(*p).powi(2);
            of_update += f64::from(h.direction(*p, m[i], v[i])).powi(2);
        }
        let trust = h.trust(of_params, of_update);
        for (i, p) in params.iter_mut().enumerate() {
            *p -= h.pace.lr() * trust * h.direction(*p, m[i], v[i]);
        }
    }
}
