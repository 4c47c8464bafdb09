#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// step: view-trace-input
// args: --opscope {gcc}/opscope
// needs: browser
// turn: 7
// The timeline under mouse and fingers: areas and ranges whose edges snap, panning and zooming.
//
//     trace_input.mjs [--opscope PATH]
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  check,
  compare,
  folder,
  hashOf,
  main,
  openPage,
  rowsOf,
  runAxe,
  settle,
  soon,
  start,
} from "./browser.mjs";
import { openTimeline, rangeOf } from "./timelines.mjs";

const WIDTH = 1_000_000;

/** Two threads and a queue, in us: ranges of 100 with gaps of 100. */
function makeTrace() {
  const path = join(folder, "input.json");
  const at = (pid, tid, cat, name, ts, args) => ({ ph: "X", pid, tid, cat, name, ts, dur: 100, args });
  const traceEvents = [0, 200, 400, 600, 800].flatMap((ts, i) => [
    at(7, 7, "cpu_op", `aten::op${i % 2}`, ts, { "External id": i + 1 }),
    at(7, 8, "user_annotation", "aside", ts + 50),
    at(0, 20, "kernel", `kernel${i % 2}`, ts + 60, { device: 0, stream: 20, correlation: i + 1 }),
    { ...at(7, 7, "cuda_runtime", "cudaLaunchKernel", ts + 10, { correlation: i + 1 }), dur: 5 },
    { ph: "C", pid: 7, tid: 7, name: "queue", ts: ts + 20, args: { depth: i } },
    { ph: "s", cat: "ac2g", name: "ac2g", id: i, pid: 7, tid: 7, ts: ts + 10 },
    { ph: "f", cat: "ac2g", name: "ac2g", id: i, pid: 0, tid: 20, ts: ts + 60, bp: "e" },
  ]);
  writeFileSync(path, JSON.stringify({ schemaVersion: 1, traceEvents }));
  return path;
}

/** Where time NS is on the page: in the ruler, on the canvas; and how to drag there. */
async function placesOf(page) {
  const canvas = await page.locator(".tl-canvases canvas").nth(1).boundingBox();
  const ruler = await page.locator(".tl-ruler").boundingBox();
  const x = (ns) => canvas.x + (ns / WIDTH) * canvas.width;
  const head = async (title) => {
    const box = await page.locator(".tl-head", { hasText: title }).first().boundingBox();
    return box.y + 11;
  };
  const drag = async (from, to, options = {}) => {
    await page.mouse.move(...from);
    await page.mouse.down(options);
    await page.mouse.move((from[0] + to[0]) / 2, (from[1] + to[1]) / 2, { steps: 3 });
    await page.mouse.move(...to, { steps: 3 });
    await page.mouse.up(options);
  };
  return { canvas, ruler: ruler.y + 12, x, head, drag, pixel: WIDTH / canvas.width };
}

const SHOWN = `trace?w=0%2B${WIDTH}`;
const near = (a, b, most) => a !== null && a.every((v, i) => Math.abs(v - b[i]) <= most);

