import init, { OptimError, type Kind } from "webgpu-optim";
import { loadDigits, type Digits } from "./data";
import { DrawingBox, showPixels } from "./draw";
import { fillRules, OptionsForm } from "./form";
import { forget, keep, takeUp } from "./kept";
import { Curves } from "./plot";
import { className, isKind, startOptions } from "./rules";
import { Run, type Options } from "./run";
import { Loop } from "./train";

const query = new URLSearchParams(location.search);
const get = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
const controls = get<HTMLFormElement>("controls");
const select = get<HTMLSelectElement>("rule");
const steps = get<HTMLInputElement>("steps");
const seed = get<HTMLInputElement>("seed");
const buttons = { start: get<HTMLButtonElement>("start"), pause: get<HTMLButtonElement>("pause"), reset: get<HTMLButtonElement>("reset"), lose: get<HTMLButtonElement>("lose") };
const form = new OptionsForm(get("options"));
const charts = [
  new Curves(get("loss-plot"), "loss", () => loop?.total ?? steps.valueAsNumber),
  new Curves(get("accuracy-plot"), "accuracy", () => loop?.total ?? steps.valueAsNumber),
];
const box = new DrawingBox(get<HTMLCanvasElement>("draw"), () => void answer().catch(fail));
const bars = get("bars");

let digits: Digits;
let loop: Loop | undefined;
let error = "";

const comparing = () => (controls.elements.namedItem("mode") as RadioNodeList).value === "compare";
const leader = () => loop?.runs.reduce((best, run) => ((run.points.at(-1)?.accuracy ?? 0) > (best.points.at(-1)?.accuracy ?? 0) ? run : best));

function fail(reason: unknown): void {
  error = reason instanceof OptimError ? `${reason.code}: ${reason.message}` : String(reason);
  get("error").textContent = error;
  get("error").hidden = false;
  render();
}

function chosen(): { kind: Kind; options: Options }[] {
  if (!comparing()) return [{ kind: select.value as Kind, options: form.options() }];
  const kinds = [...get("chips").querySelectorAll<HTMLInputElement>("input:checked")].map((input) => input.value as Kind);
  if (kinds.length === 0) throw new Error("choose at least one optimizer to compare");
  return kinds.map((kind) => ({ kind, options: startOptions(kind) }));
}

function stop(): void {
  loop?.end();
  loop = undefined;
}

function reset(): void {
  stop();
  error = "";
  get("error").hidden = true;
  get("lost").hidden = true;
  charts.forEach((chart) => chart.show([]));
  void answer().catch(fail);
  render();
}

async function prepare(): Promise<Loop> {
  const device = query.get("device") === "cpu" ? "cpu" : "auto";
  const runs: Run[] = [];
  for (const { kind, options } of chosen()) {
    runs.push(await Run.create({ kind, options, seed: seed.valueAsNumber, digits, device }));
  }
  return loopOver(runs, steps.valueAsNumber);
}

function loopOver(runs: Run[], total: number): Loop {
  describe(runs[0]!);
  // Of several runs side by side none is kept.
  const onMeasured = (): void => void (runs.length === 1 && keep(runs[0]!, total));
  const made = new Loop(runs, total, render, fail, tellOfLoss, onMeasured);
  charts.forEach((chart) => chart.show(runs));
  return made;
}

/** Shows the run that was left when the page was closed, ready to go on. */
async function comeBack(): Promise<void> {
  const kept = await takeUp({ digits, device: query.get("device") === "cpu" ? "cpu" : "auto" });
  if (!kept) return;
  const { kind, options, seed: start } = kept.run.settings;
  select.value = kind;
  form.show(kind, options);
  steps.value = String(kept.total);
  seed.value = String(start);
  loop = loopOver([kept.run], kept.total);
  await answer();
  render();
}

function describe(run: Run): void {
  const { backend, adapter, software } = run.opt.info();
  get("adapter").textContent = backend === "cpu" ? "no WebGPU: running on the CPU" : adapter;
  get("adapter").hidden = false;
  const notice =
    backend === "cpu"
      ? "There is no WebGPU here, so network and optimizer run on the CPU. They give the same results, only slower."
      : "This is a software adapter: the kernels run on the CPU, far slower than on a GPU.";
  get("notice").textContent = notice;
  get("notice").hidden = !software;
}

async function start(): Promise<void> {
  if (loop && loop.step >= loop.total) reset();
  buttons.start.disabled = true;
  try {
    get("error").hidden = true;
    error = "";
    loop ??= await prepare();
    const running = loop.start();
    render();
    await running;
    await answer();
  } catch (reason) {
    fail(reason);
  }
  render();
}

function pause(): void {
  loop?.pause();
}

/** Takes the device away as the browser would; the loop hears of it by itself. */
function lose(): void {
  loop?.runs[0]?.opt.device.destroy();
}

function tellOfLoss(lostAt: number, from: number): void {
  get("lost").textContent = `The GPU went away at step ${lostAt.toLocaleString("en")}. Going on with another from the snapshot of step ${from.toLocaleString("en")}.`;
  get("lost").hidden = false;
  render();
  if (!loop?.running) void answer().catch(fail);
}

function number(id: string, text: string): void {
  get<HTMLOutputElement>(id).value = text;
}

