#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// step: view-trace-keys
// args: --opscope {gcc}/opscope
// needs: browser
// turn: 1
// The timeline by keys: from event to event, to hits of the search, through the windows that were
// shown; all arrows of a window, and what colours mean.
//
//     trace_keys.mjs [--opscope PATH]
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, folder, hashOf, inPages, main, openPage, rowsOf, settle, soon, start } from "./browser.mjs";
import { isAt, openTimeline, rangeOf } from "./timelines.mjs";

const N = 40; // launches, 100 us apart

/** Operators, each with a call in it that launches a kernel 30 us later. */
function write(path) {
  const traceEvents = [];
  for (let i = 0; i < N; i++) {
    const at = 1000 + 100 * i;
    const name = i % 2 === 0 ? "aten::even" : "aten::odd";
    const cpu = { ph: "X", pid: 1, tid: 1 };
    const args = { correlation: i + 1 };
    traceEvents.push({ ...cpu, cat: "cpu_op", name, ts: at, dur: i === 20 ? 80 : 20, args: {} });
    traceEvents.push({ ...cpu, cat: "cuda_runtime", name: "cudaLaunchKernel", ts: at + 5, dur: 5, args });
    const device = { ph: "X", pid: 0, tid: 7, args: { ...args, device: 0, stream: 7 } };
    traceEvents.push({ ...device, cat: "kernel", name: "k", ts: at + 30, dur: 10 });
  }
  writeFileSync(path, JSON.stringify({ traceEvents }));
}

const arrows = (page) =>
  page.evaluate(() => document.querySelectorAll(".tl-canvases canvas")[1]?.dataset.arrows ?? "");
const colours = (page) =>
  page.evaluate(() => {
    const canvas = document.querySelector(".tl-canvases canvas");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return [...new Set(new Uint32Array(data.buffer))].sort().join();
  });

async function testKeys(page, server) {
  // The 11th group: operator 30, call 31, kernel 32; 1 ms and 100 us a group from the origin.
  await openTimeline(page, server, "trace?sel=ev:30&w=800000+500000");
  const steps = [
    ["ArrowDown", "sel=ev:31", "the call in the operator"],
    ["l", "sel=ev:32", "its kernel"],
    ["l", "sel=ev:31", "and back"],
    ["ArrowUp", "sel=ev:30", "the operator around it"],
    ["ArrowRight", "sel=ev:33", "the operator after it"],
    ["ArrowLeft", "sel=ev:30", "and before it"],
    ["m", "t=1000000+20000", "its time as the range"],
  ];
  for (const [key, word, what] of steps) {
    await page.keyboard.press(key);
    check(await isAt(page, word), `${key}: ${what}: ${await hashOf(page)}`);
    await page.waitForTimeout(300);
  }
  await openTimeline(page, server, "trace?sel=ev:30&q=odd");
  const odd = (await rowsOf(`opscope table events ${join(folder, "keys.json")}`)).filter(
    (row) => row.name === "aten::odd",
  );
  const next = odd.find((row) => Number(row.start_ns) > 1_000_000).id;
  const before = odd.filter((row) => Number(row.start_ns) < 1_000_000).at(-1).id;
  await page.keyboard.press("n");
  check(await isAt(page, `sel=ev:${next}`), `n: ${await hashOf(page)}, not ${next}`);
  await page.waitForTimeout(300);
  await page.keyboard.press("N");
  check(await isAt(page, `sel=ev:${before}`), `N: ${await hashOf(page)}, not ${before}`);
}

