#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// step: view-views
// args: --opscope {gcc}/opscope
// needs: browser
// turn: 3
// Use the views of `opscope view` as people do: flame graphs, donuts, ranks, grids, charts.
//
//     views.mjs [--opscope PATH] [NAME...]
//
// Every number is that of the command in the status line; the address alone brings a view back.
// NAME chooses parts. The last line is "N passed, N failed".
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  check,
  compare,
  data,
  folder,
  hashOf,
  main,
  opscope,
  rowsOf,
  runAxe,
  settle,
  soon,
  start,
  status,
  withView,
  words,
} from "./browser.mjs";
import { testAddresses } from "./addresses.mjs";
import { testBelow } from "./below.mjs";
import { testBlocks } from "./blocks.mjs";
import { testCommands } from "./commands.mjs";
import { testDifferences } from "./differences.mjs";
import { testOverview } from "./overview.mjs";
import { testSight } from "./sight.mjs";

const demo = join(data, "demo.pt.trace.json.gz");

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

/** TEXT of the page as files of stacks write it: without blanks. */
const asFolded = (text) => text.replaceAll(" ", "_");

/** What the address has for KEY; null: nothing. */
const valueOf = (page, key) =>
  page.evaluate((k) => new URLSearchParams(window.location.hash.split("?")[1]).get(k), key);

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
    const [s, t] = right.get(asFolded(root + path)) ?? [];
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
    const name = /^name:frame:(.*)$/.exec(await valueOf(page, "sel"))?.[1];
    check(name !== undefined, `the chosen frame is in the address: ${await hashOf(page)}`);
    const right = [...folded(await status(page))].filter(([path]) => {
      const frames = path.split(";");
      return frames.indexOf(asFolded(name)) === frames.length - 1;
    });
    const total = right.reduce((sum, [, [, t]]) => sum + t, 0);
    const shown = await page.getAttribute("[data-sandwich]", "data-sandwich");
    check(Number(shown) === total, `the sandwich of ${name} is ${shown}, not ${total}`);
    await page.focus(".flame");
    for (const key of ["ArrowRight", "ArrowUp", "Home", "Enter"]) await page.keyboard.press(key);
    await page.waitForFunction(() => window.location.hash.includes("root="));
    await settle(page);
    const root = await valueOf(page, "root");
    check(!root.includes(";"), "Enter zooms to the outermost frame");
    check((await compareFlame(page, "zoomed")) > 0, "the zoomed frame has rows");
    const crumb = await page.locator(".breadcrumb [aria-current]").textContent();
    check(asFolded(crumb) === asFolded(root), `breadcrumb: ${crumb}, not ${root}`);
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

/** Branches of the tree of modules are shut and opened, by the pointer, by keys and by levels. */
async function testFolding(page, server) {
  const rows = async () => Number(await page.getAttribute(".grid[aria-label=modules]", "aria-rowcount")) - 1;
  const are = (n) => soon(page, async () => (await rows()) === n, 8);
  await page.goto(`${server.origin}/#/modules`);
  await settle(page);
  const paths = (await rowsOf(await status(page))).map((row) => row.path);
  const all = await rows();
  check(all === paths.length, `all are open: ${all} of ${paths.length}`);
  const root = paths[0];
  const left = paths.filter((path) => !path.startsWith(`${root}/`)).length;
  check(left < all, `something is inside of ${root}`);
  const twig = page.locator(".grid[aria-label=modules] button.twig").first();
  await twig.click();
  check(await are(left), `${root} is shut: ${await rows()}, not ${left}`);
  check((await hashOf(page)).includes(`shut=\n${root}`), `it is in the address: ${await hashOf(page)}`);
  await page.reload();
  await settle(page);
  check(await are(left), "a link shows the same");
  check((await compare(page, "a shut module")) > 5, "its numbers are those of the command");
  await page.focus(".grid[aria-label=modules]");
  await page.keyboard.press("Home");
  const places = await page.locator(".grid[aria-label=modules] [role=columnheader]").allTextContents();
  const at = places.findIndex((text) => /^name/.test(text.trim()));
  for (let i = 0; i < at; i++) await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  check(await are(all), `→ opens it: ${await rows()}`);
  await page.keyboard.press("ArrowLeft");
  check(await are(left), `← shuts it: ${await rows()}`);
  await page.selectOption("label:has-text('levels') select", "1");
  const tops = paths.filter((path) => !paths.some((other) => path.startsWith(`${other}/`))).length;
  check(await are(tops), `one level: ${await rows()}, not ${tops}`);
  await twig.click();
  const inside = paths.filter((path) => path.startsWith(`${root}/`) && !paths.some(
    (other) => other !== root && other.startsWith(`${root}/`) && path.startsWith(`${other}/`),
  )).length;
  check(await are(tops + inside), `a branch of it opens: ${await rows()}, not ${tops + inside}`);
  await page.goto(`${server.origin}/#/modules`);
  await settle(page);
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
    await testFolding(page, server);
    await page.click("text=by annotation");
    await settle(page);
    check((await hashOf(page)).includes("by=annotation"), "annotations are scopes, too");
  });
  server.stop();
}

