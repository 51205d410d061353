import { Optimizer, type CheckpointSource, type Kind, type Trainer } from "webgpu-optim";
import { TRAIN, take, testDigits, type Digits } from "./data";
import { evaluate, gradients, predict } from "./net/cpu";
import { GpuNet, Kernels } from "./net/gpu";
import { BATCH, initial, pick, type ParamName, type Tensors } from "./net/model";

export type Options = Record<string, number | boolean>;

/** A point of the curves. */
export interface Point {
  step: number;
  trainLoss: number;
  loss: number;
  accuracy: number;
}

export interface RunSettings {
  kind: Kind;
  options: Options;
  seed: number;
  digits: Digits;
  device: "auto" | "cpu";
}

const SNAPSHOT_EVERY = 50;

let kernels: Kernels | undefined;

function kernelsOn(device: GPUDevice, digits: Digits): Kernels {
  if (kernels?.device !== device) kernels = new Kernels(device, digits);
  return kernels;
}

/** One optimizer training one network. */
export class Run {
  step = 0;
  readonly points: Point[] = [];
  #reading = false;

  private constructor(
    readonly settings: RunSettings,
    readonly opt: Trainer<ParamName>,
    public net: GpuNet | undefined,
  ) {}

  static async create(settings: RunSettings): Promise<Run> {
    const { kind, options, seed, device } = settings;
    return Run.#of(settings, await Optimizer.create(kind, initial(seed), { ...options, device, snapshotEvery: SNAPSHOT_EVERY }));
  }

  /** Goes on with a run that was kept. */
  static async resume(settings: RunSettings, source: CheckpointSource): Promise<Run> {
    return Run.#of(settings, await Optimizer.load<ParamName>(source, { device: settings.device, snapshotEvery: SNAPSHOT_EVERY }));
  }

  static #of(settings: RunSettings, opt: Trainer<ParamName>): Run {
    if (opt.info().backend === "cpu") return new Run(settings, opt, undefined);
    return new Run(settings, opt, new GpuNet(kernelsOn(opt.device, settings.digits), opt));
  }

  /** One training step; on the GPU it only enqueues. */
  async train(): Promise<void> {
    const { seed } = this.settings;
    if (this.net) {
      this.net.backward(seed, this.step);
      this.opt.step();
    } else {
      const { pixels, labels } = this.#batch(this.step);
      this.opt.step(gradients(await this.opt.params(), pixels, labels).grads);
    }
    this.step++;
  }

  /** Goes on from the newest snapshot on another device; the network is made anew there. */
  async restore(): Promise<void> {
    const step = await this.opt.restore();
    this.net?.free();
    this.net = new GpuNet(kernelsOn(this.opt.device, this.settings.digits), this.opt);
    this.step = step;
    this.points.splice(0, this.points.length, ...this.points.filter((point) => point.step <= step));
  }

  /** Adds a point to the curves once the device has computed it; the loop does not wait for it. */
  async measure(): Promise<void> {
    if (this.#reading) return;
    this.#reading = true;
    const { step } = this;
    try {
      this.points.push({ step, ...(this.net ? await this.net.metrics() : await this.#measureOnCpu()) });
    } finally {
      this.#reading = false;
    }
  }

  async #measureOnCpu(): Promise<Omit<Point, "step">> {
    const params = await this.opt.params();
    const { pixels, labels } = testDigits(this.settings.digits);
    const batch = this.#batch(Math.max(this.step - 1, 0));
    return { trainLoss: evaluate(params, batch.pixels, batch.labels).loss, ...evaluate(params, pixels, labels) };
  }

  async predict(pixels: Float32Array): Promise<Float32Array> {
    return this.net ? this.net.predict(pixels) : predict(await this.opt.params(), pixels);
  }

  #batch(step: number): Digits {
    const numbers = Array.from({ length: BATCH }, (_, place) => pick(this.settings.seed, step, place, TRAIN));
    return take(this.settings.digits, numbers);
  }

  /** The largest difference between the shaders' gradients and the plain reference's, over the largest gradient of the tensor. */
  async checkGradients(): Promise<number> {
    if (!this.net) return 0;
    this.net.backward(this.settings.seed, this.step);
    const { pixels, labels } = this.#batch(this.step);
    const { grads } = gradients(await this.opt.params(), pixels, labels);
    let worst = 0;
    for (const name of Object.keys(grads) as ParamName[]) {
      const got = await readBuffer(this.opt, name);
      const want = grads[name];
      const scale = want.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);
      want.forEach((value, i) => (worst = Math.max(worst, Math.abs(value - got[i]!) / scale)));
    }
    return worst;
  }

  free(): void {
    this.net?.free();
    this.opt.free();
  }
}

async function readBuffer(opt: Trainer<ParamName>, name: ParamName): Promise<Tensors[ParamName]> {
  const { device } = opt;
  const { buffer, offset, size } = opt.gradBuffer(name);
  const staging = device.createBuffer({ size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, offset, staging, 0, size);
  device.queue.submit([encoder.finish()]);
  await staging.mapAsync(GPUMapMode.READ);
  const values = new Float32Array(staging.getMappedRange()).slice();
  staging.destroy();
  return values;
}
