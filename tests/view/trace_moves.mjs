#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// The timeline while it moves: no grey gap while the server is slow, keys by their place on any
// keyboard, windows that come back, and cells of many ranges.
//
//     trace_moves.mjs [--opscope PATH]
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, folder, hashOf, main, openPage, soon, start } from "./browser.mjs";
import { openTimeline, rangeOf } from "./timelines.mjs";

const N = 20_000; // ranges of 5 us, one after the other
/** The share of a full lane that has a colour: lines between ranges have none. */
const LEAST = 0.85;
/** Among the modifiers of a key. */
const SHIFT = 8;

function write(path) {
  const traceEvents = Array.from({ length: N }, (_, i) => ({
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
    const y = Math.round(head.getBoundingClientRect().top - canvas.getBoundingClientRect().top + 10);
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

await main(async (browser) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 } });
  const path = join(folder, "moves.json");
  write(path);
  const server = await start([path]);
  const [page, faults] = await openPage(context, server.origin);
  await testGap(page, server);
  await testLayouts(context, page, server);
  await testWindows(page, server);
  await testMerged(page, server);
  check(faults.length === 0, `${faults[0]}`);
});