// --- grids ---------------------------------------------------------------------------------------

/** The command of the status line with FORMAT, as bytes. */
function printed(command, format) {
  const words = splitWords(command).slice(1);
  return execFileSync(opscope, [...words, "--format", format], {
    maxBuffer: 1 << 28,
    stdio: ["ignore", "pipe", "ignore"],
  });
}

/** WORDS of a command line whose quotation marks are single. */
function splitWords(text) {
  const found = text.match(/(?:'[^']*'|[^\s'])+/g) ?? [];
  return found.map((word) => word.replaceAll("'", ""));
}

const clipboard = (page) => page.evaluate(() => navigator.clipboard.readText());

/** Copy as FORMAT, and wait until it is done. */
async function copied(page, format) {
  await page.evaluate(() => navigator.clipboard.writeText(""));
  await page.click(`[aria-label='Copy rows as ${format}']`);
  for (let i = 0; i < 100; i++) {
    const text = await clipboard(page);
    if (text !== "") return text;
    await page.waitForTimeout(50);
  }
  return "";
}

async function testColumns(page) {
  await page.click(".columns-menu summary");
  await page.click(".columns-menu label:has-text('host_total_ns') input");
  await page.click("[aria-label='Pin name']");
  await page.click("[aria-label='Make name wider']");
  await page.click("[aria-label='Move calls right']");
  await page.click(".columns-menu summary");
  await settle(page);
  const hash = await hashOf(page);
  check(/cols=name!:140,host_self_ns,calls,/.test(hash), `columns are in the address: ${hash}`);
  check(!hash.includes("host_total_ns"), "a column is gone");
  const command = await status(page);
  check(command.includes("--columns name,host_self_ns,calls,"), `and in the command: ${command}`);
  check((await page.locator(".grid .cell.pinned").count()) > 5, "the name is pinned");
  check((await compare(page, "chosen columns")) > 40, "chosen columns have numbers");
  const text = await page.innerText(".grid");
  await page.reload();
  await settle(page);
  check((await page.innerText(".grid")) === text, "the address brings columns back");
}

async function testFilters(page) {
  await page.hover(".grid [role=columnheader]:nth-child(2)");
  await page.click("[aria-label='Filter by calls']");
  await page.fill(".funnel input[aria-label='calls']", "15");
  await page.keyboard.press("Enter");
  await settle(page);
  check((await page.inputValue("input.where")) === "calls >= 15", "the funnel writes EXPR");
  await page.fill("input.where", "calls >= 16");
  await page.keyboard.press("Enter");
  await page.fill("input[aria-label='Filter']", "/^aten::(add|mul)_$/");
  await page.waitForFunction(() => document.querySelectorAll(".grid .row").length === 3);
  await settle(page);
  const command = await status(page);
  check(command.includes("regexp '"), `a pattern is in the command: ${command}`);
  check((await compare(page, "filtered")) > 6, "filtered rows have numbers");
  await page.fill("input[aria-label='Filter']", "");
  await page.fill("input.where", "");
  await page.keyboard.press("Enter");
  await settle(page);
}

