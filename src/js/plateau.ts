import { RawPlateau } from "./wasm/webgpu_optim.js";

/** Options of {@link ReduceOnPlateau}. */
export interface PlateauOptions {
  /** The learning rate to begin with, at least 0. Default 1e-3. */
  lr?: number;
  /** What the rate is multiplied by, in (0, 1). Default 0.1. */
  factor?: number;
  /** Observations without improvement that are borne. Default 10. */
  patience?: number;
  /** What counts as an improvement, at least 0. Default 1e-4. */
  threshold?: number;
  /** Whether `threshold` is a part of the best metric, or an amount. Default true. */
  relative?: boolean;
  /** Whether the metric should grow. Default false. */
  max?: boolean;
  /** Observations after a reduction that do not count. Default 0. */
  cooldown?: number;
  /** The lowest rate, at least 0. Default 0. */
  minLr?: number;
  /** A reduction by no more than this is not made, at least 0. Default 1e-8. */
  eps?: number;
}

/**
 * Lowers the learning rate when a metric has stopped improving: `opt.lr = plateau.observe(loss)`.
 * As PyTorch's `ReduceLROnPlateau`. Make it after `init()`.
 */
export class ReduceOnPlateau {
  readonly #raw: RawPlateau;

  /** @throws `INVALID_CONFIG` for an option that is unknown, of the wrong type or out of its range. */
  constructor(options: PlateauOptions = {}) {
    this.#raw = new RawPlateau(options);
  }

  /** Takes a metric in and gives the learning rate from now on. */
  observe(metric: number): number {
    return this.#raw.observe(metric);
  }

  /** The learning rate in force. */
  get lr(): number {
    return this.#raw.lr;
  }
}
