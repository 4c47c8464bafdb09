#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// step: view-trace-moves
// args: --opscope {gcc}/opscope
// needs: browser
// turn: 7
// The timeline while it moves: no grey gap while the server is slow, keys by their place on any
// keyboard, windows that come back, and cells of many ranges.
//
//     trace_moves.mjs [--opscope PATH]
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, folder, hashOf, inPages, main, openPage, settle, soon, start } from "./browser.mjs";
import { apart, misfit, openTimeline, picture, rangeOf } from "./timelines.mjs";

const N = 20_000; // ranges of 5 us, one after the other
/** The share of a full lane that has a colour: lines between ranges have none. */
const LEAST = 0.85;
const SIZE = { width: 1280, height: 720 };
/** Two pictures are alike if no square of 8 pixels differs by more, of 255. */
const MOST_APART = 40;
/** Among the modifiers of a key. */
const SHIFT = 8;

function write(path, n = N) {
  const traceEvents = Array.from({ length: n }, (_, i) => ({
    ...{ ph: "X", pid: 1, tid: 1, cat: "cpu_op", name: `aten::op${i % 7}` },
    ...{ ts: 5 * i, dur: 5 },
  }));
  writeFileSync(path, JSON.stringify({ traceEvents }));
}

/** The window of the address, as [from, width]; null: all. */
async function windowOf(page) {
  const range = await rangeOf(page);
  return range && [range[0], range[1] - range[0]];
}

/** Which share of the pixels of the first lane is not the ground, of the N columns asked for. */
const covered = (page) =>
  page.evaluate(() => {
    const canvas = document.querySelector(".tl-canvases canvas");
    const head = [...document.querySelectorAll(".tl-head.track")].find((one) =>
      one.textContent.includes("thread 1"),
    );
    const top = head.getBoundingClientRect().top - canvas.getBoundingClientRect().top + 10;
    const y = Math.round(top * window.devicePixelRatio);
    const { data } = canvas.getContext("2d").getImageData(0, y, canvas.width, 1);
    const ground = canvas.getContext("2d").getImageData(0, canvas.height - 2, 1, 1).data;
    let n = 0;
    for (let i = 0; i < data.length; i += 4)
      if ([0, 1, 2].some((k) => Math.abs(data[i + k] - ground[k]) > 4)) n++;
    return n / canvas.width;
  });

/** While answers take a second, the picture at hand is stretched over what is in sight. */
async function testGap(page, server) {
  await openTimeline(page, server, "trace?w=40000000%2B10000000");
  const before = await covered(page);
  check(before > LEAST, `the lane is full: ${before}`);
  let asked = 0;
  await page.route("**/api/v1/cells?*", async (route) => {
    asked++;
    await new Promise((done) => setTimeout(done, 1000));
    await route.continue().catch(() => {});
  });
  for (const key of [..."wwwwwddaaasss"]) {
    await page.keyboard.press(key);
    await page.waitForTimeout(60);
    const now = await covered(page);
    check(now > LEAST, `${key}: ${(100 * now).toFixed(0)} % of the lane is drawn`);
  }
  check(asked > 0 && asked < 13, `${asked} questions while 13 keys were pressed`);
  await page.waitForTimeout(1500);
  check((await covered(page)) > LEAST, "at rest the lane is full");
  await page.unroute("**/api/v1/cells?*");
}

/** When the file has changed, the picture stays until there is a newer one, also at another size; what
 * was folded since an event was selected stays folded. */