/** With nothing selected a search begins at the window, not at the first hit of the trace. */
async function testFromWindow(page, server) {
  const rows = await rowsOf(`opscope table events ${join(folder, "keys.json")}`);
  const odd = rows.filter((row) => row.name === "aten::odd");
  const at = odd[10];
  for (const [key, row] of [
    ["n", at],
    ["N", odd[9]],
  ]) {
    await openTimeline(page, server, `trace?q=odd&w=${at.start_ns}+500000`);
    check(!/sel=/.test(await hashOf(page)), "nothing is selected");
    await page.keyboard.press(key);
    check(await isAt(page, `sel=ev:${row.id}`), `${key}: ${await hashOf(page)}, not ${row.id}`);
  }
  // Between two hits the next one is that after the edge of the window.
  await openTimeline(page, server, `trace?q=odd&w=${Number(at.start_ns) + 1}+500000`);
  await page.keyboard.press("n");
  check(await isAt(page, `sel=ev:${odd[11].id}`), `n: ${await hashOf(page)}, not ${odd[11].id}`);
}

/** Keys work as soon as the view is open, wherever the focus is; a letter after g is the page's. */
async function testFocus(page, server) {
  await page.goto("about:blank");
  await page.goto(`${server.origin}/#/operators`);
  await settle(page);
  await page.waitForSelector(".table-view .row [data-v]");
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("g");
  await page.keyboard.press("t");
  await page.waitForSelector(".tl-head");
  await page.waitForTimeout(500);
  check((await rangeOf(page)) === null, "all of the time is shown");
  await page.keyboard.press("o");
  const said = async () => (await page.textContent(".status")).includes("no steps were found");
  check(await soon(page, said, 5), "o says that there is nothing to find");
  await page.keyboard.press("w");
  check(await soon(page, async () => (await rangeOf(page)) !== null, 5), "w zooms at once");
  await page.focus(".tl");
  await page.keyboard.press("g");
  await page.keyboard.press("m");
  check(await isAt(page, "#/memory"), `g m in the timeline: ${await hashOf(page)}`);
}

/** Whether the field of the search says TEXT of its hits. */
const saysHits = (page, text) => async () =>
  (await page.textContent("#search + output").catch(() => "")) === text;

/** Enter steps through the hits, Esc leaves the field; what is written is no command. */
async function testField(page, server) {
  await openTimeline(page, server, "trace?w=800000+500000");
  await page.keyboard.press("/");
  await page.keyboard.type("odd");
  const says = (text) => saysHits(page, text);
  check(await soon(page, says("20 hits"), 5), "it says how many hits there are");
  await page.keyboard.press("Enter");
  check(await soon(page, says("5 of 20"), 5), "Enter goes to the next one in the window");
  await page.keyboard.press("Enter");
  check(await soon(page, says("6 of 20"), 5), "and on");
  await page.keyboard.press("Shift+Enter");
  check(await soon(page, says("5 of 20"), 5), "with Shift back");
  await page.keyboard.press("Escape");
  check(await page.evaluate(() => document.activeElement === document.body), "Esc leaves the field");
  check((await page.inputValue("#search")) === "odd", "what is written stays");
  const before = await hashOf(page);
  await page.keyboard.press("Shift+M");
  await page.waitForSelector(".notes input:focus");
  await page.keyboard.type("w a d 0 x");
  await page.keyboard.press("Enter");
  check(await isAt(page, "~w+a+d+0+x"), `a note is written at once: ${await hashOf(page)}`);
  const rest = (await hashOf(page)).replace(/&?notes=[^&]*/, "");
  check(rest === before.replace(/&?notes=[^&]*/, ""), `and does nothing else: ${rest}`);
}

/** What is selected is shown, whatever covers it. */
async function testCovered(page, server) {
  await openTimeline(page, server, "trace?fold=p0.1,t0.1.1.thread&hide=t0.0.7.queue&only=nothing&sel=ev:30");
  const isShown = async () => /fold=|only=/.test(await hashOf(page)) === false;
  check(await soon(page, isShown, 5), `it is unfolded: ${await hashOf(page)}`);
  check(/hide=t0.0.7.queue/.test(await hashOf(page)), "what does not cover it stays hidden");
  await page.keyboard.press("ArrowDown");
  check(await isAt(page, "sel=ev:31"), "the call in it");
  await page.waitForTimeout(500);
  await page.keyboard.press("l");
  check(await isAt(page, "sel=ev:32"), "its kernel");
  check(await soon(page, async () => !/hide=/.test(await hashOf(page)), 5), "is hidden no more");
}

