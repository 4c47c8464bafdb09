#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Use the views of `opscope view` as people do: flame graphs, donuts, ranks, grids, charts.
//
//     views.mjs [--opscope PATH] [NAME...]
//
// Every number is that of the command in the status line; the address alone brings a view back.
// NAME chooses parts. The last line is "N passed, N failed".
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  check,
  compare,
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

// --- charts --------------------------------------------------------------------------------------

/** Click BUTTON, and get what is saved. */
async function saved(page, button) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.click(button)]);
  return readFileSync(await download.path());
}

async function testCharts(browser) {
  const server = await start([demo]);
  for (const view of ["operators?chart=pies", "kernels?chart=pies&top=5", "operators"])
    await withView(browser, server, view, async (page) => {
      const least = view.startsWith("operators") ? 40 : 0;
      check((await compare(page, view)) >= least, `${view} has numbers`);
      if (view === "operators?chart=pies") await runAxe(page, view);
    });
  await withView(browser, server, "operators?chart=pies", async (page) => {
    check((await page.locator(".donut").count()) >= 2, "a ring for each measure with time");
    const others = await page.locator(".donut path.fill-other").count();
    check(others >= 2, `all others are one part of each ring: ${others}`);
    const svg = (await saved(page, "[aria-label='Save Operators by time as SVG']")).toString();
    const command = await page.getAttribute("section[data-command]", "data-command");
    check(svg.startsWith("<svg") && svg.includes(command), "the picture has its command");
    check(/opscope \d/.test(svg) && svg.includes("Operators by time"), "and version and title");
    const png = await saved(page, "[aria-label='Save Operators by time as PNG']");
    const box = await page.locator("section[data-command]").first().boundingBox();
    check(png.subarray(1, 4).toString() === "PNG", "PNG is PNG");
    check(Math.abs(png.readUInt32BE(16) - 2 * box.width) < 60, "PNG has two pixels for one");
    await page.click("[aria-label='Rows of Operators by time']");
    await settle(page);
    check((await hashOf(page)).includes("table=operators"), "rows go to the table");
  });
  await withView(browser, server, "modules", async (page) => {
    check((await compare(page, "modules")) > 20, "modules have numbers");
    await page.focus(".flame");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await settle(page);
    check((await hashOf(page)).includes("where=name+="), "Enter shows the rows of a module");
    check((await compare(page, "rows of a module")) > 5, "they are those of the command");
    await page.click("text=by annotation");
    await settle(page);
    check((await hashOf(page)).includes("by=annotation"), "annotations are scopes, too");
  });
  server.stop();
}

const PARTS = { flame: testFlame, charts: testCharts };

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
