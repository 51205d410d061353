import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Run } from "./run";
import { className, colorOf } from "./rules";

type Value = "loss" | "accuracy";

const css = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** The power of ten next to a value: on other ends the library's logarithmic axis may not finish. */
const decade = (round: (exponent: number) => number, value: number) => 10 ** round(Math.log10(Math.max(value, 1e-6)));

/** One of the two charts, a line a run. */
export class Curves {
  #plot: uPlot | undefined;
  #runs: readonly Run[] = [];

  constructor(
    readonly element: HTMLElement,
    readonly value: Value,
    readonly total: () => number,
  ) {
    new ResizeObserver(() => this.#plot?.setSize(this.#size())).observe(element);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.show(this.#runs));
  }

  #size(): { width: number; height: number } {
    return { width: Math.max(this.element.clientWidth, 200), height: 220 };
  }

  show(runs: readonly Run[]): void {
    this.#runs = runs;
    this.#plot?.destroy();
    this.#plot = new uPlot(this.#options(), this.#data(), this.element);
  }

  update(): void {
    const plot = this.#plot;
    if (!plot) return;
    const data = this.#data();
    plot.setData(data);
    // Without a pointer over the chart the legend tells the latest values.
    if ((plot.cursor.left ?? -1) < 0) plot.setLegend({ idx: data[0].length - 1 });
  }

  /** Points of all runs on one axis of steps. */
  #data(): uPlot.AlignedData {
    const steps = [...new Set(this.#runs.flatMap((run) => run.points.map((point) => point.step)))].sort((a, b) => a - b);
    const places = new Map(steps.map((step, i) => [step, i]));
    const lines = this.#runs.map((run) => {
      const line = new Array<number | null | undefined>(steps.length).fill(undefined);
      for (const point of run.points) line[places.get(point.step)!] = point[this.value];
      return line;
    });
    return [steps, ...lines];
  }

  #options(): uPlot.Options {
    const percent = this.value === "accuracy";
    const text = (value: number | null | undefined) =>
      value == null ? "–" : percent ? `${(value * 100).toFixed(1)} %` : value.toFixed(3);
    const axis = { stroke: css("--muted"), grid: { stroke: css("--line"), width: 1 }, ticks: { stroke: css("--line"), width: 1 }, font: "12px system-ui" };
    return {
      ...this.#size(),
      series: [
        { label: "step", value: (_, step) => (step == null ? "–" : String(step)) },
        ...this.#runs.map(({ settings }) => ({
          label: className(settings.kind),
          stroke: colorOf(settings.kind),
          width: 2,
          spanGaps: true,
          points: { show: false },
          value: (_: uPlot, value: number | null) => text(value),
        })),
      ],
      scales: { x: { time: false, range: () => [0, this.total()] }, y: percent ? { range: [0, 1] } : { distr: 3, range: (_, min, max) => [decade(Math.floor, min ?? 0.1), decade(Math.ceil, max ?? 1)] } },
      axes: [
        { ...axis, size: 30 },
        { ...axis, size: 56, values: (_, ticks) => ticks.map((tick) => (tick === null ? null : percent ? `${Math.round(tick * 100)} %` : String(tick))) },
      ],
      legend: { live: true },
      cursor: { drag: { x: false, y: false } },
    };
  }
}