async function testChanged(context) {
  const path = join(folder, "changed.json");
  write(path);
  const server = await start([path]);
  const [page, faults] = await openPage(context, server.origin, true);
  const change = async (n) => {
    const before = /fp=\w*/.exec(await hashOf(page))[0];
    write(`${path}.new`, n);
    renameSync(`${path}.new`, path);
    return () => soon(page, async () => !(await hashOf(page)).includes(before));
  };
  await openTimeline(page, server, "trace?sel=ev:8100&w=40000000%2B10000000");
  let [asked, release] = [0, () => {}];
  const held = new Promise((done) => {
    release = done;
  });
  await page.route("**/api/v1/cells?*", async (route) => {
    asked++;
    await held;
    await route.continue().catch(() => {});
  });
  await change(N + 1);
  check(await soon(page, async () => asked > 0), "a file that changed is asked for its cells");
  for (const width of [1100, 1400]) {
    await page.setViewportSize({ ...SIZE, width });
    const isRight = async () => (await misfit(page)) === "";
    check(await soon(page, isRight, 5), `before an answer: ${await misfit(page)}`);
    check((await covered(page)) > LEAST, `before an answer, ${width} wide: ${await covered(page)}`);
  }
  release();
  await page.unroute("**/api/v1/cells?*");
  await page.setViewportSize(SIZE);
  await settle(page);
  await page.locator(".tl-head.group .tl-title").first().click();
  check(await soon(page, async () => /fold=/.test(await hashOf(page)), 5), "a process is folded");
  const hasChanged = await change(N + 2);
  check(await hasChanged(), "the file has changed again");
  await settle(page);
  await page.waitForTimeout(300);
  check(/sel=ev:8100/.test(await hashOf(page)), "what is selected stays so");
  check(/fold=/.test(await hashOf(page)), `and so does what is folded: ${await hashOf(page)}`);
  check(faults.length === 0, `a file that changes: ${faults[0]}`);
  await page.close();
  server.stop();
}

/** w a s d are where they are on any keyboard; other keys are letters. */
async function testLayouts(context, page, server) {
  const client = await context.newCDPSession(page);
  const press = async (code, key, modifiers = 0) => {
    for (const type of ["keyDown", "keyUp"])
      await client.send("Input.dispatchKeyEvent", { type, code, key, modifiers });
    await page.waitForTimeout(600);
  };
  for (const [layout, letters] of Object.entries({
    QWERTY: { KeyW: "w", KeyA: "a", KeyS: "s", KeyD: "d" },
    AZERTY: { KeyW: "z", KeyA: "q", KeyS: "s", KeyD: "d" },
    Dvorak: { KeyW: ",", KeyA: "a", KeyS: "o", KeyD: "e" },
  })) {
    await openTimeline(page, server, "trace?w=40000000%2B10000000");
    const [from, width] = await windowOf(page);
    await press("KeyW", letters.KeyW);
    const zoomed = await windowOf(page);
    check(zoomed[1] < 0.8 * width, `${layout}: ${letters.KeyW} zooms in: ${zoomed}`);
    await press("KeyS", letters.KeyS);
    const back = await windowOf(page);
    check(Math.abs(back[1] - width) < 0.01 * width, `${layout}: ${letters.KeyS} zooms out: ${back}`);
    await press("KeyD", letters.KeyD);
    const right = await windowOf(page);
    check(right[0] > back[0] + 0.1 * width, `${layout}: ${letters.KeyD} goes right: ${right}`);
    await press("KeyA", letters.KeyA);
    const left = await windowOf(page);
    check(Math.abs(left[0] - back[0]) < 0.01 * width, `${layout}: ${letters.KeyA} goes left: ${left}`);
    await press("Backspace", "Backspace");
    check((await windowOf(page))[0] === right[0], `${layout}: Backspace goes back to the window before`);
    await press("Backspace", "Backspace", SHIFT);
    check((await windowOf(page))[0] === left[0], `${layout}: and with Shift forward again`);
    check(!/steps=|sel=/.test(await hashOf(page)), `${layout}: and does nothing else, from ${from}`);
  }
  await openTimeline(page, server, "trace?w=40000000%2B10000000");
  await press("Comma", "w"); // Dvorak
  check((await windowOf(page))[1] === 10_000_000, "a w elsewhere is not that key");
}

