import { rules } from "./wasm/webgpu_optim.js";
import { build, resumed } from "./create.js";
import { Trainer } from "./optimizer.js";
import type { CheckpointSource, ResumeOptions } from "./checkpoint.js";
import type { CommonOptions, Match, Values } from "./options.js";

type Given<Name extends string> = Readonly<Record<Name, Values>>;

/** Options of {@link SGD}. */
export interface SGDOptions {
  /** At least 0. Default 0. */
  momentum?: number;
  /** In [0, 1); needs momentum above 0. Default 0. */
  dampening?: number;
  /** L2 penalty, at least 0. Default 0. */
  weightDecay?: number;
  /** Needs momentum above 0 and dampening 0. Default false. */
  nesterov?: boolean;
  /** Ascend. Default false. */
  maximize?: boolean;
}

/** Options of {@link Adam}. */
export interface AdamOptions {
  /** In [0, 1). Default 0.9. */
  beta1?: number;
  /** In [0, 1). Default 0.999. */
  beta2?: number;
  /** Added to the root after bias correction, at least 0. Default 1e-8. */
  eps?: number;
  /** L2 penalty, at least 0, added to the gradient. Default 0. */
  weightDecay?: number;
  /** Divide by the largest second moment so far. Default false. */
  amsgrad?: boolean;
  /** Ascend. Default false. */
  maximize?: boolean;
}

/** Options of {@link AdamW}: those of Adam, with a decoupled `weightDecay` of 0.01 by default. */
export interface AdamWOptions extends AdamOptions {}

/** Options of {@link RMSprop}. */
export interface RMSpropOptions {
  /** In [0, 1). Default 0.99. */
  alpha?: number;
  /** Added to the root, at least 0. Default 1e-8. */
  eps?: number;
  /** L2 penalty, at least 0. Default 0. */
  weightDecay?: number;
  /** At least 0. Default 0. */
  momentum?: number;
  /** Divide by the standard deviation. Default false. */
  centered?: boolean;
  /** Ascend. Default false. */
  maximize?: boolean;
}

/** Options of {@link Adagrad}. */
export interface AdagradOptions {
  /** At least 0. Default 0. */
  lrDecay?: number;
  /** L2 penalty, at least 0. Default 0. */
  weightDecay?: number;
  /** What the sum of squares starts with, at least 0. Default 0. */
  initialAccumulator?: number;
  /** Added to the root, at least 0. Default 1e-10. */
  eps?: number;
  /** Ascend. Default false. */
  maximize?: boolean;
}

/** Options of {@link LAMB}. */
export interface LAMBOptions {
  /** In [0, 1). Default 0.9. */
  beta1?: number;
  /** In [0, 1). Default 0.999. */
  beta2?: number;
  /** At least 0. Default 1e-6. */
  eps?: number;
  /** Enters the update before its norm, at least 0. Default 0. */
  weightDecay?: number;
  /** Lowest and highest trust ratio. Default none. */
  trustClamp?: readonly [number, number] | null;
  /** Trust ratio 1 and no decay; at the top also a pattern or names, which then holds before all groups. Default false. */
  exclude?: boolean | Match;
  /** Ascend. Default false. */
  maximize?: boolean;
}

/** The options of each rule, by its name. */
export interface OptionsByKind {
  sgd: SGDOptions;
  adam: AdamOptions;
  adamw: AdamWOptions;
  rmsprop: RMSpropOptions;
  adagrad: AdagradOptions;
  lamb: LAMBOptions;
}

/** Name of a rule. */
export type Kind = keyof OptionsByKind;

/** Stochastic gradient descent with momentum, dampening and Nesterov's form; lr 1e-3. As `torch.optim.SGD`. */
export class SGD<Name extends string = string> extends Trainer<Name, SGDOptions> {
  static async create<Name extends string>(params: Given<Name>, options?: SGDOptions & CommonOptions<SGDOptions>): Promise<SGD<Name>> {
    return new SGD(await build("sgd", params, options));
  }

  /** The run of a checkpoint, with its options. @throws `INVALID_CHECKPOINT`, `CHECKPOINT_MISMATCH` for another rule; as `create`. */
  static async load<Name extends string = string>(source: CheckpointSource, options?: ResumeOptions): Promise<SGD<Name>> {
    return new SGD(await resumed("sgd", source, options));
  }
}

/** Adam, optionally AMSGrad; lr 1e-3. As `torch.optim.Adam`. */
export class Adam<Name extends string = string> extends Trainer<Name, AdamOptions> {
  static async create<Name extends string>(params: Given<Name>, options?: AdamOptions & CommonOptions<AdamOptions>): Promise<Adam<Name>> {
    return new Adam(await build("adam", params, options));
  }

  /** The run of a checkpoint, with its options. @throws `INVALID_CHECKPOINT`, `CHECKPOINT_MISMATCH` for another rule; as `create`. */
  static async load<Name extends string = string>(source: CheckpointSource, options?: ResumeOptions): Promise<Adam<Name>> {
    return new Adam(await resumed("adam", source, options));
  }
}

