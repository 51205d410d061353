import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, serve } from "./browser.mjs";

const KINDS = ["sgd", "adam", "adamw", "rmsprop", "adagrad", "lamb"];
let site;
let browser;

before(async () => {
  site = await serve();
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await site?.close();
});

/** A page whose every complaint fails the test that opened it. */
async function open(t, query, options = {}, context = undefined) {
  const page = await (context ? context.newPage() : browser.newPage({ viewport: { width: 1280, height: 800 }, ...options }));
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
  t.after(async () => {
    await page.close();
    assert.deepEqual(complaints, []);
  });
  await page.goto(site.url + query);
  await page.waitForFunction(() => document.querySelector("#start") && window.demo);
  return page;
}

const state = (page) => page.evaluate(() => window.demo.state());

async function finished(page) {
  await page.waitForFunction(
    () => {
      const { running, step, total, error } = window.demo.state();
      return error !== "" || (!running && total > 0 && step >= total);
    },
    undefined,
    { timeout: 180_000, polling: 200 },
  );
  const end = await state(page);
  assert.equal(end.error, "");
  return end;
}

/** Draws straight lines between points given as parts of the box. */
async function draw(page, points) {
  await page.locator("#draw").scrollIntoViewIfNeeded();
  const box = await page.locator("#draw").boundingBox();
  const at = ([x, y]) => [box.x + x * box.width, box.y + y * box.height];
  await page.mouse.move(...at(points[0]));
  await page.mouse.down();
  for (const point of points.slice(1)) await page.mouse.move(...at(point), { steps: 8 });
  await page.mouse.up();
}

test("the network learns the digits on WebGPU, and names one that is drawn", async (t) => {
  const page = await open(t, "?steps=600&seed=1");
  await page.click("#start");
  const end = await finished(page);
  assert.equal(end.backend, "webgpu");
  assert.ok(end.accuracy > 0.95, `accuracy ${end.accuracy}`);
  assert.match(await page.textContent("#adapter"), /swiftshader/i);
  assert.match(await page.textContent("#notice"), /software adapter/);
  assert.equal(await page.locator("#progress").evaluate((bar) => bar.value), 1);
  await draw(page, [[0.3, 0.3], [0.5, 0.15], [0.7, 0.3], [0.65, 0.5], [0.3, 0.85], [0.75, 0.85]]);
  await page.waitForFunction(() => document.querySelector("#digit").value === "2");
  await page.click("#clear");
  await page.waitForFunction(() => document.querySelector("#digit").value === "–");
});

test("the shaders' gradients are those of the plain reference", async (t) => {
  const page = await open(t, "?steps=30&autostart=1");
  await finished(page);
  const drift = await page.evaluate(() => window.demo.checkGradients());
  assert.ok(drift > 0 && drift < 1e-4, `drift ${drift}`);
});

test("pause holds the step, going on continues it, reset begins anew", async (t) => {
  const page = await open(t, "?steps=5000&autostart=1");
  await page.waitForFunction(() => window.demo.state().step > 20);
  await page.click("#pause");
  await page.waitForFunction(() => !window.demo.state().running);
  const { step } = await state(page);
  await page.waitForTimeout(300);
  assert.equal((await state(page)).step, step);
  await page.click("#start");
  await page.waitForFunction((paused) => window.demo.state().step > paused, step);
  await page.click("#reset");
  await page.waitForFunction(() => window.demo.state().step === 0 && !document.querySelector("#start").disabled);
  assert.equal(await page.textContent("#loss"), "–");
});

test("all six optimizers learn from the same start, each with a curve of its own", async (t) => {
  const page = await open(t, `?steps=300&autostart=1&compare=${KINDS}`);
  const { accuracies } = await finished(page);
  assert.deepEqual(Object.keys(accuracies), KINDS);
  for (const kind of KINDS) assert.ok(accuracies[kind] > 0.9, `${kind}: ${accuracies[kind]}`);
  assert.equal(await page.locator("#accuracy-plot .u-series").count(), 1 + KINDS.length);
});

