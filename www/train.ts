import type { Run } from "./run";

const MEASURE_EVERY = 25;
// Work in flight is kept this short, so that the page and the desktop stay responsive.
const CHUNK_MS = 12;

/** Ends the current task; a message is not slowed down in hidden tabs, as a timer would be. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}

/** Trains several runs side by side, the same number of steps each. */
export class Loop {
  running = false;
  stepsPerSecond = 0;
  #chunk = 1;
  #ended = false;
  #lost = false;
  #finished = Promise.resolve();

  constructor(
    readonly runs: readonly Run[],
    readonly total: number,
    readonly onProgress: () => void,
    readonly onError: (error: unknown) => void,
    readonly onRestored: (lostAt: number, from: number) => void,
    readonly onMeasured: () => void,
  ) {
    for (const run of runs) run.opt.onLost(() => void this.#recover().catch((error: unknown) => this.#ended || this.onError(error)));
  }

  /** The device went away under all runs at once: each goes on from its newest snapshot. */
  async #recover(): Promise<void> {
    if (this.#lost || this.#ended) return;
    this.#lost = true;
    const { running, step } = this;
    this.running = false;
    await this.#finished;
    try {
      for (const run of this.runs) await run.restore();
    } finally {
      this.#lost = false;
    }
    if (this.#ended) return;
    this.onRestored(step, this.step);
    if (running) await this.start();
  }

  get step(): number {
    return Math.min(...this.runs.map((run) => run.step));
  }

  pause(): void {
    this.running = false;
  }

  /** Stops for good and frees the runs; what is still under way may fail unheard. */
  end(): void {
    this.running = false;
    this.#ended = true;
    this.runs.forEach((run) => run.free());
  }

  // What fails because the device went away is not an error: the runs go on.
  async #fail(error: unknown): Promise<void> {
    const { net, opt } = this.runs[0]!;
    const soon = new Promise<boolean>((resolve) => setTimeout(resolve, 200, false));
    const lost = this.#ended || (net && (await Promise.race([opt.device.lost.then(() => true), soon])));
    if (!lost && !this.#lost && !this.#ended) this.onError(error);
  }

  start(): Promise<void> {
    if (!this.running) this.#finished = this.#run();
    return this.#finished;
  }

  async #run(): Promise<void> {
    this.running = true;
    try {
      if (this.step === 0) await this.#measure();
      while (this.running && this.step < this.total) await this.#advance();
      if (this.step >= this.total) await this.#measure();
    } catch (error) {
      void this.#fail(error);
    }
    this.running = false;
    if (!this.#ended) this.onProgress();
  }

  async #advance(): Promise<void> {
    const begin = performance.now();
    const until = Math.min(this.step + this.#chunk, this.total, MEASURE_EVERY * (Math.floor(this.step / MEASURE_EVERY) + 1));
    const steps = until - this.step;
    for (const run of this.runs) {
      for (let i = run.step; i < until && !this.#ended; i++) await run.train();
    }
    if (until % MEASURE_EVERY === 0) void this.#measure().catch((error: unknown) => void this.#fail(error));
    if (this.#ended) return;
    const { net, opt } = this.runs[0]!;
    if (net) await opt.device.queue.onSubmittedWorkDone();
    if (this.#ended) return;
    const ms = performance.now() - begin;
    this.#chunk = Math.max(1, Math.min(100, Math.round(this.#chunk * Math.min(2, CHUNK_MS / ms))));
    const rate = (steps * 1000) / ms;
    this.stepsPerSecond = this.stepsPerSecond === 0 ? rate : 0.9 * this.stepsPerSecond + 0.1 * rate;
    this.onProgress();
    await nextTask();
  }

  async #measure(): Promise<void> {
    await Promise.all(this.runs.map((run) => run.measure()));
    if (this.#ended) return;
    this.onMeasured();
    this.onProgress();
  }
}
