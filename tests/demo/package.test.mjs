// The built package in a page and in a worker of headless Chromium.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { badInputs } from "../node/bad.mjs";
import { launch, serve } from "./browser.mjs";

let site;
let browser;
let page;

before(async () => {
  site = await serve(".", ".");
  browser = await launch();
  page = await browser.newPage();
  await page.goto(`${site.url}LICENSE-MIT`);
});

after(async () => {
  await browser?.close();
  await site?.close();
});

for (const device of ["gpu", "cpu"]) {
  for (const [place, { name }] of badInputs.entries()) {
    test(`in a browser ${name} (${device})`, () =>
      page.evaluate(
        async ([place, device]) => {
          const library = await import("/dist/index.js");
          const { badInputs } = await import("/tests/node/bad.mjs");
          await badInputs[place].run(library, device);
        },
        [place, device],
      ));
  }
}

test("without WebGPU `gpu` is refused and `auto` falls back with one warning", async () => {
  const plain = await browser.newContext();
  await plain.addInitScript(() => Object.defineProperty(Navigator.prototype, "gpu", { get: () => undefined }));
  const other = await plain.newPage();
  const warnings = [];
  other.on("console", (message) => message.type() === "warning" && warnings.push(message.text()));
  await other.goto(`${site.url}LICENSE-MIT`);
  const result = await other.evaluate(async () => {
    const { SGD } = await import("/dist/index.js");
    const params = { w: Float32Array.of(1) };
    const code = await SGD.create(params, { device: "gpu" }).catch((error) => error.code);
    return [code, (await SGD.create(params)).info().backend, (await SGD.create(params)).info().backend];
  });
  assert.deepEqual(result, ["NO_WEBGPU", "cpu", "cpu"]);
  assert.equal(warnings.length, 1);
  await plain.close();
});

test("an optimizer runs on the page's own device, and the browser's objects are as they were", async () => {
  const result = await page.evaluate(async () => {
    const { AdamW } = await import("/dist/index.js");
    const own = await (await navigator.gpu.requestAdapter()).requestDevice();
    const gpu = navigator.gpu;
    const opt = await AdamW.create({ w: Float32Array.of(1) }, { device: own, lr: 0.1, weightDecay: 0 });
    opt.step({ w: Float32Array.of(1) });
    const { w } = await opt.params();
    const intact = navigator.gpu === gpu && Object.getOwnPropertyNames(navigator).length === 0 && Object.getOwnPropertyNames(own).length === 0;
    return { same: opt.device === own, intact, w: w[0] };
  });
  assert.deepEqual([result.same, result.intact], [true, true]);
  assert.ok(Math.abs(result.w - 0.9) < 1e-6);
});

test("a Float16Array of any offset is taken as it is", async () => {
  const results = await page.evaluate(async () => {
    const { SGD, float16ToFloat32 } = await import("/dist/index.js");
    const results = [];
    for (const device of ["gpu", "cpu"]) {
      const w = Float16Array.of(9, 1, 2, 3).subarray(1);
      const opt = await SGD.create({ w }, { lr: 0.5, device });
      opt.step({ w: Float16Array.of(9, 1, -1, 0.5).subarray(1) });
      results.push([...(await opt.params()).w]);
    }
    results.push([...float16ToFloat32(new Uint16Array(Float16Array.of(0.1, -65504).buffer))], [...Float32Array.from(Float16Array.of(0.1, -65504))]);
    return results;
  });
  assert.deepEqual(results.slice(0, 2), [[0.5, 2.5, 2.75], [0.5, 2.5, 2.75]]);
  assert.deepEqual(results[2], results[3]);
});

test("the package runs in a module worker", async () => {
  const w = await page.evaluate(
    () =>
      new Promise((resolve, reject) => {
        const code = `
          import { SGD } from "${location.origin}/dist/index.js";
          const opt = await SGD.create({ w: Float32Array.of(3) }, { lr: 1, device: "gpu" });
          opt.step({ w: Float32Array.of(1) });
          postMessage((await opt.params()).w[0]);`;
        const worker = new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })), { type: "module" });
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = (error) => reject(new Error(error.message));
      }),
  );
  assert.equal(w, 2);
});

test("in a browser too a run whose device is destroyed ends with the same parameters as an undisturbed one", async () => {
  const [at, got, want] = await page.evaluate(async () => {
    const { AdamW } = await import("/dist/index.js");
    const own = async () => (await navigator.gpu.requestAdapter()).requestDevice();
    const create = async (device) => {
      const buffer = device.createBuffer({ size: 404, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST });
      device.queue.writeBuffer(buffer, 4, new Float32Array(100).fill(1));
      return [await AdamW.create({ w: { buffer, offset: 4 }, b: Float32Array.of(1) }, { device, snapshotEvery: 3 }), buffer];
    };
    const train = (opt, from, to) => {
      for (let step = from; step < to; step++) {
        opt.step({ w: new Float32Array(100).fill(step - 3), b: Float32Array.of(step) });
      }
    };
    const [undisturbed] = await create(await own());
    train(undisturbed, 0, 12);
    const device = await own();
    const [opt] = await create(device);
    train(opt, 0, 7);
    await opt.params();
    const lost = new Promise((resolve) => opt.onLost(resolve));
    device.destroy();
    await lost;
    const at = await opt.restore();
    train(opt, at, 12);
    const plain = (params) => [...params.w, ...params.b];
    return [at, plain(await opt.params()), plain(await undisturbed.params())];
  });
  assert.ok([3, 6].includes(at), String(at));
  assert.deepEqual(got, want);
});
