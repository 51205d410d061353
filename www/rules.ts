import { RULES, type Kind, type RuleInfo } from "webgpu-optim";
import type { Options } from "./run";

/** Where this demo departs from a rule's own defaults, so that each does well on this small network. */
const SETTINGS: Record<Kind, Options> = {
  sgd: { lr: 0.1, momentum: 0.9, nesterov: true },
  adam: { lr: 0.003 },
  adamw: { lr: 0.003 },
  rmsprop: { lr: 0.002 },
  adagrad: { lr: 0.03 },
  lamb: { lr: 0.005 },
};

const COLORS: Record<Kind, [light: string, dark: string]> = {
  sgd: ["#b45309", "#f0a050"],
  adam: ["#1d4ed8", "#7aa5ff"],
  adamw: ["#0f766e", "#45d0bf"],
  rmsprop: ["#9d174d", "#f57fb0"],
  adagrad: ["#6d28d9", "#b794ff"],
  lamb: ["#4d7c0f", "#a5d658"],
};

export const rules = (): RuleInfo[] => RULES();
export const rule = (kind: Kind): RuleInfo => rules().find((it) => it.kind === kind)!;
export const className = (kind: Kind): string => rule(kind).class;
export const isKind = (kind: string): kind is Kind => kind in SETTINGS;

export const colorOf = (kind: Kind): string => COLORS[kind][matchMedia("(prefers-color-scheme: dark)").matches ? 1 : 0];

/** Every option of a rule with the value that the form starts with. */
export function startOptions(kind: Kind): Options {
  const named = rule(kind).options.filter((option) => option.default !== null);
  const own = Object.fromEntries(named.map((option) => [option.name, option.default as number | boolean]));
  return { ...own, ...SETTINGS[kind] };
}
