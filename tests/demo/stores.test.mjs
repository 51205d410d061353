// Checkpoints in the browser's own stores, and pages that die while they write them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { launch, serve } from "./browser.mjs";

let site;
let browser;
let context;

before(async () => {
  site = await serve(".", ".");
  browser = await launch();
  context = await browser.newContext();
});

after(async () => {
  await browser?.close();
  await site?.close();
});

async function open() {
  const page = await context.newPage();
  await page.goto(`${site.url}LICENSE-MIT`);
  return page;
}

// Every value is the number of steps, so that a file put together of two would show.
const writing = async ([kind, from]) => {
  const { SGD, opfs, indexedDb } = await import("/dist/index.js");
  const store = kind === "opfs" ? opfs("killed.safetensors") : indexedDb("killed");
  const length = 3_000_000;
  const opt = from > 0 ? await SGD.load(store, { device: "cpu" }) : await SGD.create({ w: new Float32Array(length) }, { lr: 1, device: "cpu" });
  const grads = { w: new Float32Array(length).fill(-1) };
  for (;;) {
    opt.step(grads);
    await opt.saveTo(store, { extra: opt.steps });
    globalThis.saved = opt.steps;
  }
};

const reading = async (kind) => {
  const { SGD, opfs, indexedDb, readCheckpoint } = await import("/dist/index.js");
  const store = kind === "opfs" ? opfs("killed.safetensors") : indexedDb("killed");
  const { extra, steps } = await readCheckpoint(store);
  const opt = await SGD.load(store, { device: "cpu" });
  const { w } = await opt.params();
  return { extra, steps, whole: w.every((value) => value === steps) };
};

for (const kind of ["opfs", "indexedDb"]) {
  test(`a page that dies while it saves leaves a good checkpoint, 25 times in ${kind}`, { timeout: 300_000 }, async (t) => {
    let [last, grew] = [0, 0];
    for (let round = 0; round < 25; round++) {
      const page = await open();
      page.evaluate(writing, [kind, last]).catch(() => {});
      await page.waitForFunction((last) => globalThis.saved > last, last);
      const known = await page.evaluate(() => globalThis.saved);
      await new Promise((later) => setTimeout(later, (round * 7) % 60));
      if (round % 2 === 0) await page.close();
      else {
        const session = await context.newCDPSession(page);
        const crashed = new Promise((gone) => page.once("crash", gone));
        session.send("Page.crash").catch(() => {});
        await crashed;
        await page.close();
      }
      const next = await open();
      const { extra, steps, whole } = await next.evaluate(reading, kind);
      assert.ok(whole, `round ${round}: a mixture of two checkpoints`);
      assert.equal(extra, steps);
      assert.ok(steps >= known, `round ${round}: step ${known} was saved, step ${steps} is there`);
      grew += steps > last ? 1 : 0;
      last = steps;
      await next.close();
    }
    assert.equal(grew, 25);
    t.diagnostic(`${kind}: 25 pages died, ${last} steps were saved`);
  });
}

test("a store without a checkpoint says so, and forgets one", async () => {
  const page = await open();
  const result = await page.evaluate(async () => {
    const { SGD, opfs, indexedDb } = await import("/dist/index.js");
    const codes = [];
    for (const store of [opfs("other"), indexedDb("other")]) {
      codes.push(await store.read());
      codes.push(await SGD.load(store, { device: "cpu" }).catch((error) => error.code));
      await (await SGD.create({ w: Float32Array.of(1) }, { device: "gpu" })).saveTo(store);
      codes.push((await SGD.load(store)).info().backend);
      await store.remove();
      await store.remove();
      codes.push(await store.read());
    }
    return codes;
  });
  const wanted = [undefined, "INVALID_CHECKPOINT", "webgpu", undefined];
  assert.deepEqual(result, [...wanted, ...wanted]);
  await page.close();
});

test("the readme's example begins a run, and goes on with it the next time", async () => {
  const [, example] = /```js\n(import \{ AdamW, opfs[\s\S]*?)```/.exec(readFileSync("README.md", "utf8"));
  const steps = [];
  for (let visit = 0; visit < 2; visit++) {
    const page = await open();
    const code = `${example.replace('"webgpu-optim"', JSON.stringify(`${site.url}dist/index.js`))}; export const { steps } = opt; export const { extra } = await readCheckpoint(store);`;
    const run = async (code) => {
      const { steps, extra } = await import(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
      return [steps, extra.epoch];
    };
    steps.push(await page.evaluate(run, code));
    await page.close();
  }
  assert.deepEqual(steps, [[1, 1], [2, 1]]);
});