function render(): void {
  const best = leader();
  const point = best?.points.at(-1);
  const whose = best && loop!.runs.length > 1 ? `, ${className(best.settings.kind)}` : "";
  get("loss-label").textContent = `test loss${whose}`;
  get("accuracy-label").textContent = `test accuracy${whose}`;
  const step = loop?.step ?? 0;
  const running = loop?.running ?? false;
  number("step", `${step.toLocaleString("en")}${loop ? ` / ${loop.total.toLocaleString("en")}` : ""}`);
  number("loss", point ? point.loss.toFixed(3) : "–");
  number("accuracy", point ? `${(point.accuracy * 100).toFixed(1)} %` : "–");
  number("rate", loop?.stepsPerSecond ? Math.round(loop.stepsPerSecond).toLocaleString("en") : "–");
  get<HTMLProgressElement>("progress").value = loop ? step / loop.total : 0;
  buttons.start.textContent = step > 0 && !running ? (step >= loop!.total ? "Train again" : "Go on") : "Start";
  buttons.start.disabled = running || !digits;
  buttons.pause.disabled = !running;
  buttons.reset.disabled = !loop;
  buttons.lose.disabled = !loop?.runs[0]?.net;
  if (loop) charts.forEach((chart) => chart.update());
}

/** Shows what the best network says of the drawing. */
async function answer(): Promise<void> {
  const pixels = box.pixels();
  showPixels(get<HTMLCanvasElement>("pixels"), pixels);
  const run = leader();
  const trained = run !== undefined && run.step > 0;
  const p = trained && pixels ? await run.predict(pixels) : undefined;
  const best = p ? p.indexOf(Math.max(...p)) : -1;
  number("digit", p ? String(best) : "–");
  get("says").textContent = p
    ? `says ${className(run!.settings.kind)}, ${Math.round(p[best]! * 100)} % sure`
    : trained ? "Draw a digit in the box." : "Train the network, then draw.";
  [...bars.children].forEach((bar, digit) => {
    bar.classList.toggle("best", digit === best);
    (bar as HTMLElement).style.setProperty("--share", `${(p?.[digit] ?? 0) * 100}%`);
  });
}

function showMode(): void {
  document.querySelectorAll<HTMLElement>(".single").forEach((element) => (element.hidden = comparing()));
  document.querySelectorAll<HTMLElement>(".compare").forEach((element) => (element.hidden = !comparing()));
}

function fromQuery(): void {
  const kind = query.get("rule") ?? "adamw";
  select.value = isKind(kind) ? kind : "adamw";
  const lr = Number(query.get("lr") ?? Number.NaN);
  form.show(select.value as Kind, Number.isFinite(lr) ? { lr } : {});
  steps.value = query.get("steps") ?? steps.value;
  seed.value = query.get("seed") ?? seed.value;
  const compare = query.get("compare");
  if (compare === null) return;
  controls.querySelector<HTMLInputElement>("input[value=compare]")!.checked = true;
  const kinds = compare.split(",").filter(isKind);
  if (kinds.length > 0) {
    get("chips").querySelectorAll("input").forEach((input) => (input.checked = kinds.includes(input.value as Kind)));
  }
}

declare global {
  interface Window {
    demo: Demo;
  }
}

/** What the command line and the tests see of the page. */
export interface Demo {
  state(): {
    running: boolean;
    step: number;
    total: number;
    loss: number | null;
    accuracy: number | null;
    stepsPerSecond: number;
    adapter: string;
    backend: string;
    error: string;
    accuracies: Record<string, number>;
  };
  predict(pixels: number[]): Promise<number[]>;
  checkGradients(): Promise<number>;
}

window.demo = {
  state() {
    const point = leader()?.points.at(-1);
    const info = loop?.runs[0]?.opt.info();
    return {
      running: loop?.running ?? false,
      step: loop?.step ?? 0,
      total: loop?.total ?? 0,
      loss: point?.loss ?? null,
      accuracy: point?.accuracy ?? null,
      stepsPerSecond: loop?.stepsPerSecond ?? 0,
      adapter: info?.adapter ?? "",
      backend: info?.backend ?? "",
      error,
      accuracies: Object.fromEntries(loop?.runs.map((run) => [run.settings.kind, run.points.at(-1)?.accuracy ?? 0]) ?? []),
    };
  },
  predict: async (pixels) => [...((await leader()?.predict(Float32Array.from(pixels))) ?? [])],
  checkGradients: () => leader()!.checkGradients(),
};

async function main(): Promise<void> {
  [, digits] = await Promise.all([init(), loadDigits()]);
  bars.replaceChildren(...Array.from({ length: 10 }, (_, digit) => {
    const bar = document.createElement("li");
    bar.append(document.createElement("i"), String(digit));
    return bar;
  }));
  fillRules(select, get("chips"));
  fromQuery();
  showMode();
  reset();
  controls.addEventListener("submit", (event) => {
    event.preventDefault();
    void start();
  });
  controls.addEventListener("change", (event) => {
    const target = event.target as HTMLInputElement;
    if (target === (select as unknown)) form.show(select.value as Kind);
    showMode();
    // Other settings mean another run; the total alone does not.
    if (target !== steps) reset();
  });
  buttons.pause.addEventListener("click", pause);
  buttons.reset.addEventListener("click", () => {
    reset();
    void forget();
  });
  buttons.lose.addEventListener("click", lose);
  get("clear").addEventListener("click", () => box.clear());
  if (query.has("autostart")) void start();
  else if (!query.has("rule") && !query.has("compare")) await comeBack();
}

void main().catch(fail);
