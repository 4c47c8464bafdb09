#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// step: view-live
// args: --opscope {gcc}/opscope
// needs: browser
// turn: 2
// The step strip, and a page that follows a recording while it is made.
//
//     live.mjs [--opscope PATH]
//
// Steps that a program records appear without the page being loaded again; what is selected stays
// selected, and at the end the page has every step that `opscope table` has.
import { spawn } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { check, compare, data, folder, main, openPage, opscope, rowsOf, settle, start } from "./browser.mjs";

const hash = (page) => page.evaluate(() => decodeURIComponent(window.location.hash));
const nSelected = (page) => page.locator(".strip [role=option][aria-selected=true]").count();

/** The middle of bar I. */
async function middleOf(page, i) {
  const box = await page.locator(".strip [role=option]").nth(i).boundingBox();
  return [box.x + box.width / 2, box.y + box.height / 2];
}

/** A click takes a step, a drag several, and so do arrows with Shift. */
async function testStrip(context) {
  const server = await start([join(data, "demo.pt.trace.json.gz")]);
  const [page, faults] = await openPage(context, server.origin);
  await page.goto(`${server.origin}/#/overview`);
  await settle(page);
  const n = await page.locator(".strip [role=option]").count();
  check(n >= 3, `${n} bars of the demo`);
  const found = await rowsOf(`opscope table quality ${join(data, "demo.pt.trace.json.gz")} --merge`);
  const badge = await page.textContent(".bar .findings", { timeout: 5000 }).catch(() => "");
  check(badge === `⚠ ${found.length}`, `${found.length} findings are told: '${badge}'`);
  await page.mouse.click(...(await middleOf(page, 1)));
  await settle(page);
  const [one] = /steps=[^&]*/.exec(await hash(page)) ?? [""];
  check(one !== "" && !one.includes("-"), `a click takes one step: ${one}`);
  check((await nSelected(page)) === 1, "which is shown");
  await compare(page, "one step");
  await page.mouse.move(...(await middleOf(page, 0)));
  await page.mouse.down();
  await page.mouse.move(...(await middleOf(page, 2)), { steps: 4 });
  await page.mouse.up();
  await settle(page);
  check(/steps=@?\d+-@?\d+/.test(await hash(page)), `a drag takes several: ${await hash(page)}`);
  check((await nSelected(page)) === 3, `${await nSelected(page)} of them are shown`);
  await compare(page, "three steps");
  await page.focus(".strip [role=listbox]");
  for (const key of ["Home", "ArrowRight", "Shift+ArrowRight", "Enter"]) await page.keyboard.press(key);
  await settle(page);
  check((await nSelected(page)) === 2, "arrows with Shift take two");
  await page.goBack();
  await settle(page);
  check((await nSelected(page)) === 3, "back takes the three again");
  check(faults.length === 0, `strip: ${faults[0]}`);
  await page.close();
  server.stop();
}

/** Without steps the strip shows the use of the devices, which selects time. */
async function testUse(context) {
  const path = join(folder, "use.json");
  const traceEvents = Array.from({ length: 100 }, (_, i) => ({
    ...{ ph: "X", cat: "kernel", name: "k", pid: 0, tid: 7, ts: 1000 * i, dur: 5 * i },
    args: { device: 0, stream: 7, correlation: i },
  }));
  writeFileSync(path, JSON.stringify({ traceEvents }));
  const server = await start([path]);
  const [page, faults] = await openPage(context, server.origin);
  await page.goto(`${server.origin}/#/operators`);
  await settle(page);
  await page.waitForSelector(".strip[aria-label='Use of the devices']");
  await page.mouse.click(...(await middleOf(page, 0)));
  await settle(page);
  check(/[?&]t=\d+\+\d+/.test(await hash(page)), `use selects time: ${await hash(page)}`);
  check((await nSelected(page)) >= 1, "which is shown");
  check(faults.length === 0, `use: ${faults[0]}`);
  await page.close();
  server.stop();
}