async function testMouse(context, server) {
  const [page, faults] = await openPage(context, server.origin);
  await openTimeline(page, server, SHOWN);
  const { ruler, x, head, drag, pixel, canvas } = await placesOf(page);
  await drag([x(200_000) + 4, ruler], [x(500_000) - 4, ruler]);
  await soon(page, async () => (await rangeOf(page, "t")) !== null);
  let range = await rangeOf(page, "t");
  check(near(range, [200_000, 500_000], pixel / 100), `a drag in the ruler snaps: ${range}`);
  await page.keyboard.down("Control");
  await drag([x(330_000), ruler], [x(600_000) - 5, ruler]);
  await page.keyboard.up("Control");
  const isNew = async () => (await rangeOf(page, "t"))[0] > 300_000;
  check(await soon(page, isNew), "a second range takes the place of the first");
  range = await rangeOf(page, "t");
  check(
    near(range, [330_000, 600_000 - 5 * pixel], 2 * pixel),
    `with Ctrl it does not snap: ${range}`,
  );
  const thread = await head("thread 8");
  await drag([x(250_000) + 3, thread], [x(550_000) - 3, thread + 4]);
  await soon(page, async () => /thread=7\/8/.test(await hashOf(page)));
  range = await rangeOf(page, "t");
  check(near(range, [250_000, 550_000], pixel / 100), `an area snaps to its track: ${range}`);
  check(/thread=7\/8/.test(await hashOf(page)), `and says which thread: ${await hashOf(page)}`);
  await drag([x(550_000), thread], [x(650_000) + 3, thread]);
  const isLonger = async () => near(await rangeOf(page, "t"), [250_000, 650_000], pixel / 100);
  check(await soon(page, isLonger), `its edge can be dragged: ${await rangeOf(page, "t")}`);
  const before = await rangeOf(page, "w");
  await drag([x(800_000), thread], [x(700_000), thread], { button: "middle" });
  const isAway = (ns) => async () => near(await rangeOf(page, "w"), before.map((v) => v + ns), 4 * pixel);
  check(await soon(page, isAway(100_000)), `the middle button pans: ${await rangeOf(page, "w")}`);
  await page.keyboard.down("Space");
  await drag([x(700_000), thread], [x(800_000), thread]);
  await page.keyboard.up("Space");
  check(await soon(page, isAway(0)), `Space and a drag pan: ${await rangeOf(page, "w")}`);
  check(near(await rangeOf(page, "t"), [250_000, 650_000], pixel), "panning leaves the area");
  await page.mouse.move(x(500_000), ruler);
  await page.mouse.wheel(0, -240);
  const isHalf = async () => {
    const [from, to] = await rangeOf(page, "w");
    return Math.abs(to - from - WIDTH / 2) < 8 * pixel;
  };
  check(await soon(page, isHalf), `the wheel over the ruler zooms: ${await rangeOf(page, "w")}`);
  await openTimeline(page, server, SHOWN);
  await page.mouse.dblclick(x(250_000), await head("thread 7"));
  const isFit = async () => near(await rangeOf(page, "w"), [195_000, 305_000], 2000);
  check(await soon(page, isFit), `a double click fits: ${await rangeOf(page, "w")}`);
  check(canvas.width > 500 && faults.length === 0, `mouse: ${faults[0]}`);
  await page.close();
}

const titles = (page) => page.locator(".tl-head .tl-title").allTextContents();

/** Two threads of one process in the order that is chosen, and by a drag of a title. */
async function testOrder(context, server) {
  const [page, faults] = await openPage(context, server.origin);
  await openTimeline(page, server, SHOWN);
  const threads = async () => (await titles(page)).filter((t) => /thread \d/.test(t)).map((t) => t.trim());
  const reads = (...words) => async () => {
    const now = (await threads()).map((t) => /thread (\d)/.exec(t)[1]);
    return now.join() === words.join();
  };
  check(await reads("7", "8")(), `as given: ${await threads()}`);
  await page
    .locator(".tl-head", { hasText: "thread 8" })
    .dragTo(page.locator(".tl-head", { hasText: "thread 7" }).first());
  check(await soon(page, reads("8", "7")), `dragged: ${await threads()}`);
  check(/order=t0.7.8.thread<t0.7.7.thread/.test(await hashOf(page)), await hashOf(page));
  await page.selectOption("[aria-label='Order of tracks']", "name");
  check(await soon(page, reads("7", "8")), `by name: ${await threads()}`);
  const y = await (await placesOf(page)).head("thread 7");
  await page.mouse.click((await placesOf(page)).x(250_000), y, { button: "right" });
  await page.click(".tl-menu >> text=move it down");
  check(await soon(page, reads("8", "7")), `by the menu: ${await threads()}`);
  await page.selectOption("[aria-label='Order of tracks']", "busy");
  const rows = await rowsOf(`opscope table tracks '${join(folder, "input.json")}'`);
  const busy = (thread) => Number(rows.find((row) => row.thread === thread).busy_ns);
  const right = busy("7") >= busy("8") ? ["7", "8"] : ["8", "7"];
  check(await soon(page, reads(...right)), `by busy time: ${await threads()}`);
  check(faults.length === 0, `order: ${faults[0]}`);
  await page.close();
}

