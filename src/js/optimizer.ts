import type { RawGpu, RawOptimizer } from "./wasm/webgpu_optim.js";
import { gpuOf, sharedGpu } from "./host.js";
import type { Parts } from "./create.js";
import { OptimError } from "./error.js";
import { split, type Rate } from "./config.js";
import { blob, gathered, load, opened, saved, type CheckpointSource, type LoadOptions, type LoadReport, type SaveOptions } from "./checkpoint.js";
import { steps } from "./readback.js";
import type { Store } from "./stores.js";
import type { BufferSlice, Info, LearningRate, OwnBuffer, Stats, Values } from "./options.js";

/**
 * A training run: parameters and slots, on the GPU or in wasm memory. Made by the `create` of a class such as `AdamW`.
 *
 * `free()` gives its memory back; any use afterwards throws `FREED`.
 */
export class Trainer<Name extends string = string, Options extends object = object> {
  readonly #parts: Parts;
  readonly #places = new Map<string, number>();
  readonly #onLost: ((reason: string) => void)[] = [];
  #raw: RawOptimizer | undefined;
  #keeping = false;

  /** @internal */
  constructor(parts: Parts) {
    this.#parts = parts;
    this.#raw = parts.raw;
    parts.names.forEach((name, place) => this.#places.set(name, place));
  }

  get #live(): RawOptimizer {
    if (this.#raw === undefined) throw new OptimError(`this ${this.#parts.kind} optimizer was freed`, "FREED");
    return this.#raw;
  }

  /**
   * One step. Enqueues and returns: nothing waits for the GPU.
   *
   * @param grads One array of a tensor's own length by name, or a `GPUBuffer` or part of one, which is bound without a copy;
   *   tensors left out stay untouched, slots and step counter too. Halves are of the tensor's own format where they do not tell theirs.
   *   Left out altogether, the gradients of {@link accumulate} are taken, or else what stands in {@link gradBuffer}. The arrays are read before it returns and never written.
   * @throws `UNKNOWN_PARAM`, `LENGTH_MISMATCH`, `WRONG_TYPE`: nothing has changed. `GPU`, `DEVICE_LOST`: earlier work failed.
   */
  step(grads?: Readonly<Partial<Record<Name, Values>>>): void {
    const raw = this.#live;
    this.#follow(raw);
    if (grads === undefined) raw.run();
    else raw.step(...this.#placed(raw, grads));
    if (this.#parts.every !== undefined && raw.steps % this.#parts.every === 0) this.#keep(raw);
  }

  /**
   * Takes a snapshot now, for {@link restore}: what `snapshotEvery` does by itself after {@link step}. Submit recorded steps first.
   * On the CPU nothing is lost, and nothing is taken.
   */
  snapshot(): Promise<void> {
    return this.#later((raw) => raw.keep());
  }

  // A snapshot that is still under way is not overtaken, and one that fails leaves the last.
  #keep(raw: RawOptimizer): void {
    if (this.#keeping) return;
    this.#keeping = true;
    const done = (): void => void (this.#keeping = false);
    raw.keep().then(done, done);
  }

  /**
   * Goes on from the newest snapshot after the device was lost, or goes back to it: needs the option `snapshotEvery` or a {@link snapshot}.
   *
   * @param device The page's new device. Default the one there is, or a new one of the package's where that is lost.
   * @param params Buffers of that device for parameters that are to stand in the page's own; the values are written there.
   *   Parameters left out stand in buffers of the package's.
   * @returns The number of steps taken at the snapshot: the next `step` is that one.
   * @throws `UNSUPPORTED` without `snapshotEvery` and on the CPU, `NO_WEBGPU`, `GPU`; as `create` for `params`. The optimizer is as it was then.
   */
  async restore(device?: GPUDevice, params?: Readonly<Partial<Record<Name, GPUBuffer | OwnBuffer>>>): Promise<number> {
    const raw = this.#live;
    const known = this.#parts.gpu;
    const gpu = device ? await gpuOf(device) : known && !known.lost ? known : await sharedGpu();
    const next = await raw.restored(gpu, Object.keys(params ?? {}), Object.values(params ?? {}));
    this.#replace(raw, next, gpu);
    return next.steps;
  }

  /**
   * Records a step into the caller's own encoder instead of submitting it; the step counts from now on. Up to 64 steps may be
   * recorded before the first is submitted, in their order; accumulate and read only once they are.
   *
   * @param grads As for {@link step}; arrays are written to the queue at once.
   * @throws As {@link step}; `INVALID_CONFIG` for anything but a `GPUCommandEncoder`, `UNSUPPORTED` on the CPU.
   */
  encodeStep(encoder: GPUCommandEncoder, grads?: Readonly<Partial<Record<Name, Values>>>): void {
    const raw = this.#live;
    this.#follow(raw);
    if (grads === undefined) return raw.encodeStep(encoder);
    raw.encodeStepFrom(encoder, ...this.#placed(raw, grads));
  }

  /** Rates that are functions of the step are the page's to compute. */
  #follow(raw: RawOptimizer): void {
    for (const [group, rate] of this.#parts.rates) raw.follow(group, rate(raw.position));
  }

  /**
   * Adds the gradients of a micro-batch to a weighted mean; the next `step()` without gradients takes it.
   * The first call makes a buffer of the parameters' size on the GPU.
   *
   * @param grads As for {@link step}; left out, what stands in {@link gradBuffer}.
   * @param weight A number of samples or tokens, at least 0; 0 adds nothing. Default 1.
   * @throws As {@link step}; `INVALID_CONFIG` for a weight that is negative or not finite.
   */
  accumulate(grads?: Readonly<Partial<Record<Name, Values>>>, weight = 1): void {
    const raw = this.#live;
    if (grads === undefined) return raw.accumulateResident(weight);
    raw.accumulate(...this.#placed(raw, grads), weight);
  }

  #placed(raw: RawOptimizer, grads: object): [Uint32Array, unknown[]] {
    const given = Object.entries(grads).filter(([, value]) => value !== undefined);
    const places = given.map(([name]) => this.#places.get(name) ?? raw.index(name));
    return [Uint32Array.from(places), given.map(([, value]) => value as unknown)];
  }

  /** The parameters by name, as of the call, whatever steps follow: in 32 bits, as steps change them. One readback. */
  params(): Promise<Record<Name, Float32Array>> {
    return this.#later((raw) => raw.params() as Promise<Record<Name, Float32Array>>);
  }

  /** The moving averages of the parameters, as of the call. @throws `UNSUPPORTED` without the option `ema`. */
  emaParams(): Promise<Record<Name, Float32Array>> {
    return this.#later((raw) => raw.emaParams() as Promise<Record<Name, Float32Array>>);
  }

  /**
   * Puts the averages in the parameters' place, and the second time the parameters back in theirs, bit for bit.
   * In between, steps are refused. @throws `UNSUPPORTED` without the option `ema`.
   */
  swapEma(): void {
    this.#live.swapEma();
  }

  /** The slots by tensor and by PyTorch's name, as of the call. */
  slots(): Promise<Record<Name, Record<string, Float32Array>>> {
    return this.#later((raw) => raw.slots() as Promise<Record<Name, Record<string, Float32Array>>>);
  }

  /** How the run stands, as of the call. Steps never need it. */
  async stats(): Promise<Stats> {
    const raw = this.#live;
    const { rates } = this.#parts;
    const lrs = (step: number): number[] => Array.from(this.#live.lrs(step), (lr, group) => rates.get(group)?.(step) ?? lr);
    const unknown = { step: raw.steps, skipped: 0, gradNorm: null, clipFactor: 1, lossScale: 1, foundNonfinite: null };
    const known = { ...unknown, firstNonfinite: null, gradNorms: null, history: [], lr: lrs(raw.position) };
    const summary = await raw.summary();
    if (summary === undefined) return known;
    const { norms, nonfinite, history: rows, ...own } = summary;
    const { names } = this.#parts;
    const gradNorms = Object.fromEntries(names.map((name, place) => [name, norms[place] ?? 0]));
    const history = steps(rows, names);
    return { ...own, firstNonfinite: names[nonfinite.indexOf(1)] ?? null, gradNorms, history, lr: lrs(own.step) };
  }

  /** Where the loss scale for the next step stands: 4 bytes, for the shader that computes the loss. @throws `UNSUPPORTED` without `clip`, `nonfinite` or `lossScale`, and on the CPU. */
  get lossScaleBuffer(): BufferSlice {
    return this.#live.lossScaleBuffer();
  }

  // A promise that rejects, where a plain call would throw.
  async #later<T>(read: (raw: RawOptimizer) => Promise<T>): Promise<T> {
    return read(this.#live);
  }

  // Groups whose learning rate is a function, which no file can hold.
  get #functions(): Uint32Array {
    return Uint32Array.from(this.#parts.rates.keys());
  }

  /**
   * The whole run as of the call, as a safetensors file keyed by name: parameters, slots, counters, options, schedules, loss scale, averages,
   * accumulated gradients. Steps may go on; on the GPU it takes as much memory again as the run until it is done, and 8 MB of main memory besides the file.
   *
   * @throws `GPU` where there is no room, `DEVICE_LOST`.
   */
  save(options?: SaveOptions): Promise<Uint8Array<ArrayBuffer>> {
    return this.#later((raw) => saved(raw, this.#functions, options, gathered));
  }

  /** As {@link save}, as a `Blob`: the browser keeps it out of the page's memory. */
  saveBlob(options?: SaveOptions): Promise<Blob> {
    return this.#later((raw) => saved(raw, this.#functions, options, blob));
  }

  /** As {@link save}, into a store such as {@link opfs} or {@link indexedDb}, where it replaces the last one once it is whole. */
  saveTo(store: Store, options?: SaveOptions): Promise<void> {
    return this.#later((raw) => saved(raw, this.#functions, options, (pieces) => store.write(pieces)));
  }

  /**
   * Goes on from a checkpoint, bit for bit: of the same tensors, rule and options, or as far as it goes with `partial`. Buffers stay
   * the same ones. On the GPU it takes as much memory again as the checkpoint until it is done.
   *
   * @throws `INVALID_CHECKPOINT`; `CHECKPOINT_MISMATCH` with every difference; `UNSUPPORTED` for a newer schema; `GPU`. The optimizer is as it was then.
   */
  async load(source: CheckpointSource, options: LoadOptions = {}): Promise<LoadReport> {
    const file = await opened(source);
    return load(() => this.#live, file, this.#functions, options).finally(() => file.head.free());
  }

  /**
   * Moves the run to main memory and gives the GPU's back. Until {@link moveToGpu}, values can be read and saved, and all else is refused.
   * On the CPU it does nothing. @throws `GPU`, `DEVICE_LOST`: the run stays then.
   */
  async moveToCpu(): Promise<void> {
    const raw = this.#live;
    try {
      raw.park(await raw.leave());
    } catch (error) {
      raw.park();
      throw error;
    }
  }

  /**
   * Moves a run back to its device, bit for bit, or one that was made on the CPU to the GPU. Parameters in the page's own buffers stand there
   * again, others in new ones. @throws `NO_WEBGPU`, `GPU`: the run stays then.
   */
  async moveToGpu(): Promise<void> {
    const raw = this.#live;
    const gpu = this.#parts.gpu ?? (await sharedGpu());
    const next = await raw.moved(gpu);
    if (next) this.#replace(raw, next, gpu);
  }

  #replace(raw: RawOptimizer, next: RawOptimizer, gpu: RawGpu): void {
    if (this.#raw !== raw) next.free();
    if (this.#live !== raw) throw new OptimError("the run was replaced meanwhile", "UNSUPPORTED");
    const known = this.#parts.gpu;
    raw.free();
    this.#raw = next;
    this.#parts.gpu = gpu;
    if (gpu !== known) for (const callback of this.#onLost) this.#watch(callback);
  }

  /** The learning rate of group 0 at the next step. Setting it replaces a schedule. */
  get lr(): number {
    const rate = this.#parts.rates.get(0);
    return rate ? rate(this.#live.position) : (this.#live.options(0)["lr"] as number);
  }

  set lr(lr: number) {
    this.#live.setLr(0, lr);
    this.#parts.rates.delete(0);
  }

  /**
   * Changes options of a group from the next step on. Slots and step counters stay; a slot that becomes needed starts afresh.
   *
   * @param group 0 for the options at the top, 1 for the first of `groups`. Default 0.
   * @throws `INVALID_CONFIG` for an option that is unknown, of the wrong type or out of its range: nothing has changed.
   */
  set(options: Options & { lr?: LearningRate }, group = 0): void {
    const raw = this.#live;
    const rates = new Map<number, Rate>();
    const { options: own, schedule } = split(options as Record<string, unknown>, group, rates);
    const keeps = options.lr === undefined;
    raw.set(group, { ...raw.options(group), ...own }, schedule, keeps);
    if (!keeps) this.#parts.rates.delete(group);
    for (const [index, rate] of rates) this.#parts.rates.set(index, rate);
  }

  /** The options of a group in force at the next step, defaults filled in. */
  options(group = 0): Required<Options> & { lr: number } {
    const options = this.#live.options(group);
    const rate = this.#parts.rates.get(group);
    return { ...options, ...(rate ? { lr: rate(this.#live.position) } : {}) } as Required<Options> & { lr: number };
  }

  /** Steps asked for; where steps can be skipped, `stats()` tells how many were taken. */
  get steps(): number {
    return this.#live.steps;
  }

  /** The `GPUDevice` it runs on. @throws `UNSUPPORTED` on the CPU. */
  get device(): GPUDevice {
    const { gpu } = this.#parts;
    if (this.#live && gpu) return gpu.device;
    throw new OptimError("device needs a GPU; this optimizer runs on the CPU", "UNSUPPORTED");
  }

  /** Where a tensor's gradient stands, for the caller's own kernels to write in the tensor's own format. @throws `UNKNOWN_PARAM`, `UNSUPPORTED` on the CPU. */
  gradBuffer(name: Name): BufferSlice {
    return this.#live.gradBuffer(name);
  }

  /** Where a tensor's parameters stand, for the caller's own kernels to read in the tensor's own format. @throws `UNKNOWN_PARAM`, `UNSUPPORTED` on the CPU. */
  paramBuffer(name: Name): BufferSlice {
    return this.#live.paramBuffer(name);
  }

  /**
   * Calls back when the device is lost while this optimizer lives: from then on its calls say `DEVICE_LOST`, until
   * {@link restore}. On the CPU it never does.
   */
  onLost(callback: (reason: string) => void): void {
    if (!this.#live) return;
    this.#onLost.push(callback);
    this.#watch(callback);
  }

  #watch(callback: (reason: string) => void): void {
    const { gpu } = this.#parts;
    void gpu?.device.lost.then(({ message }) => this.#raw && this.#parts.gpu === gpu && callback(message));
  }

  /** What it runs on, and how large it is. */
  info(): Info {
    const { kind, gpu, names, parameters } = this.#parts;
    const slots = this.#live.slotNames;
    const sizes = { tensors: names.length, parameters, slots };
    if (!gpu) return { kind, backend: "cpu", adapter: "CPU", vendor: "", software: true, shaderF16: false, ...sizes };
    const { vendor, architecture, device, description } = gpu.device.adapterInfo;
    const adapter = description || [vendor, architecture, device].filter(Boolean).join(" ") || "unnamed adapter";
    const software = gpu.software || /swiftshader|llvmpipe|lavapipe|basic render/i.test(`${adapter} ${architecture}`);
    const shaderF16 = gpu.device.features.has("shader-f16");
    return { kind, backend: "webgpu", adapter, vendor, software, shaderF16, ...sizes };
  }

  /** Gives parameters and slots back. Safe to call twice. */
  free(): void {
    this.#raw?.free();
    this.#raw = undefined;
  }

  [Symbol.dispose](): void {
    this.free();
  }
}