/** Below frames that nest deep what is selected is unfolded, and frames stay as they are; a checkbox
 * that has the focus leaves the timeline its keys. */
async function testFrames(context) {
  const path = join(folder, "frames.json");
  const of = { ph: "X", pid: 1, tid: 1 };
  const traceEvents = Array.from({ length: 12 }, (_, i) => ({
    ...{ ...of, cat: "python_function", name: `f.py(${i}): f${i}`, ts: i, dur: 1000 - 2 * i },
    args: { "Python id": i + 1, "Python parent id": i > 0 ? i : null },
  }));
  traceEvents.push({ ...of, cat: "cpu_op", name: "aten::below", ts: 100, dur: 100 });
  traceEvents.push({ ...of, cat: "cpu_op", name: "aten::inside", ts: 100, dur: 50 });
  writeFileSync(path, JSON.stringify({ traceEvents }));
  const rows = await rowsOf(`opscope table events ${path}`);
  const idOf = (name) => rows.find((row) => row.name === name).id;
  const server = await start([path]);
  const [page, faults] = await openPage(context, server.origin);
  await openTimeline(page, server, `trace?fold=p0.1&sel=ev:${idOf("aten::below")}`);
  check(await soon(page, async () => !/fold=/.test(await hashOf(page)), 5), "it is unfolded");
  check(!/python=/.test(await hashOf(page)), `frames are as they were: ${await hashOf(page)}`);
  await page.focus("label:has-text('Python frames') input");
  const before = await rangeOf(page);
  await page.keyboard.press("w");
  const isZoomed = async () => String(await rangeOf(page)) !== String(before);
  check(await soon(page, isZoomed, 5), "w zooms with the focus in a checkbox");
  await page.keyboard.press("Space");
  check(await isAt(page, "python=on"), "which Space turns");
  for (const [name, text] of [["aten::below", "1 of 1"], ["aten::inside", "1 hit"]]) {
    await openTimeline(page, server, `trace?q=below&sel=ev:${idOf(name)}`);
    check(await soon(page, saysHits(page, text), 5), `${name} is selected: ${text}`);
  }
  check(faults.length === 0, `frames: ${faults[0]}`);
  await page.close();
  server.stop();
}

/** Where no track is shown there is still a ruler. */
async function testRuler(page, server) {
  await page.goto("about:blank");
  await page.goto(`${server.origin}/#/trace?only=nothing`);
  const isDrawn = () =>
    page.evaluate(() => {
      const ruler = document.querySelector("canvas.tl-ruler");
      if (ruler === null || ruler.width === 0) return false;
      const { data } = ruler.getContext("2d").getImageData(0, 0, ruler.width, ruler.height);
      return data.some((value) => value !== 0);
    });
  check(await soon(page, isDrawn, 5), "without tracks the ruler is drawn");
  check((await page.locator(".tl-head").count()) === 0, "no track is shown");
}