async function testCopies(page) {
  const command = await status(page);
  for (const format of ["csv", "json", "md"]) {
    const right = printed(command, format).toString();
    check((await copied(page, format)) === right, `copied ${format} is what the command prints`);
    const bytes = await saved(page, `[aria-label='Save rows as ${format}']`);
    check(bytes.toString() === right, `saved ${format} is what the command prints`);
  }
  await page.focus(".grid");
  await page.keyboard.press("Home");
  await page.keyboard.press(" ");
  for (const key of ["ArrowDown", "ArrowDown", " "]) await page.keyboard.press(key);
  check((await page.locator(".grid .row[aria-selected=true]").count()) === 2, "two are chosen");
  const lines = printed(command, "csv").toString().split("\n");
  const some = await copied(page, "csv");
  check(some === `${lines[0]}\n${lines[1]}\n${lines[3]}\n`, `two rows are copied: ${some}`);
  const rows = JSON.parse(await copied(page, "json")).rows;
  check(rows.length === 2, "and are JSON, too");
  await page.focus(".grid");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("s");
  await settle(page);
  check((await hashOf(page)).includes("sort=-calls"), "s sorts by the column of the cursor");
  await page.focus(".grid");
  await page.keyboard.press("?");
  await page.waitForSelector(".dock");
  check((await page.textContent(".dock h2")) === "calls", "? explains it");
}

/** A trace with more rows than a browser lets elements be high. */
function makeLong(rows) {
  const path = join(folder, "long.json");
  const lines = Array.from(
    { length: rows },
    (_, i) => `{"ph":"X","name":"n${i % 9}","pid":1,"tid":1,"ts":${2 * i},"dur":1}`,
  );
  writeFileSync(path, `{"traceEvents":[${lines.join(",\n")}]}`);
  return path;
}

async function testLong(browser) {
  const rows = 700_000;
  const server = await start([makeLong(rows)]);
  await withView(browser, server, "tables?table=events", async (page) => {
    await page.focus(".grid");
    await page.keyboard.press("End");
    await page.waitForSelector(`.grid [data-r='${rows - 1}'][data-c='id']`);
    const last = await page.textContent(`.grid [data-r='${rows - 1}'][data-c='id']`);
    check(last.replace(/\D/g, "") === String(rows - 1), `the last row is reached: ${last}`);
    const count = await page.locator(".grid .row").count();
    check(count < 80, `only rows in sight are in the page: ${count}`);
    const most = await page.evaluate(async () => {
      const grid = document.querySelector(".grid");
      let most = 0;
      grid.scrollTop = 0;
      for (let i = 0; i < 60; i++) {
        grid.scrollTop += 3000;
        await new Promise(requestAnimationFrame);
        most = Math.max(most, grid.querySelectorAll(".row").length);
      }
      return most;
    });
    check(most < 80, `no others while it is scrolled: ${most}`);
  });
  server.stop();
}

async function testGrids(browser) {
  const server = await start([demo]);
  await withView(browser, server, "tables?table=operators", testColumns);
  await withView(browser, server, "tables?table=operators", testFilters);
  await withView(browser, server, "tables?table=operators", testCopies);
  await withView(browser, server, "tables?table=operators", async (page) => {
    await page.waitForSelector(".grid .sums");
    check((await page.locator(".sums [data-c='host_self_ns']").count()) === 1, "times have a sum");
    check((await page.locator(".sums [data-c='host_total_ns']").count()) === 0, "but not nested ones");
    await compare(page, "sums");
    const asked = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.reload();
    await page.waitForSelector(".grid .sums");
    await settle(page);
    const rows = asked.filter((url) => url.includes("/table/operators?"));
    check(rows.length === 1 && rows[0].includes("limit=500"), `sums need no rows: ${rows.join(" ")}`);
    await runAxe(page, "grid");
  });
  await withView(browser, server, "tables?table=memory_events", async (page) => {
    await page.waitForSelector(".grid [data-c='alloc_ns']");
    const bars = (c) => page.locator(`.grid [data-c='${c}'] .bar-of`).count();
    check((await bars("bytes")) > 0, "sizes have bars");
    check((await bars("alloc_ns")) === 0, "moments have none");
  });
  server.stop();
  await testLong(browser);
}

