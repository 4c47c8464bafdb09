#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// step: view-trace
// args: --opscope {gcc}/opscope
// needs: browser
// The timeline: which times it opens with, tracks that are pinned, hidden or filtered, the minimap,
// notes, the ghost of the median step, and two runs that are locked.
//
//     trace.mjs [--opscope PATH]
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  atRatios,
  beside,
  check,
  data,
  folder,
  hashOf,
  main,
  openPage,
  rowsOf,
  settle,
  soon,
  start,
  status,
} from "./browser.mjs";
import { openTimeline, picture, rangeOf } from "./timelines.mjs";

const heads = (page) => page.locator(".tl-head .tl-title").allTextContents();

async function testTracks(context) {
  const server = await start([join(data, "alexnet_a100.json.gz")]);
  const [page, faults] = await openPage(context, server.origin);
  await openTimeline(page, server, "trace");
  const all = await heads(page);
  check(all.length > 4, `${all.length} rows`);
  await soon(page, async () => (await status(page)) !== "");
  const command = await status(page);
  check(/^opscope table events --from -?\d+ns --to \d+ns /.test(command), `command: ${command}`);
  const device = all.find((title) => /cuda:0 (queue|stream)/.test(title));
  const at = all.indexOf(device);
  await page.locator(".tl-head").nth(at).hover();
  await page.locator(".tl-head").nth(at).locator("[aria-label^=Pin]").click();
  await soon(page, async () => /pinned/.test((await heads(page))[0]));
  const pinned = await heads(page);
  check(/pinned/.test(pinned[0]) && pinned[1].includes("cuda:0"), `pinned: ${pinned.slice(0, 2)}`);
  check((await hashOf(page)).includes("pin="), "what is pinned is in the address");
  await page.fill("[aria-label='Filter tracks']", "/^thread \\d+/");
  await soon(page, async () => (await heads(page)).length < pinned.length);
  const some = (await heads(page)).filter((title) => /thread|cuda/.test(title));
  check(some.length >= 2 && some.slice(1).every((t) => /thread \d/.test(t)), `filtered: ${some}`);
  await page.fill("[aria-label='Filter tracks']", "");
  await soon(page, async () => (await heads(page)).length === pinned.length);
  const before = await heads(page);
  const box = await page.locator(".tl-head").nth(1).boundingBox();
  await page.mouse.move(box.x + 500, box.y + 10);
  await page.focus(".tl");
  await page.keyboard.press("x");
  const isHidden = async () => !(await heads(page)).some((t) => t.includes(device.trim()));
  check(await soon(page, isHidden), "x hides the track at the pointer");
  await page.click("text=1 hidden");
  const isBack = async () => (await heads(page)).length === before.length;
  check(await soon(page, isBack), "and there is a way back");
  check(faults.length === 0, `tracks: ${faults[0]}`);
  await page.close();
  server.stop();
}

/** Two recordings of one run, an hour apart, of three steps of which the last one is slow. */
function makeSpans() {
  const steps = [100, 110, 180].flatMap((dur, i) => [
    { ph: "X", cat: "user_annotation", name: `ProfilerStep#${i}`, ts: 200 * i, dur },
    { ph: "X", cat: "cpu_op", name: "aten::mm", ts: 200 * i + 5, dur: dur - 10 },
  ]);
  for (const [i, offset] of [0, 3_600_000_000].entries()) {
    const traceEvents = steps.map((e) => ({ ...e, pid: 7, tid: 7, ts: e.ts + offset + 1000 }));
    const path = join(folder, "spans", `worker0.${1000 + i}.pt.trace.json`);
    writeFileSync(path, JSON.stringify({ schemaVersion: 1, traceEvents }));
  }
}

async function testSteps(context) {
  const server = await start([join(folder, "spans")]);
  const [page, faults] = await openPage(context, server.origin);
  await openTimeline(page, server, "trace");
  const counted = await page.textContent("main.view .traces");
  check(counted === "2 spans", `spans are counted: ${counted}`);
  await soon(page, async () => /--to/.test(await status(page)));
  const [, from, to] = /--from (\d+)ns --to (\d+)ns/.exec(await status(page)) ?? [];
  check(Number(to) - Number(from) < 1_000_000, `the first span is shown: ${from} to ${to}`);
  const rows = await rowsOf(`opscope table steps '${join(folder, "spans")}' --span 1`);
  await openTimeline(page, server, "trace?span=1&steps=2");
  await soon(page, async () => (await rangeOf(page)) !== null);
  const shown = await rangeOf(page);
  const start2 = Number(rows[2].start_ns);
  const end2 = start2 + Number(rows[2].total_ns);
  check(
    shown !== null && shown[0] <= start2 && shown[1] >= end2 && shown[1] - shown[0] < 300_000,
    `the step is brought into sight: ${shown}, ${start2} to ${end2}`,
  );
  await soon(page, async () => /below:/.test(await page.innerText("main.view .tools")));
  const text = await page.innerText("main.view .tools");
  check(/below: step 1, the median one \(7[01]\.000.us\)/.test(text), `the ghost is named: ${text}`);
  await page.waitForTimeout(1000);
  const haunted = await picture(page);
  await page.click("text=the median one");
  check(await soon(page, async () => (await hashOf(page)).includes("ghost=off")), "a click leaves it out");
  check(await soon(page, async () => (await picture(page)) !== haunted), "it is drawn no more");
  check(faults.length === 0, `steps: ${faults[0]}`);
  await page.close();
  server.stop();
}