/** A state that was left comes back with its window, however wide the timeline is by then. */
async function testWindows(page, server) {
  await openTimeline(page, server, "trace");
  const canvas = await page.locator(".tl-canvases canvas").last().boundingBox();
  const head = await page.locator(".tl-head.track", { hasText: "thread 1" }).first().boundingBox();
  await page.mouse.move(canvas.x + canvas.width / 2, head.y + 10);
  await page.focus(".tl");
  for (let i = 0; i < 20; i++) await page.keyboard.press("w");
  await page.waitForTimeout(700);
  const near = await windowOf(page);
  await page.mouse.click(canvas.x + canvas.width / 2 + 4, head.y + 10);
  check(await soon(page, async () => /sel=ev/.test(await hashOf(page))), "an event is selected");
  await page.waitForSelector("aside.detail");
  await page.focus(".tl");
  for (let i = 0; i < 8; i++) await page.keyboard.press("s");
  await page.waitForTimeout(700);
  const far = await windowOf(page);
  check(far[1] > 5 * near[1], `zoomed out: ${far}, from ${near}`);
  await page.goBack();
  const isNear = async () => {
    const now = await windowOf(page);
    return now !== null && now.join() === near.join();
  };
  check(await soon(page, isNear, 5), `back: ${await windowOf(page)}, not ${near}`);
  await page.waitForTimeout(700);
  check(await isNear(), `it stays so: ${await windowOf(page)}, not ${near}`);
  const box = await page.locator(".tl-minimap .box").boundingBox();
  const map = await page.locator("svg.tl-minimap").boundingBox();
  const middle = (box.x + box.width / 2 - map.x) / map.width;
  const wanted = (near[0] + near[1] / 2) / (5000 * N);
  check(Math.abs(middle - wanted) < 0.01, `the box of the minimap is at ${middle}, not ${wanted}`);
  check(Math.abs(map.width - canvas.width) < 2, `it is ${map.width} wide, not ${canvas.width}`);
}

/** A cell of many ranges says how many, and of which names. */
async function testMerged(page, server) {
  await openTimeline(page, server, "trace");
  const canvas = await page.locator(".tl-canvases canvas").last().boundingBox();
  const head = await page.locator(".tl-head.track", { hasText: "thread 1" }).first().boundingBox();
  await page.mouse.move(canvas.x + canvas.width / 3, head.y + 10);
  await page.waitForSelector(".tl-popover");
  const many = async () => /^2\d ranges/m.test(await page.innerText(".tl-popover"));
  check(await soon(page, many, 5), `a cell has 20 and more: ${await page.innerText(".tl-popover")}`);
  await page.mouse.dblclick(canvas.x + canvas.width / 3, head.y + 10);
  const isZoomed = async () => ((await windowOf(page))?.[1] ?? 1e9) < 1_000_000;
  check(await soon(page, isZoomed, 5), `a double click zooms in: ${await windowOf(page)}`);
}

/** A click selects what is there, however narrow, and leaves the window, also when what is said of
 * the event takes part of the width; what is gone to is brought into sight, and z leads back. */
async function testClick(page, server) {
  await openTimeline(page, server, "trace");
  const spot = async (share) => {
    const canvas = await page.locator(".tl-canvases canvas").last().boundingBox();
    const head = await page.locator(".tl-head.track", { hasText: "thread 1" }).first().boundingBox();
    return [canvas.x + share * canvas.width, head.y + 10];
  };
  const selected = async () => /sel=ev:(\d+)/.exec(await hashOf(page))?.[1] ?? "";
  await page.mouse.click(...(await spot(0.7)));
  check(await soon(page, async () => (await selected()) !== "", 5), "a click selects one of many");
  await page.waitForSelector("aside.detail");
  await page.waitForTimeout(900);
  check((await windowOf(page)) === null, `and all of the time stays: ${await windowOf(page)}`);
  await page.focus(".tl");
  await page.keyboard.press(".");
  const isNear = async () => ((await windowOf(page))?.[1] ?? 1e9) < 1_000_000;
  check(await soon(page, isNear, 5), `the next of its name is brought into sight: ${await windowOf(page)}`);
  await page.keyboard.press("z");
  check(await soon(page, async () => (await windowOf(page)) === null, 5), `z: ${await windowOf(page)}`);
  await openTimeline(page, server, "trace");
  await page.mouse.move(...(await spot(0.5)));
  for (let i = 0; i < 6; i++) await page.keyboard.press("w");
  await page.waitForTimeout(700);
  const before = await windowOf(page);
  await page.mouse.click(...(await spot(0.95)));
  check(await soon(page, async () => (await selected()) !== "", 5), "a click at the right selects");
  await page.waitForSelector("aside.detail");
  await page.waitForTimeout(900);
  check(String(await windowOf(page)) === String(before), `${await windowOf(page)}, before ${before}`);
  const box = await page.locator(".tl-minimap .box").boundingBox();
  const map = await page.locator("svg.tl-minimap").boundingBox();
  const shown = (box.width / map.width) * 5000 * N;
  check(Math.abs(shown / before[1] - 1) < 0.03, `the timeline shows ${shown} ns, not ${before[1]}`);
  // The second click of two is where the first one was, though the timeline is narrower by then.
  await openTimeline(page, server, "trace");
  await page.mouse.move(...(await spot(0.7)));
  for (const clickCount of [1, 2]) {
    await page.mouse.down({ clickCount });
    await page.mouse.up({ clickCount });
    if (clickCount === 1) await page.waitForSelector("aside.detail");
  }
  await page.waitForTimeout(900);
  const at = 5000 * Number(await selected());
  const [from, width] = (await windowOf(page)) ?? [0, 0];
  const isFit = width > 5000 && width < 1_000_000 && from < at && at < from + width;
  check(isFit, `both fit the cell of the range from ${at} on: ${from}, ${width}`);
}

