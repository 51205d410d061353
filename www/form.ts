import type { Kind } from "webgpu-optim";
import type { Options } from "./run";
import { rules, startOptions } from "./rules";

/** Words for the options' names. */
const LABELS: Record<string, string> = {
  lr: "learning rate",
  weightDecay: "weight decay",
  lrDecay: "lr decay",
  initialAccumulator: "initial accumulator",
};
// Ascending the loss, or leaving out the trust ratio, would show nothing here.
const HIDDEN = new Set(["maximize", "exclude"]);

function field(name: string, value: number | boolean): HTMLLabelElement {
  const label = document.createElement("label");
  const input = document.createElement("input");
  input.name = name;
  if (typeof value === "boolean") {
    input.type = "checkbox";
    input.checked = value;
    label.className = "check";
  } else {
    input.type = "number";
    input.step = "any";
    input.min = "0";
    input.value = String(value);
    input.required = true;
  }
  const text = document.createElement("span");
  text.textContent = LABELS[name] ?? name;
  label.append(text, input);
  return label;
}

/** The fields for a rule's options, made from the registry. */
export class OptionsForm {
  constructor(readonly element: HTMLElement) {}

  show(kind: Kind, override: Options = {}): void {
    const options = { ...startOptions(kind), ...override };
    const shown = Object.entries(options).filter(([name]) => !HIDDEN.has(name));
    // Check boxes last, so that the number fields line up.
    shown.sort(([, a], [, b]) => Number(typeof a === "boolean") - Number(typeof b === "boolean"));
    this.element.replaceChildren(...shown.map(([name, value]) => field(name, value)));
  }

  options(): Options {
    const inputs = [...this.element.querySelectorAll("input")];
    return Object.fromEntries(inputs.map((input) => [input.name, input.type === "checkbox" ? input.checked : input.valueAsNumber]));
  }
}

/** The list of rules, and the boxes to choose which to compare. */
export function fillRules(select: HTMLSelectElement, chips: HTMLElement): void {
  for (const { kind, class: name } of rules()) {
    select.add(new Option(name, kind));
    const label = document.createElement("label");
    const input = document.createElement("input");
    input.type = "checkbox";
    input.value = kind;
    input.checked = true;
    label.append(input, name);
    chips.append(label);
  }
}