// --- ranks, runs, steps --------------------------------------------------------------------------

async function testRanks(browser) {
  const server = await start([makeRun(6, 5)]);
  await withView(browser, server, "distributed", async (page) => {
    check((await page.textContent("h1")).startsWith("Rank 3 lets"), "the sentence names rank 3");
    const told = await page.textContent("section[aria-label='Ranks by steps'] p");
    check(/Most: rank 3, in step \d/.test(told), `the worst cell is named: ${told}`);
    await page.focus(".heat");
    await page.keyboard.press("Enter");
    await page.waitForSelector("section[aria-label^='Where rank 3 came last']");
    await settle(page);
    check((await hashOf(page)).includes("sel=cell:3:"), "the cell is in the address");
    check((await compare(page, "an open cell")) > 20, "what happened there has numbers");
    await page.click("text=alike");
    check((await hashOf(page)).includes("order=alike"), "the order is in the address");
    await runAxe(page, "distributed");
  });
  // The others come after 0 to 14 us, rank 2 in the middle of them; rank 3 after 1,505.
  const ways = [
    ["distributed", (page) => page.keyboard.press("t"), "the first row"],
    ["distributed", (page) => page.click(".headline button:has-text('trace ›')"), "the sentence"],
    ["distributed?table=collective_calls&sort=-skew_ns", (page) => page.keyboard.press("t"), "a call"],
    ["distributed?sel=cell:3:1:4", (page) => page.click("section[aria-label^='Where rank 3'] button:has-text('trace ›')"), "a cell"],
  ];
  for (const [place, go, what] of ways)
    await withView(browser, server, place, async (page) => {
      await page.waitForSelector(".table-view .row [data-v]");
      await go(page);
      const isThere = async () => /^#\/trace.*cmp=run6:2:1?&.*rank=3/.test(await hashOf(page));
      check(await soon(page, isThere, 8), `${what}: ${await hashOf(page)}`);
      check((await hashOf(page)).includes("lock=clock"), `${what}: locked at the clock`);
      const both = async () => (await page.locator(".tl").count()) === 2;
      check(await soon(page, both, 8), `${what}: both timelines`);
      await page.waitForSelector("aside.detail h2");
      check(/nccl/.test(await page.textContent("aside.detail h2")), `${what}: the collective is selected`);
      await page.waitForTimeout(500);
      const said = await page.innerText(".tools:has(select) strong");
      check(said.startsWith("rank 2"), `${what}: below: ${said}`);
      const [, from, width] = /w=(\d+)\+(\d+)/.exec(await hashOf(page)).map(Number);
      const start = Number(await page.getAttribute("aside.detail td[data-v]", "data-v"));
      const step = Math.floor((start + 4000) / 10_000_000);
      check(from < start - 1_400_000 && from + width > start + 1_600_000, `${what}: ${from}, ${width}: all of step ${step}`);
      check(/common clock/.test(await page.innerText(".tools:has(strong)")), `${what}: by the clock`);
      const queues = await page.$$eval(".tl-head.track", (all) =>
        all.filter((one) => /(queue|stream|thread) 7\b/.test(one.textContent)).map((one) => {
          const body = one.closest(".tl-body").getBoundingClientRect();
          const box = one.getBoundingClientRect();
          return box.top < body.bottom && box.bottom > body.top;
        }),
      );
      const heads = (await page.locator(".tl-head").allTextContents()).join();
      check(queues.join() === "true,true", `${what}: both queues are in sight: ${queues} of ${heads}`);
    });
  const sentence = "Rank 3 lets";
  await withView(browser, server, "distributed?rank=1,3-4", async (page) => {
    check((await page.textContent("h1")).startsWith(sentence), "chosen ranks change no sentence");
    check((await page.locator(".rank-label").count()) === 6, "the map has all ranks");
    const bars = "section[aria-label='Who is late'] tbody tr";
    check((await page.locator(bars).count()) === 3, "bars are of the chosen ranks");
    check((await compare(page, "chosen ranks")) > 20, "chosen ranks have numbers");
  });
  await withView(browser, server, "trace?rank=2", async (page) => {
    await page.waitForSelector(".tl-head");
    const heads = (await page.locator(".tl-head").allInnerTexts()).join(" ");
    check(/rank 2/.test(heads) && !/rank [013-5]/.test(heads), `tracks of one rank: ${heads}`);
  });
  server.stop();
  await testBrokenRank(browser);
  const many = await start([makeRun(300, 3)]);
  await withView(browser, many, "distributed", async (page) => {
    const rows = await page.locator(".rank-label").allTextContents();
    check(rows.length <= 64 && rows.some((row) => row === "rank 3"), `rows: ${rows.join(", ")}`);
    const n = rows.map((row) => Number(/^(\d+) like/.exec(row)?.[1] ?? 1)).reduce((a, b) => a + b);
    check(n === 300, `rows stand for all ranks: ${n}`);
  });
  many.stop();
}