test("a single optimizer's curve is drawn to its end", async (t) => {
  const page = await open(t, "?steps=300&autostart=1&rule=lamb");
  const { loss } = await finished(page);
  assert.ok(loss < 0.1);
  assert.match(await page.textContent("#loss-plot .u-legend"), new RegExp(`LAMB.*${loss.toFixed(3)}`));
});

test("without WebGPU the page says so and trains on the CPU", async (t) => {
  const page = await open(t, "?steps=200&autostart=1&device=cpu&rule=sgd");
  const end = await finished(page);
  assert.equal(end.backend, "cpu");
  assert.ok(end.accuracy > 0.95, `accuracy ${end.accuracy}`);
  assert.match(await page.textContent("#notice"), /no WebGPU/);
});

test("the form shows the options of the chosen rule, and a bad one is named", async (t) => {
  const page = await open(t, "");
  await page.selectOption("#rule", "rmsprop");
  const names = await page.locator("#options input").evaluateAll((inputs) => inputs.map((input) => input.name));
  assert.deepEqual(names, ["lr", "alpha", "eps", "weightDecay", "momentum", "centered"]);
  await page.fill("#options [name=alpha]", "1.5");
  await page.click("#start");
  await page.waitForSelector("#error:not([hidden])");
  assert.match(await page.textContent("#error"), /INVALID_CONFIG: RMSprop: alpha must be at least 0 and less than 1, got 1.5/);
});

for (const colorScheme of ["light", "dark"]) {
  test(`on a phone in ${colorScheme} nothing is wider than the screen`, async (t) => {
    const page = await open(t, "", { viewport: { width: 390, height: 844 }, colorScheme });
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);
    const background = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    assert.equal(background, colorScheme === "dark" ? "rgb(16, 21, 20)" : "rgb(246, 247, 247)");
  });
}

test("a run that loses its GPU in mid-training ends where an undisturbed one does", async (t) => {
  for (const query of ["?rule=adamw&steps=400&autostart", "?compare=sgd,lamb&steps=200&autostart"]) {
    const undisturbed = await finished(await open(t, query));
    const page = await open(t, query);
    await page.waitForFunction(() => window.demo.state().step > 110);
    await page.click("#lose");
    await page.waitForFunction(() => !document.querySelector("#lost").hidden);
    const said = await page.textContent("#lost");
    const [, lostAt, from] = /went away at step ([\d,]+)\..* step ([\d,]+)\./.exec(said).map((number) => Number(number.replace(",", "")));
    assert.ok(lostAt > 110 && from <= lostAt && from % 50 === 0, said);
    const end = await finished(page);
    assert.deepEqual([end.loss, end.accuracies], [undisturbed.loss, undisturbed.accuracies]);
  }
});

for (const device of ["auto", "cpu"]) {
  test(`closing the tab and coming back goes on with the curves (${device})`, { timeout: 120_000 }, async (t) => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    t.after(() => context.close());
    const first = await open(t, `?device=${device}`, {}, context);
    await first.fill("#steps", "300");
    await first.click("#start");
    await first.waitForFunction(() => window.demo.state().step >= 110);
    await first.close();
    const second = await open(t, `?device=${device}`, {}, context);
    await second.waitForFunction(() => window.demo.state().step > 0);
    const back = await state(second);
    assert.ok(back.step >= 75 && back.step < 300, String(back.step));
    assert.equal(back.total, 300);
    assert.equal(await second.textContent("#start"), "Go on");
    await second.click("#start");
    const end = await finished(second);
    const whole = await open(t, `?device=${device}&rule=adamw&steps=300&autostart`);
    const undisturbed = await finished(whole);
    assert.equal(end.loss, undisturbed.loss);
    await second.click("#reset");
    await second.waitForFunction(() => window.demo.state().step === 0);
    await second.waitForTimeout(300);
    await second.reload();
    await second.waitForFunction(() => window.demo && !document.querySelector("#start").disabled);
    assert.equal((await state(second)).step, 0);
  });
}