/** 200 levels on one track, of which 24 are asked for, and 2,000 tracks. */
async function testExtremes(context) {
  const traceEvents = [];
  for (let i = 0; i < 200; i++)
    traceEvents.push({ ph: "X", pid: 1, tid: 1, cat: "cpu_op", name: `level${i}`, ts: i, dur: 1000 - 2 * i });
  for (let i = 0; i < 2000; i++)
    traceEvents.push({ ph: "X", pid: 2, tid: 10 + i, cat: "cpu_op", name: "one", ts: i / 4, dur: 10 });
  const path = join(folder, "extremes.json");
  writeFileSync(path, JSON.stringify({ traceEvents }));
  const server = await start([path]);
  const [page, faults] = await openPage(context, server.origin);
  const asked = [];
  page.on("request", (request) => /\/cells/.test(request.url()) && asked.push(decodeURIComponent(request.url())));
  await openTimeline(page, server, SHOWN);
  check(await soon(page, async () => asked.length > 0), "cells are asked for");
  check((await page.textContent(".tl-heads")).includes("176 deeper"), "176 levels are not shown");
  check(asked.length > 0 && asked.every((url) => !/[:.x]200\b/.test(url)), `asked: ${asked[0]}`);
  const n = await page.locator(".tl-head").count();
  check(n < 150, `${n} titles of 2,000 are in the page`);
  const began = Date.now();
  await page.locator(".tl-body").evaluate((body) => {
    body.scrollTop = body.scrollHeight;
  });
  check(await soon(page, async () => (await titles(page)).some((t) => /thread 2009/.test(t))), "the last track");
  check(Date.now() - began < 3000, `it took ${Date.now() - began} ms to scroll to it`);
  await page.locator(".tl-body").evaluate((body) => {
    body.scrollTop = 0;
  });
  await page.click("text=176 deeper");
  check(await soon(page, async () => asked.some((url) => /[:.x]200\b/.test(url))), `more is asked then: ${asked.at(-1)}`);
  await page.click("text=only 24 levels");
  const isLess = async () => (await page.textContent(".tl-heads")).includes("176 deeper");
  check(await soon(page, isLess), "and there is a way back");
  check(faults.length === 0, `extremes: ${faults[0]}`);
  await page.close();
  server.stop();
}

/** The ruler counts from another time; notes are about events, areas and times; the menu. */
async function testRuler(context, server) {
  const [page, faults] = await openPage(context, server.origin);
  await openTimeline(page, server, SHOWN);
  const { x, head } = await placesOf(page);
  await page.selectOption("[aria-label='What the ruler counts from']", "step");
  check(await soon(page, async () => /clock=step/.test(await hashOf(page))), "the clock is in the address");
  const y = await head("thread 7");
  await page.mouse.click(x(250_000), y);
  await soon(page, async () => /sel=ev/.test(await hashOf(page)));
  await page.waitForSelector("aside.detail");
  await page.focus(".tl");
  await page.keyboard.press("Shift+M");
  const isOnEvent = async () => /notes=200000\+100000@\d+~note/.test(await hashOf(page));
  check(await soon(page, isOnEvent), `a note on an event: ${await hashOf(page)}`);
  check((await page.locator(".tl-flags .range").count()) === 1, "it has a flag as long as the event");
  await openTimeline(page, server, `${SHOWN}&t=400000%2B100000&sel=`);
  check((await page.locator(".notes li").count()) === 1, "the browser keeps it");
  await page.focus(".tl");
  await page.keyboard.press("Shift+M");
  check(await soon(page, async () => /400000\+100000~note/.test(await hashOf(page))), "a note on an area");
  await page.click(".notes li:first-child button");
  check(await soon(page, async () => /sel=ev:\d+/.test(await hashOf(page))), "a note goes to its event");
  await openTimeline(page, server, SHOWN);
  await page.mouse.click(x(250_000), await head("thread 7"), { button: "right" });
  await page.waitForSelector(".tl-menu");
  const texts = await page.locator(".tl-menu [role=menuitem] span").allTextContents();
  check(texts.includes("rows of its name") && texts.includes("hide the track"), `menu: ${texts}`);
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  check(await soon(page, async () => /hide=t0.7.7/.test(await hashOf(page))), "by keys its last item hides");
  check((await page.locator(".tl-menu").count()) === 0, "and the menu is gone");
  await page.click("text=1 hidden");
  await page.mouse.move(x(250_000), await head("thread 7"));
  await page.focus(".tl");
  await page.keyboard.press("Shift+F10");
  await page.waitForSelector(".tl-menu");
  await page.keyboard.press("Escape");
  check(await soon(page, async () => (await page.locator(".tl-menu").count()) === 0), "Esc closes it");
  await page.mouse.click(x(250_000), y, { button: "right" });
  await runAxe(page, "the menu");
  check(faults.length === 0, `ruler: ${faults[0]}`);
  await page.close();
}