/** A rank whose file is broken is told, and the others are compared. */
async function testBrokenRank(browser) {
  const path = makeRun(5, 4);
  writeFileSync(join(path, "rank4.json"), '{"distributedInfo": {"rank": 4}, "traceEv');
  const server = await start([path]);
  await withView(browser, server, "distributed", async (page) => {
    check((await page.textContent("h1")).startsWith("Rank 3 lets"), "the sentence names rank 3");
    check((await page.locator(".rank-label").count()) === 4, "the ranks that are whole are there");
    check((await compare(page, "a broken rank")) > 20, "they have numbers");
  });
  await withView(browser, server, "quality", async (page) => {
    const told = await page.textContent("main.view");
    check(/rank4\.json/.test(told), "the broken file is named");
  });
  server.stop();
}

/** A run of RANKS ranks and STEPS steps in which rank 3 is late. */
function makeRun(ranks, steps) {
  const path = join(folder, `run${ranks}`);
  mkdirSync(path);
  for (let rank = 0; rank < ranks; rank++) {
    const traceEvents = [];
    for (let n = 1; n <= steps; n++) {
      const at = 1_000_000 + n * 10_000;
      const late = ((rank * 13) % 17) + (rank === 3 && n > 1 ? 1500 : 0);
      const event = (name, cat, ts, dur, args) =>
        traceEvents.push({ ph: "X", name, cat, pid: 9, tid: 1, ts, dur, args });
      event(`ProfilerStep#${n}`, "user_annotation", at - 4000, 9900);
      event("aten::embedding", "cpu_op", at - 3000, 2000 + late);
      event("cudaLaunchKernel", "cuda_runtime", at + late, 5, { correlation: n });
      traceEvents.push({
        ph: "X",
        cat: "kernel",
        name: "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)",
        pid: 0,
        tid: 7,
        ts: at + 10 + late,
        dur: 3200 - late,
        args: {
          correlation: n,
          "Collective name": "allreduce",
          "Process Group Name": "0",
          dtype: "Float",
          "Group size": ranks,
          Seq: n,
          "In msg nelems": 250_000,
          "Out msg nelems": 250_000,
        },
      });
    }
    const distributedInfo = { rank, world_size: ranks };
    writeFileSync(join(path, `rank${rank}.json`), JSON.stringify({ distributedInfo, traceEvents }));
  }
  return path;
}