/** Let PAGE note each picture of the timeline that is black, or of one colour. */
async function logPixels(page) {
  await page.addInitScript(() => {
    window.frames_seen = 0;
    window.frames_empty = [];
    const small = Object.assign(document.createElement("canvas"), { width: 64, height: 32 });
    const context = small.getContext("2d", { willReadFrequently: true });
    const look = () => {
      const canvas = document.querySelector(".tl-canvases canvas");
      if (canvas === null || canvas.style.visibility === "hidden") return;
      context.clearRect(0, 0, 64, 32);
      context.drawImage(canvas, 0, 0, 64, 32);
      const pixels = new Uint32Array(context.getImageData(0, 0, 64, 32).data.buffer);
      window.frames_seen++;
      if (new Set(pixels).size < 3) window.frames_empty.push(performance.now());
    };
    // What is in a canvas when the messages of a frame are done is what was shown.
    const after = new MessageChannel();
    after.port1.onmessage = look;
    const next = () => {
      after.port2.postMessage(0);
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  });
}

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

/** A window in the timeline of a recording that grows, after its first event. */
const WINDOW = "400000000+20000000";

async function testLive(context) {
  const out = join(folder, "live");
  const convnet = join(dirname(opscope), "examples/convnet/convnet");
  const program = spawn(opscope, ["run", "-o", out, "--", convnet, "--steps", "7000", "--batch", "8"], {
    stdio: "ignore",
  });
  const ended = new Promise((done) => program.on("exit", done));
  const isThere = () => {
    try {
      return readdirSync(out).some((name) => name.endsWith(".osc"));
    } catch {
      return false;
    }
  };
  for (let i = 0; i < 100 && !isThere(); i++) await sleep(50);
  const server = await start([out]);
  const [page, faults] = await openPage(context, server.origin);
  await page.goto(`${server.origin}/#/overview`);
  await page.evaluate(() => {
    window.isTheSame = true;
  });
  const nSteps = async () => {
    const text = await page.locator(".strip span").first().textContent({ timeout: 60_000 });
    return Number.parseInt(text, 10) || 0;
  };
  await page.waitForSelector(".strip [role=option]", { timeout: 60_000 });
  // The window stays, too, where it is not that of the selected event.
  const [away, others] = await openPage(context, server.origin, true);
  const elsewhere = `${server.origin}/#/trace?sel=ev:0&w=${encodeURIComponent(WINDOW)}`;
  for (let i = 0; i < 10 && (await away.locator(".detail").count()) === 0; i++) {
    await away.goto("about:blank"); // a refresh before the event was shown left it out
    await away.goto(elsewhere);
    await away.waitForSelector(".detail", { timeout: 3000 }).catch(() => {});
  }
  const [trace, troubles] = await openPage(context, server.origin, true);
  await logPixels(trace);
  await trace.goto(`${server.origin}/#/trace`);
  await page.keyboard.press("]");
  const before = await hash(page);
  check(before.includes("steps="), "a step is selected");
  const seen = new Set();
  let hasEnded = false;
  void ended.then(() => {
    hasEnded = true;
  });
  const widths = [1180, 1280, 1100, 1280];
  while (!hasEnded) {
    seen.add(await nSteps());
    const width = widths.pop();
    if (width !== undefined) await trace.setViewportSize({ width, height: 720 });
    await sleep(200);
  }
  check(seen.size >= 3, `the strip grew: ${[...seen].join(", ")}`);
  for (let i = 0; i < 300 && (await nSteps()) !== 7000; i++) await sleep(100);
  check((await nSteps()) === 7000, `at the end there are ${await nSteps()} steps of 7000`);
  await settle(page);
  const [frames, empty] = await trace.evaluate(() => [window.frames_seen, window.frames_empty.length]);
  check(frames > 20 && empty === 0, `${empty} of ${frames} pictures of the timeline are empty`);
  check(troubles.length === 0, `live trace: ${troubles[0]}`);
  await trace.close();
  await away.bringToFront();
  await settle(away);
  const place = await hash(away);
  check(/sel=ev:\d/.test(place) && place.includes(`w=${WINDOW}&`), `who looked elsewhere is at ${place}`);
  check((await away.locator(".detail").count()) === 1, "and what is selected is shown");
  check(others.length === 0, `live, elsewhere: ${others[0]}`);
  await away.close();
  check(await page.evaluate(() => window.isTheSame === true), "the page was not loaded again");
  check((await hash(page)) === before, "what was selected stays");
  check((await compare(page, "at the end")) > 10, "the numbers are those of the command");
  check(faults.length === 0, `live: ${faults[0]}`);
  await page.close();
  server.stop();
}

await main(async (browser) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 } });
  await testStrip(context);
  await testUse(context);
  await testLive(context);
});
