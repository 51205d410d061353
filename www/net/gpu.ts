/** The network as WGSL on the optimizer's own device: it reads its parameter buffers and writes its gradient buffers. */
import { BATCH, CLASSES, LAYERS, SIZES, type Layer, type ParamName } from "./model";
import { TEST, TRAIN, type Digits } from "../data";
import type { Trainer } from "webgpu-optim";
import backSource from "./back.wgsl?raw";
import denseSource from "./dense.wgsl?raw";
import gatherSource from "./gather.wgsl?raw";
import gradSource from "./grad.wgsl?raw";
import lossSource from "./loss.wgsl?raw";

interface Dispatch {
  pipeline: GPUComputePipeline;
  group: GPUBindGroup;
  workgroups: number;
}

type Resource = GPUBuffer | { buffer: GPUBuffer; offset: number; size: number };

/** Pipelines and data that all networks on a device share. */
export class Kernels {
  readonly gather: GPUComputePipeline;
  readonly dense: GPUComputePipeline;
  readonly loss: GPUComputePipeline;
  readonly grad: GPUComputePipeline;
  readonly back: GPUComputePipeline;
  readonly pixels: GPUBuffer;
  readonly labels: GPUBuffer;

  constructor(readonly device: GPUDevice, digits: Digits) {
    const pipeline = (label: string, code: string) =>
      device.createComputePipeline({ label, layout: "auto", compute: { module: device.createShaderModule({ label, code }) } });
    this.gather = pipeline("gather", gatherSource);
    this.dense = pipeline("dense", denseSource);
    this.loss = pipeline("loss", lossSource);
    this.grad = pipeline("grad", gradSource);
    this.back = pipeline("back", backSource);
    this.pixels = this.filled(digits.pixels);
    this.labels = this.filled(digits.labels);
  }

  filled(data: Float32Array | Uint32Array, usage = GPUBufferUsage.STORAGE): GPUBuffer {
    const buffer = this.device.createBuffer({ size: data.byteLength, usage: usage | GPUBufferUsage.COPY_DST });
    this.device.queue.writeBuffer(buffer, 0, data);
    return buffer;
  }

  empty(length: number): GPUBuffer {
    const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
    return this.device.createBuffer({ size: length * 4, usage });
  }

  bind(pipeline: GPUComputePipeline, workgroups: number, resources: readonly Resource[]): Dispatch {
    const entries = resources.map((it, binding) => ({ binding, resource: it instanceof GPUBuffer ? { buffer: it } : it }));
    const group = this.device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
    return { pipeline, group, workgroups };
  }
}

/** Buffers and dispatches for batches of one size. */
class Pass {
  readonly batch: GPUBuffer;
  readonly input: GPUBuffer;
  readonly logits: GPUBuffer;
  readonly metrics: GPUBuffer;
  readonly forward: Dispatch[] = [];
  readonly gather: Dispatch;
  readonly score: Dispatch;
  readonly backward: Dispatch[] = [];
  readonly #buffers: GPUBuffer[];

  constructor(kernels: Kernels, opt: Trainer<ParamName>, size: number) {
    const uniform = (...values: number[]) => kernels.filled(Uint32Array.from(values), GPUBufferUsage.UNIFORM);
    const shape = ({ inputs, outputs, relu }: Layer) => uniform(size, inputs, outputs, relu ? 1 : 0);
    const shapes = LAYERS.map(shape);
    const values = SIZES.map((width) => kernels.empty(size * width));
    const gradients = SIZES.map((width) => kernels.empty(size * width));
    const labels = kernels.empty(size);
    const count = uniform(size);
    this.batch = uniform(size, 0, 1, 0, 0, 0);
    this.metrics = kernels.empty(2);
    this.input = values[0]!;
    this.logits = values.at(-1)!;
    this.gather = kernels.bind(kernels.gather, size, [this.batch, kernels.pixels, kernels.labels, this.input, labels]);
    this.score = kernels.bind(kernels.loss, 1, [count, this.logits, labels, gradients.at(-1)!, this.metrics]);
    LAYERS.forEach((layer, i) => {
      const [x, y, dx, dy] = [values[i]!, values[i + 1]!, gradients[i]!, gradients[i + 1]!];
      const weight = opt.paramBuffer(layer.weight);
      const { inputs, outputs } = layer;
      const groups = (threads: number) => Math.ceil(threads / 64);
      this.forward.push(kernels.bind(kernels.dense, groups(size * outputs), [shapes[i]!, x, weight, opt.paramBuffer(layer.bias), y]));
      const grad = [shapes[i]!, x, dy, opt.gradBuffer(layer.weight), opt.gradBuffer(layer.bias)];
      const own = [kernels.bind(kernels.grad, groups(inputs * outputs + outputs), grad)];
      if (i > 0) own.push(kernels.bind(kernels.back, groups(size * inputs), [shapes[i]!, dy, weight, x, dx]));
      this.backward.unshift(...own);
    });
    this.#buffers = [...shapes, ...values, ...gradients, labels, count, this.batch, this.metrics];
  }

