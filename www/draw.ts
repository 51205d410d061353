const GRID = 8;

/** Where the ink is, in canvas pixels. */
function bounds(ink: Uint8ClampedArray, side: number): { left: number; top: number; width: number; height: number } | undefined {
  let [left, top, right, bottom] = [side, side, -1, -1];
  for (let at = 0; at < side * side; at++) {
    if (ink[at * 4 + 3]! < 64) continue;
    const [x, y] = [at % side, Math.floor(at / side)];
    [left, right, top, bottom] = [Math.min(left, x), Math.max(right, x), Math.min(top, y), Math.max(bottom, y)];
  }
  return right < 0 ? undefined : { left, top, width: right - left + 1, height: bottom - top + 1 };
}

/** A box to draw a digit in. */
export class DrawingBox {
  readonly #context: CanvasRenderingContext2D;
  #last: [number, number] | undefined;

  constructor(
    readonly canvas: HTMLCanvasElement,
    readonly onChange: () => void,
  ) {
    this.#context = canvas.getContext("2d", { willReadFrequently: true })!;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.#last = this.#place(event);
      this.#stroke(event);
    });
    canvas.addEventListener("pointermove", (event) => this.#last && this.#stroke(event));
    canvas.addEventListener("pointerup", () => (this.#last = undefined));
    canvas.addEventListener("pointercancel", () => (this.#last = undefined));
  }

  #place(event: PointerEvent): [number, number] {
    const box = this.canvas.getBoundingClientRect();
    const scale = this.canvas.width / box.width;
    return [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
  }

  #stroke(event: PointerEvent): void {
    const context = this.#context;
    const to = this.#place(event);
    context.lineWidth = this.canvas.width / 11;
    context.lineCap = context.lineJoin = "round";
    context.strokeStyle = "#888";
    context.beginPath();
    context.moveTo(...(this.#last ?? to));
    context.lineTo(...to);
    context.stroke();
    this.#last = to;
    this.onChange();
  }

  clear(): void {
    this.#context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    this.onChange();
  }

  /**
   * The drawing as the data set has its digits: the ink's box, as high as the image, counted in 4x4 blocks of a 32x32 bitmap.
   * Values from 0 to 1; undefined while the box is empty.
   */
  pixels(): Float32Array | undefined {
    const side = this.canvas.width;
    const box = bounds(this.#context.getImageData(0, 0, side, side).data, side);
    if (!box) return undefined;
    const small = new OffscreenCanvas(32, 32).getContext("2d", { willReadFrequently: true })!;
    const scale = Math.min(30 / box.height, 26 / box.width);
    const [width, height] = [Math.max(box.width * scale, 1), Math.max(box.height * scale, 1)];
    small.imageSmoothingQuality = "high";
    small.drawImage(this.canvas, box.left, box.top, box.width, box.height, (32 - width) / 2, (32 - height) / 2, width, height);
    const ink = small.getImageData(0, 0, 32, 32).data;
    const pixels = new Float32Array(GRID * GRID);
    for (let at = 0; at < 32 * 32; at++) {
      if (ink[at * 4 + 3]! < 128) continue;
      pixels[Math.floor(at / 128) * GRID + Math.floor((at % 32) / 4)]! += 1 / 16;
    }
    return pixels;
  }
}

/** Shows the 8x8 image the network sees. */
export function showPixels(canvas: HTMLCanvasElement, pixels: Float32Array | undefined): void {
  const context = canvas.getContext("2d")!;
  context.clearRect(0, 0, GRID, GRID);
  const color = getComputedStyle(canvas).color.match(/[\d.]+/g)!.slice(0, 3).join(" ");
  pixels?.forEach((value, at) => {
    context.fillStyle = `rgb(${color} / ${value})`;
    context.fillRect(at % GRID, Math.floor(at / GRID), 1, 1);
  });
}
