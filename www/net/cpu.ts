/** The network in plain TypeScript: slow and obvious. It trains where there is no WebGPU, and judges the shaders. */
import { CLASSES, LAYERS, type Layer, type Tensors } from "./model";

export interface Outcome {
  loss: number;
  accuracy: number;
}

function dense({ weight, bias, inputs, outputs, relu }: Layer, params: Tensors, x: Float32Array): Float32Array {
  const batch = x.length / inputs;
  const y = new Float32Array(batch * outputs);
  for (let row = 0; row < batch; row++) {
    for (let out = 0; out < outputs; out++) {
      let sum = params[bias][out]!;
      for (let i = 0; i < inputs; i++) sum += x[row * inputs + i]! * params[weight][out * inputs + i]!;
      y[row * outputs + out] = relu ? Math.max(sum, 0) : sum;
    }
  }
  return y;
}

/** Input and output of every layer. */
function activations(params: Tensors, x: Float32Array): Float32Array[] {
  const all = [x];
  for (const layer of LAYERS) all.push(dense(layer, params, all.at(-1)!));
  return all;
}

function softmax(logits: Float32Array): Float32Array {
  const p = new Float32Array(logits.length);
  for (let at = 0; at < logits.length; at += CLASSES) {
    const row = logits.subarray(at, at + CLASSES);
    const largest = Math.max(...row);
    const total = row.reduce((sum, value) => sum + Math.exp(value - largest), 0);
    row.forEach((value, c) => (p[at + c] = Math.exp(value - largest) / total));
  }
  return p;
}

/** The probabilities of the ten digits for each image. */
export function predict(params: Tensors, x: Float32Array): Float32Array {
  return softmax(activations(params, x).at(-1)!);
}

function score(p: Float32Array, labels: ArrayLike<number>): Outcome {
  let loss = 0;
  let correct = 0;
  for (let row = 0; row < labels.length; row++) {
    const own = p.subarray(row * CLASSES, (row + 1) * CLASSES);
    loss -= Math.log(Math.max(own[labels[row]!]!, 1e-30));
    correct += own.indexOf(Math.max(...own)) === labels[row] ? 1 : 0;
  }
  return { loss: loss / labels.length, accuracy: correct / labels.length };
}

export function evaluate(params: Tensors, x: Float32Array, labels: ArrayLike<number>): Outcome {
  return score(predict(params, x), labels);
}

function layerGradients({ inputs, outputs }: Layer, x: Float32Array, d: Float32Array): [Float32Array, Float32Array] {
  const weight = new Float32Array(inputs * outputs);
  const bias = new Float32Array(outputs);
  for (let row = 0; row < d.length / outputs; row++) {
    for (let out = 0; out < outputs; out++) {
      const own = d[row * outputs + out]!;
      bias[out]! += own;
      for (let i = 0; i < inputs; i++) weight[out * inputs + i]! += own * x[row * inputs + i]!;
    }
  }
  return [weight, bias];
}

function inputGradient({ weight, inputs, outputs }: Layer, params: Tensors, x: Float32Array, d: Float32Array): Float32Array {
  const dx = new Float32Array(x.length);
  for (let at = 0; at < x.length; at++) {
    if (x[at]! <= 0) continue;
    const row = Math.floor(at / inputs);
    for (let out = 0; out < outputs; out++) dx[at]! += d[row * outputs + out]! * params[weight][out * inputs + (at % inputs)]!;
  }
  return dx;
}

/** Loss, accuracy and the gradient of the mean loss by every parameter. */
export function gradients(params: Tensors, x: Float32Array, labels: ArrayLike<number>): Outcome & { grads: Tensors } {
  const all = activations(params, x);
  const p = softmax(all.at(-1)!);
  let d: Float32Array = p.map((value, at) => (value - (at % CLASSES === labels[Math.floor(at / CLASSES)] ? 1 : 0)) / labels.length);
  const grads: Partial<Tensors> = {};
  for (let index = LAYERS.length - 1; index >= 0; index--) {
    const layer = LAYERS[index]!;
    const input = all[index]!;
    [grads[layer.weight], grads[layer.bias]] = layerGradients(layer, input, d);
    d = inputGradient(layer, params, input, d);
  }
  return { ...score(p, labels), grads: grads as Tensors };
}