  free(): void {
    this.#buffers.forEach((buffer) => buffer.destroy());
  }
}

function encode(encoder: GPUCommandEncoder, dispatches: readonly Dispatch[]): void {
  const pass = encoder.beginComputePass();
  for (const { pipeline, group, workgroups } of dispatches) {
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group);
    pass.dispatchWorkgroups(workgroups);
  }
  pass.end();
}

/** One network with its optimizer. */
export class GpuNet {
  readonly #kernels: Kernels;
  readonly #train: Pass;
  readonly #test: Pass;
  readonly #single: Pass;
  readonly #staging: GPUBuffer[] = [];

  constructor(kernels: Kernels, opt: Trainer<ParamName>) {
    this.#kernels = kernels;
    this.#train = new Pass(kernels, opt, BATCH);
    this.#test = new Pass(kernels, opt, TEST);
    this.#single = new Pass(kernels, opt, 1);
    const range = Uint32Array.of(TEST, TRAIN, TEST, 0, 0, 0);
    kernels.device.queue.writeBuffer(this.#test.batch, 0, range);
  }

  /** Forward and backward over a batch drawn on the device; the gradients end up in the optimizer's buffers. */
  backward(seed: number, step: number): void {
    const { device } = this.#kernels;
    device.queue.writeBuffer(this.#train.batch, 0, Uint32Array.of(BATCH, 0, TRAIN, seed, step, 1));
    const encoder = device.createCommandEncoder();
    const { gather, forward, score, backward } = this.#train;
    encode(encoder, [gather, ...forward, score, ...backward]);
    device.queue.submit([encoder.finish()]);
  }

  /** Loss of the last batch, and loss and accuracy on the test digits, as of the call. */
  async metrics(): Promise<{ trainLoss: number; loss: number; accuracy: number }> {
    const { device } = this.#kernels;
    const staging = this.#staging.pop() ?? device.createBuffer({ size: 16, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
    const encoder = device.createCommandEncoder();
    const { gather, forward, score, metrics } = this.#test;
    encode(encoder, [gather, ...forward, score]);
    encoder.copyBufferToBuffer(this.#train.metrics, 0, staging, 0, 8);
    encoder.copyBufferToBuffer(metrics, 0, staging, 8, 8);
    device.queue.submit([encoder.finish()]);
    await staging.mapAsync(GPUMapMode.READ);
    const [trainLoss, , loss, accuracy] = new Float32Array(staging.getMappedRange());
    staging.unmap();
    this.#staging.push(staging);
    return { trainLoss: trainLoss!, loss: loss!, accuracy: accuracy! };
  }

  /** The probabilities of the ten digits for one image of 64 pixels from 0 to 1. */
  async predict(pixels: Float32Array): Promise<Float32Array> {
    const { device } = this.#kernels;
    device.queue.writeBuffer(this.#single.input, 0, pixels);
    const encoder = device.createCommandEncoder();
    encode(encoder, this.#single.forward);
    const staging = device.createBuffer({ size: CLASSES * 4, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
    encoder.copyBufferToBuffer(this.#single.logits, 0, staging, 0, CLASSES * 4);
    device.queue.submit([encoder.finish()]);
    await staging.mapAsync(GPUMapMode.READ);
    const logits = new Float32Array(staging.getMappedRange()).slice();
    staging.destroy();
    const largest = Math.max(...logits);
    const raised = logits.map((value) => Math.exp(value - largest));
    const total = raised.reduce((sum, value) => sum + value, 0);
    return raised.map((value) => value / total);
  }

  free(): void {
    [this.#train, this.#test, this.#single].forEach((pass) => pass.free());
    this.#staging.forEach((buffer) => buffer.destroy());
  }
}
