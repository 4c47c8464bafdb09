#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Use the views of `opscope view` as people do: flame graphs, donuts, ranks, grids, charts.
//
//     views.mjs [--opscope PATH] [NAME...]
//
// Every number is that of the command in the status line; the address alone brings a view back.
// NAME chooses parts. The last line is "N passed, N failed".
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import {
  check,
  data,
  main,
  openPage,
  opscope,
  runAxe,
  settle,
  start,
  words,
} from "./browser.mjs";

const demo = join(data, "demo.pt.trace.json.gz");

const hashOf = (page) => page.evaluate(() => decodeURIComponent(window.location.hash));
const status = (page) => page.textContent(".status code");

/** Open VIEW in a page of its own, let USE work with it, and check that nothing went wrong. */
async function withView(browser, server, view, use) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 720 },
    acceptDownloads: true,
  });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const [page, faults] = await openPage(context, server.origin);
  try {
    await page.goto(`${server.origin}/#/${view}`);
    await settle(page);
    await use(page);
    check(faults.length === 0, `${view}: ${faults[0]}`);
  } catch (error) {
    check(false, `${view}: ${error.message}`);
  }
  await context.close();
}

// --- flame ---------------------------------------------------------------------------------------

/** {frames: [self, total]} of the lines that the command of the status line writes. */
function folded(command) {
  const words = command.replace(/ -o stacks\.folded$/, "").split(" ").slice(1);
  const text = execFileSync(opscope, [...words, "--format", "folded", "-o", "-"], {
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  const found = new Map();
  for (const line of text.split("\n").slice(0, -1)) {
    const cut = line.lastIndexOf(" ");
    const frames = line.slice(0, cut).split(";");
    const value = Number(line.slice(cut + 1));
    for (let n = 1; n <= frames.length; n++) {
      const path = frames.slice(0, n).join(";");
      const [self, total] = found.get(path) ?? [0, 0];
      found.set(path, [self + (n === frames.length ? value : 0), total + value]);
    }
  }
  return found;
}

/** Compare the rows of the flame graph with the file; how many there were. */
async function compareFlame(page, name, root = "") {
  await page.evaluate(() => {
    document.querySelector("main details").open = true;
  });
  const rows = await page.$$eval(".flame-rows tbody tr", (all) =>
    all.map((row) => [
      row.dataset.path,
      Number(row.querySelector("[data-self]").dataset.self),
      Number(row.querySelector("[data-total]").dataset.total),
    ]),
  );
  const right = folded(await status(page));
  const wrong = rows.filter(([path, self, total]) => {
    const [s, t] = right.get(root + path) ?? [];
    return s !== self || t !== total;
  });
  check(wrong.length === 0, `${name}: ${wrong.length} of ${rows.length} rows: ${wrong[0]}`);
  return rows.length;
}

async function testFlame(browser) {
  const server = await start([demo]);
  for (const [stack, metric] of [
    ["op", "host_self_ns"],
    ["op", "calls"],
    ["python", "calls"],
    ["module", "host_self_ns"],
  ])
    await withView(browser, server, `flame?stack=${stack}&metric=${metric}`, async (page) => {
      check((await compareFlame(page, `flame ${stack} ${metric}`)) > 5, `flame ${stack} has rows`);
    });
  await withView(browser, server, "flame?metric=self_alloc_bytes&stack=module", async (page) => {
    const command = await status(page);
    check(command.includes("--metric host_self_ns"), `modules have no memory: ${command}`);
  });
  await withView(browser, server, "flame", async (page) => {
    await page.focus(".flame");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.waitForSelector(".sandwich [data-sandwich]");
    await settle(page);
    const hash = await hashOf(page);
    const name = /sel=name:frame:([^&]*)/.exec(hash)?.[1];
    check(name !== undefined, `the chosen frame is in the address: ${hash}`);
    const right = [...folded(await status(page))].filter(([path]) => {
      const frames = path.split(";");
      return frames.indexOf(name) === frames.length - 1;
    });
    const total = right.reduce((sum, [, [, t]]) => sum + t, 0);
    const shown = await page.getAttribute("[data-sandwich]", "data-sandwich");
    check(Number(shown) === total, `the sandwich of ${name} is ${shown}, not ${total}`);
    await page.focus(".flame");
    for (const key of ["ArrowRight", "ArrowUp", "Home", "Enter"]) await page.keyboard.press(key);
    await page.waitForFunction(() => window.location.hash.includes("root="));
    await settle(page);
    const root = /root=([^&]*)/.exec(await hashOf(page))[1];
    check(!root.includes(";"), "Enter zooms to the outermost frame");
    check((await compareFlame(page, "zoomed")) > 0, "the zoomed frame has rows");
    check((await page.locator(".breadcrumb [aria-current]").textContent()) === root, "breadcrumb");
    await page.focus(".flame");
    await page.keyboard.press("Backspace");
    await page.waitForFunction(() => !window.location.hash.includes("root="));
    await page.fill("input[aria-label='Search frames']", "/conv/");
    await page.waitForSelector("[data-matched]");
    await settle(page);
    const matched = Number(await page.getAttribute("[data-matched]", "data-matched"));
    const all = [...folded(await status(page))];
    const sum = all.filter(([path]) => /conv/i.test(path)).reduce((n, [, [self]]) => n + self, 0);
    check(matched === sum && sum > 0, `${matched} matched, not ${sum}`);
    await runAxe(page, "flame");
  });
  server.stop();
}

const PARTS = { flame: testFlame };

await main(async (browser) => {
  for (const [name, test] of Object.entries(PARTS)) {
    if (words.length > 0 && !words.includes(name)) continue;
    try {
      await test(browser);
    } catch (error) {
      check(false, `${name}: ${error.message}`);
    }
  }
});