/** The box of the minimap moves the window; notes are in the address and in the browser. */
async function testMinimap(context) {
  const server = await start([join(data, "demo.pt.trace.json.gz")]);
  const [page, faults] = await openPage(context, server.origin);
  await openTimeline(page, server, "trace?w=10000000+5000000");
  const box = await page.locator(".tl-minimap .box").boundingBox();
  const map = await page.locator("svg.tl-minimap").boundingBox();
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width / 2, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2 + 100, y, { steps: 4 });
  await page.mouse.up();
  await soon(page, async () => (await rangeOf(page))[0] > 15_000_000);
  const [from, to] = await rangeOf(page);
  check(from > 15_000_000 && Math.abs(to - from - 5_000_000) < 50_000, `dragged: ${from} to ${to}`);
  await page.mouse.move(map.x + map.width - 30, y);
  await page.mouse.down();
  await page.mouse.up();
  const isThere = async () => (await rangeOf(page))[0] > from;
  check(await soon(page, isThere), "a click beside the box goes there");
  await page.mouse.wheel(0, -480);
  await soon(page, async () => {
    const [a, b] = await rangeOf(page);
    return b - a < 2_000_000;
  });
  const [left, right] = await rangeOf(page);
  check(Math.abs(4 * (right - left) - 5_000_000) < 100_000, `the wheel zooms: ${right - left}`);
  await page.focus(".tl");
  await page.keyboard.press("Shift+M");
  await page.fill(".notes input", "look here");
  await page.keyboard.press("Tab");
  await soon(page, async () => /look/.test(await hashOf(page)));
  check(/notes=\d+~look/.test(await hashOf(page)), `a note is in the address: ${await hashOf(page)}`);
  check((await page.locator(".tl-flags span").count()) === 1, "and has a flag");
  await openTimeline(page, server, "trace?notes=20000000~one~~22000000%2B9000000~two~~44000000~three");
  const flags = await page.locator(".tl-flags span").all();
  const boxes = await Promise.all(flags.map((flag) => flag.boundingBox()));
  const ruler = await page.locator(".tl-ruler").boundingBox();
  check(boxes.length === 3 && boxes[2].width > 30, `three flags: ${JSON.stringify(boxes)}`);
  for (const [i, flag] of boxes.entries()) {
    check(flag.y + flag.height <= ruler.y, `flag ${i} is above the times of the ruler`);
    check(i === 2 || flag.x + flag.width <= boxes[i + 1].x, `flag ${i} ends before the next`);
  }
  await openTimeline(page, server, "trace");
  check((await page.locator(".tl-flags").count()) === 1, "flags have a row");
  check((await page.inputValue(".notes input")) === "look here", "the browser keeps it");
  await page.click("text=remove");
  await openTimeline(page, server, "trace");
  check((await page.locator(".notes").count()) === 0, "until it is removed");
  check(faults.length === 0, `minimap: ${faults[0]}`);
  await page.close();
  server.stop();
}

async function testLock(context) {
  const server = await start(["--logdir", join(beside, "tb_samples")]);
  const [page, faults] = await openPage(context, server.origin);
  const [run, base] = ["resnet50_num_workers_4", "resnet50_num_workers_0"];
  await page.goto(`${server.origin}/#/diff?run=${run}&cmp=${base}`);
  await settle(page);
  await page.click("text=timelines ›");
  await page.waitForSelector(".trace + .tools + .trace .tl-head");
  const says = (what) => async () => what.test(await page.innerText("main.view"));
  check(await soon(page, says(/locked at step 5/)), "they are locked at a step");
  await page.waitForTimeout(2500);
  const before = [await picture(page, 0), await picture(page, 1)];
  await page.focus(".tl >> nth=0");
  await page.keyboard.press("d");
  await page.waitForTimeout(2000);
  const after = [await picture(page, 0), await picture(page, 1)];
  check(after[0] !== before[0] && after[1] !== before[1], "one key moves both");
  await page.focus(".tl >> nth=1");
  await page.keyboard.press("a");
  const isAgain = (nth) => async () => (await picture(page, nth)) === before[nth];
  check(await soon(page, isAgain(0)), "from below, too");
  check(await soon(page, isAgain(1)), "and back to where they were");
  await page.waitForTimeout(600);
  await page.keyboard.press("z");
  check(await soon(page, async () => (await picture(page, 1)) === after[1], 5), "z goes back from below, too");
  await page.selectOption(".trace + .tools select", "start");
  check(await soon(page, says(/locked at the start/)), "or at the start");
  check(faults.length === 0, `lock: ${faults[0]}`);
  await page.close();
  server.stop();
}

await main(async (browser) => {
  const options = { viewport: { width: 1280, height: 900 } };
  const context = await browser.newContext(options);
  await testTracks(context);
  await testMinimap(context);
  mkdirSync(join(folder, "spans"));
  makeSpans();
  await atRatios(async () => {
    const one = await browser.newContext(options);
    await testSteps(one);
    if (existsSync(join(beside, "tb_samples"))) await testLock(one);
    await one.close();
  });
});