/** The tabs of the sheet: each has the rows that its command prints. */
async function testSheet(context, server) {
  const [page, faults] = await openPage(context, server.origin);
  const parts = ["--from 150000ns", "--to 650000ns", "--process 7", "--thread 7"];
  for (const tab of ["names", "kinds", "counters", "flows", "events"]) {
    await openTimeline(page, server, `${SHOWN}&t=150000%2B500000&thread=7/7`);
    await page.click(`.sheet .tabs button:text-is("${tab}")`);
    await soon(page, async () => (await page.locator(".sheet [data-command] [data-v]").count()) > 0);
    await settle(page);
    const command = await page.getAttribute(".sheet [data-command]", "data-command");
    check(parts.every((part) => command.includes(part)), `${tab}: ${command}`);
    const n = await compare(page, tab);
    check(n > 3, `${tab}: ${n} values`);
  }
  await page.click(".sheet >> text=with the device work of it");
  await soon(page, async () => !/thread=/.test(await hashOf(page)));
  await settle(page);
  const command = await page.getAttribute(".sheet [data-command]", "data-command");
  check(!/--thread/.test(command), `all threads: ${command}`);
  check(faults.length === 0, `sheet: ${faults[0]}`);
  await page.close();
}

async function testTouch(browser, server) {
  const context = await browser.newContext({
    viewport: { width: 1024, height: 768 },
    hasTouch: true,
  });
  const [page, faults] = await openPage(context, server.origin);
  await openTimeline(page, server, SHOWN);
  const { x, head, pixel } = await placesOf(page);
  const client = await context.newCDPSession(page);
  const touch = (type, ...points) =>
    client.send("Input.dispatchTouchEvent", {
      type,
      touchPoints: points.map(([px, py], id) => ({ x: px, y: py, id })),
    });
  const y = await head("thread 8");
  await page.touchscreen.tap(x(300_000), y);
  check(await soon(page, async () => /sel=ev:\d+/.test(await hashOf(page))), "a tap selects");
  await page.waitForTimeout(700);
  check(near(await rangeOf(page, "w"), [0, WIDTH], 0), `and leaves the window: ${await rangeOf(page, "w")}`);
  await openTimeline(page, server, SHOWN);
  await touch("touchStart", [x(500_000), y]);
  for (const ns of [450_000, 400_000, 350_000]) await touch("touchMove", [x(ns), y]);
  await touch("touchEnd");
  const isPanned = async () => near(await rangeOf(page, "w"), [150_000, 1_150_000], 20 * pixel);
  check(await soon(page, isPanned), `one finger pans: ${await rangeOf(page, "w")}`);
  check((await rangeOf(page, "t")) === null, "and selects nothing");
  await openTimeline(page, server, SHOWN);
  await touch("touchStart", [x(400_000), y], [x(600_000), y]);
  for (const ns of [50_000, 100_000]) await touch("touchMove", [x(400_000 - ns), y], [x(600_000 + ns), y]);
  await touch("touchEnd");
  const isZoomed = async () => near(await rangeOf(page, "w"), [250_000, 750_000], 20 * pixel);
  check(await soon(page, isZoomed), `two fingers zoom: ${await rangeOf(page, "w")}`);
  await openTimeline(page, server, SHOWN);
  await touch("touchStart", [x(250_000) + 3, y]);
  await page.waitForTimeout(700);
  for (const ns of [400_000, 550_000]) await touch("touchMove", [x(ns) - 3, y]);
  await touch("touchEnd");
  const isArea = async () => near(await rangeOf(page, "t"), [250_000, 550_000], pixel / 10);
  check(await soon(page, isArea), `a long press begins an area: ${await rangeOf(page, "t")}`);
  check(faults.length === 0, `touch: ${faults[0]}`);
  await context.close();
}

await main(async (browser) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const server = await start([makeTrace()]);
  await testMouse(context, server);
  await testSheet(context, server);
  await testRuler(context, server);
  await testOrder(context, server);
  await testExtremes(context);
  await testTouch(browser, server);
  server.stop();
});