/** Adam with decoupled weight decay; lr 1e-3. As `torch.optim.AdamW`. */
export class AdamW<Name extends string = string> extends Trainer<Name, AdamWOptions> {
  static async create<Name extends string>(params: Given<Name>, options?: AdamWOptions & CommonOptions<AdamWOptions>): Promise<AdamW<Name>> {
    return new AdamW(await build("adamw", params, options));
  }

  /** The run of a checkpoint, with its options. @throws `INVALID_CHECKPOINT`, `CHECKPOINT_MISMATCH` for another rule; as `create`. */
  static async load<Name extends string = string>(source: CheckpointSource, options?: ResumeOptions): Promise<AdamW<Name>> {
    return new AdamW(await resumed("adamw", source, options));
  }
}

/** RMSprop, optionally centered and with momentum; lr 1e-2. As `torch.optim.RMSprop`. */
export class RMSprop<Name extends string = string> extends Trainer<Name, RMSpropOptions> {
  static async create<Name extends string>(params: Given<Name>, options?: RMSpropOptions & CommonOptions<RMSpropOptions>): Promise<RMSprop<Name>> {
    return new RMSprop(await build("rmsprop", params, options));
  }

  /** The run of a checkpoint, with its options. @throws `INVALID_CHECKPOINT`, `CHECKPOINT_MISMATCH` for another rule; as `create`. */
  static async load<Name extends string = string>(source: CheckpointSource, options?: ResumeOptions): Promise<RMSprop<Name>> {
    return new RMSprop(await resumed("rmsprop", source, options));
  }
}

/** Adagrad; lr 1e-2. As `torch.optim.Adagrad`. */
export class Adagrad<Name extends string = string> extends Trainer<Name, AdagradOptions> {
  static async create<Name extends string>(params: Given<Name>, options?: AdagradOptions & CommonOptions<AdagradOptions>): Promise<Adagrad<Name>> {
    return new Adagrad(await build("adagrad", params, options));
  }

  /** The run of a checkpoint, with its options. @throws `INVALID_CHECKPOINT`, `CHECKPOINT_MISMATCH` for another rule; as `create`. */
  static async load<Name extends string = string>(source: CheckpointSource, options?: ResumeOptions): Promise<Adagrad<Name>> {
    return new Adagrad(await resumed("adagrad", source, options));
  }
}

/** LAMB; lr 1e-3. As `optax.lamb`. */
export class LAMB<Name extends string = string> extends Trainer<Name, LAMBOptions> {
  static async create<Name extends string>(params: Given<Name>, options?: LAMBOptions & CommonOptions<LAMBOptions>): Promise<LAMB<Name>> {
    return new LAMB(await build("lamb", params, options));
  }

  /** The run of a checkpoint, with its options. @throws `INVALID_CHECKPOINT`, `CHECKPOINT_MISMATCH` for another rule; as `create`. */
  static async load<Name extends string = string>(source: CheckpointSource, options?: ResumeOptions): Promise<LAMB<Name>> {
    return new LAMB(await resumed("lamb", source, options));
  }
}

const classes = { sgd: SGD, adam: Adam, adamw: AdamW, rmsprop: RMSprop, adagrad: Adagrad, lamb: LAMB };

/** A training run under any of the rules. */
export type Optimizer<Name extends string = string, K extends Kind = Kind> = Trainer<Name, OptionsByKind[K]>;

/** The generic entry under the classes. */
export const Optimizer = {
  /**
   * Makes an optimizer by the name of its rule.
   *
   * @throws `INVALID_CONFIG` for an unknown kind or option, an option out of range, an empty set of parameters;
   *   `WRONG_TYPE`; `NO_WEBGPU` when `device` is `"gpu"` and there is none.
   */
  async create<K extends Kind, Name extends string>(
    kind: K,
    params: Given<Name>,
    options?: OptionsByKind[K] & CommonOptions<OptionsByKind[K]>,
  ): Promise<Optimizer<Name, K>> {
    const Class = (classes[kind] ?? Trainer) as unknown as new (parts: Awaited<ReturnType<typeof build>>) => Optimizer<Name, K>;
    return new Class(await build(kind, params, options));
  },

  /**
   * Makes an optimizer from a checkpoint, of whatever rule that is.
   *
   * @throws `INVALID_CHECKPOINT`; `UNSUPPORTED` for a newer schema, and where the learning rate was a function; as `create`.
   */
  async load<Name extends string = string>(source: CheckpointSource, options?: ResumeOptions): Promise<Optimizer<Name>> {
    const parts = await resumed("", source, options);
    const Class = (classes[parts.kind as Kind] ?? Trainer) as unknown as new (parts: Awaited<ReturnType<typeof build>>) => Optimizer<Name>;
    return new Class(parts);
  },
};

/** What the registry says of a rule. */
export interface RuleInfo {
  kind: Kind;
  class: string;
  slots: string[];
  options: { name: string; default: number | boolean | null }[];
}

/** Every rule with its slots, options and defaults. Call it after `init()`. */
export function RULES(): RuleInfo[] {
  return rules().map(({ kind, class: name, slots, defaults }) => ({
    kind: kind as Kind,
    class: name,
    slots,
    options: Object.entries(defaults).map(([option, value]) => ({ name: option, default: value as number | boolean | null })),
  }));
}
