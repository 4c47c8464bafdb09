#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// The timeline by keys: from event to event, to hits of the search, through the windows that were
// shown; all arrows of a window, and what colours mean.
//
//     trace_keys.mjs [--opscope PATH]
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, folder, hashOf, main, openPage, rowsOf, soon, start } from "./browser.mjs";
import { isAt, openTimeline } from "./timelines.mjs";

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
  check(/−25\.000.µs/.test(await tag.textContent()), await tag.textContent());
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
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 } });
  const path = join(folder, "keys.json");
  write(path);
  const server = await start([path]);
  const [page, faults] = await openPage(context, server.origin);
  for (const test of [testKeys, testFromWindow, testWindows, testArrows, testColours]) await test(page, server);
  check(faults.length === 0, `${faults[0]}`);
});