async function testPickers(browser) {
  const dir = join(folder, "logs");
  mkdirSync(join(dir, "one"), { recursive: true });
  mkdirSync(join(dir, "two"));
  for (const to of ["one", "two"])
    copyFileSync(demo, join(dir, to, "worker0.1623143089861.pt.trace.json.gz"));
  writeFileSync(join(dir, "one", "notes.json"), "hello");
  const server = await start(["--logdir", dir]);
  await withView(browser, server, "operators", async (page) => {
    await page.click("input[aria-controls='choices-span']");
    const spans = await page.textContent("#choices-span");
    check(spans.includes("2021-06-08 09:04:49"), `spans have their time: ${spans}`);
    await page.keyboard.press("Escape");
    await page.click("input[aria-controls='choices-run']");
    const all = await page.textContent(".combobox-popup");
    check(all.includes("notes.json"), `what was not taken is told: ${all}`);
    await page.keyboard.type("tw");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => window.location.hash.includes("run=two"));
    await settle(page);
    check((await status(page)).includes("/two"), "letters find a run");
    await page.fill("input[aria-controls='choices-rank']", "0-0");
    await page.keyboard.press("Enter");
    await settle(page);
    check((await status(page)).includes("--rank 0-0"), "a list of ranks is taken as it is");
    await runAxe(page, "pickers");
  });
  server.stop();
}

/** An event of one of several spans stands among those of its own span. */
async function testSpans(browser) {
  const dir = join(folder, "spans");
  mkdirSync(dir);
  for (const span of [1, 2]) {
    const traceEvents = Array.from({ length: 3 * span }, (_, i) => ({
      ...{ ph: "X", name: "aten::mm", cat: "cpu_op", pid: 1, tid: 1, ts: 1e6 * span + 10 * i },
      dur: 1 + i,
    }));
    writeFileSync(join(dir, `worker0.170000000${span}000.pt.trace.json`), JSON.stringify({ traceEvents }));
  }
  const server = await start([dir]);
  await withView(browser, server, "trace?sel=ev:5", async (page) => {
    const detail = page.locator("aside.detail");
    const said = await detail.locator(".siblings-said").textContent();
    check(/^6 calls/.test(said), `its span has 6 calls: ${said}`);
    check((await detail.locator(".problem").count()) === 0, await detail.innerText());
    check((await detail.locator(".slowest li").count()) === 6, "all of them are there");
  });
  server.stop();
}

async function testSteps(browser) {
  const path = join(folder, "steps.json");
  const traceEvents = [];
  for (let n = 0; n < 1000; n++) {
    const step = { ph: "X", pid: 1, tid: 1, ts: n * 100, dur: n === 777 ? 99 : 50 };
    traceEvents.push({ ...step, name: `ProfilerStep#${n}`, cat: "user_annotation" });
    traceEvents.push({ ...step, name: "aten::mm", cat: "cpu_op", ts: n * 100 + 1, dur: 20 });
  }
  writeFileSync(path, JSON.stringify({ traceEvents }));
  const server = await start([path]);
  await withView(browser, server, "overview", async (page) => {
    const titles = await page.$$eval(".steps-chart svg g > title", (all) => all.map((t) => t.textContent));
    check(titles.length <= 240 && titles.length > 100, `neighbours share bars: ${titles.length}`);
    check(titles.some((t) => t.includes("step 777")), "the longest step is named");
    check(titles.at(-1).includes("999"), `the last step is there: ${titles.at(-1)}`);
    const part = await page.textContent(".steps-chart rect.fill-cpu_exec title");
    check(/^cpu_exec 20\.000\sus, 40\.0\s%; steps 0/.test(part), `a part says its time and share: ${part}`);
    await page.click(".steps-chart .legend button:has-text('cpu_exec')");
    check((await hashOf(page)).includes("hide=cpu_exec"), "the legend filters, in the address");
  });
  server.stop();
}

const PARTS = {
  overview: testOverview,
  below: testBelow,
  blocks: testBlocks,
  commands: testCommands,
  differences: testDifferences,
  flame: testFlame,
  charts: testCharts,
  grids: testGrids,
  ranks: testRanks,
  pickers: testPickers,
  addresses: testAddresses,
  sight: testSight,
  spans: testSpans,
  steps: testSteps,
};

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