/** The way back ends at the window that was there first: all of the time, or that of the address. */
async function testFirstWindow(page, server) {
  for (const first of ["", "w=1000000+500000"]) {
    await openTimeline(page, server, `trace?${first}`);
    const isFirst = async () => (/w=[^&]*/.exec(await hashOf(page))?.[0] ?? "") === first;
    const seen = [];
    for (const key of ["w", "d"]) {
      await page.keyboard.press(key);
      await page.waitForTimeout(600);
      seen.push(await hashOf(page));
    }
    check(!(await isFirst()) && seen[0] !== seen[1], `two windows were shown: ${seen}`);
    for (const [key, hash] of [["z", seen[0]], ["Z", seen[1]], ["Backspace", seen[0]]]) {
      await page.keyboard.press(key);
      check(await soon(page, async () => (await hashOf(page)) === hash, 5), `${key}: ${await hashOf(page)}`);
    }
    await page.keyboard.press("z");
    check(await soon(page, isFirst, 5), `z goes back to "${first}": ${await hashOf(page)}`);
    await page.keyboard.press("Z");
    check(await soon(page, async () => (await hashOf(page)) === seen[0], 5), "and Z from there");
    // A window that is left at once was shown, too.
    await page.keyboard.press("d");
    await page.keyboard.press("z");
    check(await soon(page, async () => (await hashOf(page)) === seen[0], 5), `d z: ${await hashOf(page)}`);
  }
}

async function testWindows(page, server) {
  await openTimeline(page, server, "trace?w=1000000+500000");
  await page.waitForTimeout(500);
  for (const key of ["d", "d"]) {
    await page.keyboard.press(key);
    await page.waitForTimeout(600);
  }
  const moved = await hashOf(page);
  await page.keyboard.press("z");
  check(await soon(page, async () => (await hashOf(page)) !== moved, 5), "z shows another window");
  await page.waitForTimeout(500);
  await page.keyboard.press("Z");
  check(await soon(page, async () => (await hashOf(page)) === moved, 5), "Z comes back to it");
}

async function testArrows(page, server) {
  await openTimeline(page, server, "trace");
  check((await arrows(page)) === "", "no arrows unless they are wanted");
  await page.selectOption("label:has-text('arrows') select", "all");
  check(await soon(page, async () => (await arrows(page)) === String(N)), `${await arrows(page)}`);
  check(await isAt(page, "flow=all"), "it is in the address");
  // From 1,000 us on there are 30 calls, and no kernel of an earlier one.
  await openTimeline(page, server, "trace?flow=all&w=1000000+100000");
  check(await soon(page, async () => (await arrows(page)) === "1"), `one: ${await arrows(page)}`);
  // The kernel is in sight, its call 25 us before it is not.
  await openTimeline(page, server, "trace?sel=ev:32&w=1028000+20000");
  const tag = page.locator(".tl-tag", { hasText: "launched by" });
  check(await soon(page, async () => (await tag.count()) === 1), "an end out of sight has a tag");
  check(/−25\.000.us/.test(await tag.textContent()), await tag.textContent());
  await tag.click();
  check(await isAt(page, "sel=ev:31"), `the tag goes there: ${await hashOf(page)}`);
}

async function testColours(page, server) {
  await openTimeline(page, server, "trace?sel=ev:30");
  const kinds = await colours(page);
  await page.keyboard.press("h");
  check(await soon(page, async () => (await colours(page)) !== kinds), "h dims other names");
  await page.keyboard.press("h");
  check(await soon(page, async () => (await colours(page)) === kinds), "h again does no longer");
  const seen = new Set([kinds]);
  for (const mode of ["name", "queue", "rank", "duration"]) {
    await page.selectOption("label:has-text('colour') select", mode);
    check(await soon(page, async () => !seen.has(await colours(page))), `colour by ${mode}`);
    seen.add(await colours(page));
    check(/colour: /.test(await page.innerText(".tl-legend")), `${mode} has a legend`);
  }
}

await main(async (browser) => {
  const options = { viewport: { width: 1280, height: 720 } };
  const context = await browser.newContext(options);
  const path = join(folder, "keys.json");
  write(path);
  const server = await start([path]);
  const [page, faults] = await openPage(context, server.origin);
  for (const test of [testKeys, testFromWindow, testFocus, testField, testCovered, testRuler, testFirstWindow, testWindows, testArrows])
    await test(page, server);
  await testFrames(context);
  await inPages(browser, options, server.origin, (one) => testColours(one, server));
  check(faults.length === 0, `${faults[0]}`);
});
