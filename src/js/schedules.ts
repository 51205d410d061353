/** The same rate at every step. */
export interface Constant {
  lr: number;
}

/** `from + (to - from) * t / total`, then `to`. */
export interface Linear {
  from: number;
  to: number;
  /** Steps, at least 1. */
  total: number;
}

/** `lr * gamma^floor(t / every)`. */
export interface Step {
  lr: number;
  /** Steps between changes, at least 1. */
  every: number;
  /** Default 0.1. */
  gamma?: number;
}

/** `lr * gamma^n`, where n of the steps `at` have been reached. */
export interface Multistep {
  lr: number;
  /** Ascending. */
  at: readonly number[];
  /** Default 0.1. */
  gamma?: number;
}

/** `lr * gamma^t`. */
export interface Exponential {
  lr: number;
  gamma: number;
}

/** A line from `start` to `peak`, half a cosine down to `floor` at step `total`, then `floor`. */
export interface Cosine {
  peak: number;
  /** Steps, warm-up included; more than `warmup`. */
  total: number;
  /** Steps of warm-up. Default 0. */
  warmup?: number;
  /** Rate at step 0 when there is a warm-up. Default 0. */
  start?: number;
  /** Default 0. */
  floor?: number;
}

/** Half a cosine from `peak` to `floor`, again and again. */
export interface CosineRestarts {
  peak: number;
  /** Steps of the first cycle, at least 1. */
  period: number;
  /** Growth of the cycles, a whole number of at least 1. Default 1. */
  mult?: number;
  /** Default 0. */
  floor?: number;
}

/** Up from `peak / divFactor` to `peak`, down to `peak / divFactor / finalDivFactor` at step `total - 1`, then held. */
export interface OneCycle {
  peak: number;
  /** Steps, at least 2. */
  total: number;
  /** Part of the steps that rises, between 0 and 1. Default 0.3. */
  pctStart?: number;
  /** Default 25. */
  divFactor?: number;
  /** Default 1e4. */
  finalDivFactor?: number;
  /** Straight lines instead of cosines. Default false. */
  linear?: boolean;
  /** Down to the first rate, and then on to the last. Default false. */
  threePhase?: boolean;
}

/** `to + (lr - to) * (1 - t / total)^power`, then `to`. */
export interface Polynomial {
  lr: number;
  /** Default 0. */
  to?: number;
  /** Steps, at least 1. */
  total: number;
  /** Default 1. */
  power?: number;
}

/** `peak * min((t + 1) / warmup, sqrt(warmup / (t + 1)))`. */
export interface InverseSqrt {
  peak: number;
  /** Steps of warm-up, at least 1. */
  warmup: number;
}

/** One schedule after the other, each counting from its own step 0. */
export interface Sequential {
  schedules: readonly Schedule[];
  /** The step at which each but the first begins, ascending. */
  boundaries: readonly number[];
}

/** A learning rate as a function of the 0-based step, as a plain object of one key: it can be stored and sent. */
export type Schedule =
  | { readonly constant: Constant }
  | { readonly linear: Linear }
  | { readonly step: Step }
  | { readonly multistep: Multistep }
  | { readonly exponential: Exponential }
  | { readonly cosine: Cosine }
  | { readonly cosineRestarts: CosineRestarts }
  | { readonly oneCycle: OneCycle }
  | { readonly polynomial: Polynomial }
  | { readonly inverseSqrt: InverseSqrt }
  | { readonly sequential: Sequential };

/** Always `lr`. */
export const constant = (lr: number): Schedule => ({ constant: { lr } });

/** A straight line, then its end. As optax's `linear_schedule`. */
export const linear = (options: Linear): Schedule => ({ linear: options });

/** A factor every so many steps. As PyTorch's `StepLR`. */
export const step = (options: Step): Schedule => ({ step: options });

/** A factor at given steps. As PyTorch's `MultiStepLR`. */
export const multistep = (options: Multistep): Schedule => ({ multistep: options });

/** A factor each step. As PyTorch's `ExponentialLR`. */
export const exponential = (options: Exponential): Schedule => ({ exponential: options });

/** Warm-up and half a cosine. As optax's `warmup_cosine_decay_schedule`. */
export const cosine = (options: Cosine): Schedule => ({ cosine: options });

/** Cosines with warm restarts. As PyTorch's `CosineAnnealingWarmRestarts`. */
export const cosineRestarts = (options: CosineRestarts): Schedule => ({ cosineRestarts: options });

/** One rise and one fall. As PyTorch's `OneCycleLR`. */
export const oneCycle = (options: OneCycle): Schedule => ({ oneCycle: options });

/** A power of the steps left. As optax's `polynomial_schedule`. */
export const polynomial = (options: Polynomial): Schedule => ({ polynomial: options });

/** A linear warm-up, then the inverse root of the step. Vaswani et al. 2017, equation 3, scaled to its peak. */
export const inverseSqrt = (options: InverseSqrt): Schedule => ({ inverseSqrt: options });

/** Schedules one after the other. As optax's `join_schedules`. */
export const sequential = (options: Sequential): Schedule => ({ sequential: options });