/** At any ratio a canvas has the pixels of the screen, also when the window moves to another one;
 * pictures of two ratios are the same picture. */
async function testRatios(browser, server) {
  const pictures = [];
  let drawn = 0;
  const take = (page) => page.locator(".tl").screenshot({ animations: "disabled" });
  await inPages(browser, { viewport: SIZE }, server.origin, async (page, ratio) => {
    await openTimeline(page, server, "trace?w=40000000%2B100000");
    await page.waitForTimeout(500);
    pictures.push(await take(page));
    if (ratio === 1) {
      drawn = await picture(page);
      return;
    }
    const distance = await apart(page, ...pictures, ratio);
    check(distance < MOST_APART, `twice the pixels are the same picture: ${distance}`);
    const screen = await page.context().newCDPSession(page);
    let isStill = false;
    const turnTo = async (deviceScaleFactor, { width, height }) => {
      const size = { width, height, deviceScaleFactor, mobile: false };
      await screen.send("Emulation.setDeviceMetricsOverride", size);
      // Emulation leaves the queries of media alone unless a medium changes, too.
      isStill = !isStill;
      await page.emulateMedia({ reducedMotion: isStill ? "reduce" : "no-preference" });
      const isRight = async () => (await misfit(page)) === "";
      check(await soon(page, isRight, 5), `at ${deviceScaleFactor}: ${await misfit(page)}`);
    };
    // As zooming does: the window stays, and has more or fewer pixels of the page.
    const zoomTo = (factor) => {
      const [width, height] = [SIZE.width, SIZE.height].map((n) => Math.round(n / factor));
      return turnTo(factor, { width, height });
    };
    // As on another screen: no size on the page changes, so that nothing tells of it but the ratio.
    const moveTo = (factor) => turnTo(factor, SIZE);
    await zoomTo(1);
    const told = await page.evaluateHandle(() => {
      const sizes = [];
      new ResizeObserver((list) => sizes.push(list.length)).observe(document.querySelector(".tl-body"));
      return sizes;
    });
    await page.waitForTimeout(200);
    const before = await told.evaluate((sizes) => sizes.length);
    for (const factor of [2, 1.5, 3, 1]) await moveTo(factor);
    check((await told.evaluate((sizes) => sizes.length)) === before, "no size changed meanwhile");
    check(await soon(page, async () => (await picture(page)) === drawn, 5), "and back it is the same");
    for (const factor of [1.1, 1.25, 1.5, 3, 1]) await zoomTo(factor);
    const isBack = async () => (await picture(page)) === drawn;
    check(await soon(page, isBack, 5), "back at 1 it is as it was");
    await page.goto(`${server.origin}/#/flame`);
    await page.waitForSelector(".flame-canvases canvas");
    for (const factor of [1.25, 2]) await zoomTo(factor);
    await zoomTo(1);
    for (const factor of [2, 1]) await moveTo(factor);
  });
}

await main(async (browser) => {
  const context = await browser.newContext({ viewport: SIZE });
  const path = join(folder, "moves.json");
  write(path);
  const server = await start([path]);
  const [page, faults] = await openPage(context, server.origin);
  await testRatios(browser, server);
  await inPages(browser, { viewport: SIZE }, server.origin, (one) => testGap(one, server));
  await testLayouts(context, page, server);
  await testWindows(page, server);
  await testMerged(page, server);
  await testClick(page, server);
  await testChanged(context);
  check(faults.length === 0, `${faults[0]}`);
});
