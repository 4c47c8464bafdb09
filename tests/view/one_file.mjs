#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// step: view-one-file
// args: --opscope {gcc}/opscope
// needs: browser
// turn: 2
// Open pages that `opscope export -o run.html` wrote in a browser without a network.
//
//     one_file.mjs [--opscope PATH] [NAME...]
//
// Every view must show what the command beside each part prints as CSV; the page asks for
// nothing, logs no error and breaks no rule of its own policy; names that are markup stay text;
// sorting, filtering and the address work as with the server; no page is larger than 3 MB.
// NAME chooses runs. The last line is "N passed, N failed".
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, openSync, readdirSync, readFileSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { beside, check, compare, data, folder, main, makeMarkup, opscope, rowsOf, settle, words } from "./browser.mjs";

const MOST_BYTES = 3_000_000;
const VIEWS = ["overview", "operators", "kernels", "modules", "memory", "distributed", "quality"];

/** The page that the command writes of ARGS. */
function exportPage(name, args) {
  const file = join(folder, `${name}.html`);
  execFileSync(opscope, ["export", ...args, "-o", file], { stdio: ["ignore", "ignore", "pipe"] });
  const bytes = statSync(file).size;
  check(bytes <= MOST_BYTES, `${name}: the page has ${bytes} bytes`);
  return file;
}

/** A tab, and what it should not have done. */
async function openTab(context, file) {
  const page = await context.newPage();
  const faults = [];
  const self = pathToFileURL(file).href;
  page.on("request", (request) => {
    const url = request.url();
    if (url.split("#")[0] !== self && !url.startsWith("data:")) faults.push(`asked for ${url}`);
  });
  page.on("console", (m) => m.type() === "error" && faults.push(`logged ${m.text()}`));
  page.on("pageerror", (error) => faults.push(`threw ${error.message}`));
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) =>
      console.error(`the policy forbids ${event.violatedDirective}`),
    );
  });
  return [page, faults];
}

async function testView(context, file, run, view) {
  const name = `${run.name} ${view}`;
  const [page, faults] = await openTab(context, file);
  await page.goto(`${pathToFileURL(file).href}#/${view}`);
  await settle(page);
  const n = await compare(page, name);
  const least = run.numbers?.[view.split("?")[0]] ?? 0;
  check(n >= least, `${name}: ${n} numbers, fewer than ${least}`);
  check((await page.locator(".problem").count()) === 0, `${name}: something is not in the file`);
  check((await page.locator("main.view img").count()) === 0, `${name}: a name became an image`);
  check((await page.title()) !== "broken", `${name}: a name was run`);
  const note = await page.textContent(".status [role=status]");
  check(/^saved page: /.test(note), `${name}: it says what it leaves out: ${note}`);
  const before = await page.innerText("main.view");
  await page.reload();
  await settle(page);
  check((await page.innerText("main.view")) === before, `${name}: reloading shows something else`);
  check(faults.length === 0, `${name}: ${faults[0]}`);
  await page.close();
}

/** Whether the canvases of the timeline are drawn: how many colours they have. */
function coloursOf(page) {
  return page.evaluate(() => {
    const canvas = document.querySelector("main.view canvas");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
  });
}

async function testTrace(context, file, run) {
  const [page, faults] = await openTab(context, file);
  await page.goto(`${pathToFileURL(file).href}#/trace`);
  await page.waitForSelector("main.view canvas");
  await page.waitForFunction(() => /events on/.test(document.querySelector("h1").textContent));
  await page.waitForTimeout(600);
  const n = await coloursOf(page);
  check(n > 3, `${run.name} trace: the timeline has ${n} colours`);
  const box = await page.locator("main.view canvas").last().boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 3);
  for (let i = 0; i < 8; i++) await page.keyboard.press("w");
  await page.waitForTimeout(400);
  check((await coloursOf(page)) > 1, `${run.name} trace: the timeline is empty when zoomed`);
  check((await page.locator(".problem").count()) === 0, `${run.name} trace: a problem`);
  check(faults.length === 0, `${run.name} trace: ${faults[0]}`);
  await page.close();
}

/** Sorting both ways, filtering, what is absent, another theme, and the way back. */
async function testUse(context, file, run) {
  const [page, faults] = await openTab(context, file);
  const hash = () => page.evaluate(() => decodeURIComponent(window.location.hash));
  await page.goto(`${pathToFileURL(file).href}#/tables?table=operators`);
  await settle(page);
  for (const column of ["calls", "name", "host_self_ns"]) {
    for (const order of ["the first way", "the other way"]) {
      const explain = page.locator(`.grid [aria-label='Explain ${column}']`);
      await explain.locator("xpath=..").locator("button").first().click();
      await settle(page);
      const n = await compare(page, `${run.name} sorted by ${column}, ${order}`);
      check(n > 5 && (await hash()).includes(`${column}`), `${run.name}: sorted by ${column}`);
    }
  }
  for (const text of ["conv", "_A", "it's", "%d_"]) {
    await page.fill("input[type=search]", text);
    await settle(page);
    await compare(page, `${run.name} filtered by ${text}`);
    check((await page.locator(".problem").count()) === 0, `${run.name}: no filter by ${text}`);
  }
  check((await hash()).includes("q=%d_"), `${run.name}: the filter is in the address`);
  await page.goto(`${pathToFileURL(file).href}#/operators?steps=1-1`);
  await page.waitForSelector(".problem");
  const told = await page.textContent(".problem");
  check(/not in this file/.test(told), `${run.name}: what is absent says so: ${told}`);
  check(/opscope table operators --steps 1-1 --merge/.test(told), `${run.name}: ${told}`);
  await page.goBack();
  await settle(page);
  check((await hash()).startsWith("#/tables"), `${run.name}: back goes back`);
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  const before = await theme();
  await page.click("header button[aria-label^='Light or dark']");
  await page.waitForTimeout(200);
  check((await theme()) !== before, `${run.name}: the theme changes`);
  check(faults.length === 0, `${run.name} use: ${faults[0]}`);
  await page.close();
}

/** The selection of the export holds: in the address, which cannot lose it, in each command, in the
 * sentences and in the timeline. */
async function testSelection(context, file, run) {
  const [page, faults] = await openTab(context, file);
  const hash = () => page.evaluate(() => decodeURIComponent(window.location.hash));
  const said = (word) => run.says.every((text) => word.includes(text));
  const rowsFor = (name) => rowsOf(`opscope table ${name} ${run.options} ${run.traces}`);
  await page.goto(`${pathToFileURL(file).href}#/overview`);
  await settle(page);
  const address = await hash();
  check(run.address.every((text) => address.includes(text)), `${run.name}: address ${address}`);
  const headlines = await rowsFor("headlines");
  for (const { view, text } of headlines) {
    await page.goto(`${pathToFileURL(file).href}#/${view}`);
    await settle(page);
    const now = await page.textContent("main.view h1");
    check(now === text, `${run.name} ${view}: ${now}, not ${text}`);
    const evidence = page.locator(".headline a.rows");
    if ((await evidence.count()) === 0) continue;
    const command = await evidence.getAttribute("title");
    check(said(command), `${run.name} ${view}: the evidence is ${command}`);
    await evidence.click();
    await settle(page);
    check((await page.locator(".problem").count()) === 0, `${run.name} ${view}: evidence is absent`);
    check((await compare(page, `${run.name} evidence`)) > 0 || view !== "overview", `${view}: rows`);
  }
  const strip = await page.getAttribute(".strip [data-command]", "data-command");
  check(said(strip), `${run.name}: the command of the strip is ${strip}`);
  for (const chip of await page.locator("header .chip").all()) await chip.click();
  await settle(page);
  check((await hash()).includes(run.address[0]), `${run.name}: nothing takes the selection back`);
  check((await page.locator(".problem").count()) === 0, `${run.name}: nothing else is asked`);
  await page.goto(`${pathToFileURL(file).href}#/tables?table=events`);
  await settle(page);
  const { rows } = await page.evaluate(() => ({
    rows: Number(document.querySelector(".grid").getAttribute("aria-rowcount")) - 1,
  }));
  check(rows === (await rowsFor("events")).length, `${run.name}: the file has ${rows} events`);
  check(faults.length === 0, `${run.name} selection: ${faults[0]}`);
  await page.close();
}

// --- runs --------------------------------------------------------------------------------------

/** A trace of 100 MB: the events of the demo again and again, with names and times of their own. */
function makeLarge() {
  const path = join(folder, "large.json");
  const source = JSON.parse(gunzipSync(readFileSync(join(data, "demo.pt.trace.json.gz"))));
  const ranges = source.traceEvents.filter((e) => e.ph === "X");
  const first = Math.min(...ranges.map((e) => e.ts));
  const span = Math.max(...ranges.map((e) => e.ts + e.dur)) - first + 10;
  const fd = openSync(path, "w");
  let written = writeSync(fd, '{"schemaVersion": 1, "traceEvents": [\n');
  for (let k = 0; written < 100e6; k++) {
    const text = ranges.map((e, i) => {
      const name = i % 50 === 0 ? `${e.name} ${k}.${i}` : e.name;
      return JSON.stringify({ ...e, name, ts: e.ts + k * span + ((k * 7919 + i) % 13) / 100 });
    });
    written += writeSync(fd, `${k > 0 ? ",\n" : ""}${text.join(",\n")}`);
  }
  writeSync(fd, "\n]}\n");
  return path;
}

const demo = join(data, "demo.pt.trace.json.gz");
/** A directory with two recordings of each of two ranks, each of another length. */
function makeRun() {
  const path = join(folder, "run");
  mkdirSync(path);
  for (const rank of [0, 1])
    for (const span of [1, 2]) {
      const traceEvents = [];
      const at = 100_000 * span;
      for (let n = 0; n < 4; n++)
        for (const [name, cat, ts, dur] of [
          [`ProfilerStep#${4 * span + n}`, "user_annotation", 0, 900 + 10 * rank + 30 * span],
          ["aten::mm", "cpu_op", 10, 300 + 100 * rank + 20 * span],
          ["aten::add_", "cpu_op", 500, 50 + n],
        ])
          traceEvents.push({ ph: "X", pid: rank, tid: 1, name, cat, ts: at + 1000 * n + ts, dur });
      const distributedInfo = { rank, world_size: 2 };
      const file = join(path, `w${rank}.${span}.pt.trace.json`);
      writeFileSync(file, JSON.stringify({ traceEvents, distributedInfo }));
    }
  return path;
}

/** Runs of which a part is exported: its options, and what the address and the commands say. */
const [START, END] = [17_000_000, 30_000_000];
const PARTS = [
  ["steps", "--steps 5-6", ["steps=5-6"], ["--steps 5-6"]],
  ["rank", "--rank 1", ["rank=1"], ["--rank 1"]],
  ["span", "--span 2", ["span=2"], ["--span 2"]],
  ["time", `--from ${START}ns --to ${END}ns`, [`t=${START}+${END - START}`], [`--from ${START}ns`, `--to ${END}ns`]],
  ["all", "--rank 0 --span 1 --steps 5-6", ["rank=0", "span=1", "steps=5-6"], ["--rank 0", "--span 1", "--steps 5-6"]],
].map(([name, options, address, says]) => ({
  ...{ name: `part-${name}`, options, address, says },
  views: ["overview", "operators", "memory", "quality", "tables?table=steps", "tables?table=operators"],
}));

const runs = [
  {
    name: "demo",
    args: () => [demo],
    views: [...VIEWS, "tables?table=averages", "tables?table=events", "operators?by=shape"],
    numbers: { overview: 16, operators: 60 },
    isUsed: true,
  },
  { name: "alexnet", args: () => [join(data, "alexnet_a100.json.gz")], numbers: { kernels: 20 } },
  { name: "markup", args: () => [makeMarkup()], numbers: { operators: 2, kernels: 2 } },
  { name: "step", args: () => [demo, "--steps", "3-3"], numbers: { overview: 16, operators: 40 } },
  {
    name: "torch",
    args: () => [join(beside, "torch213/resnet_all/trace.json.gz")],
    needs: join(beside, "torch213"),
    numbers: { memory: 40, modules: 20 },
    isUsed: true,
  },
  {
    name: "resnet",
    args: () => [join(beside, "tb_samples/resnet50_num_workers_0")],
    needs: join(beside, "tb_samples"),
    numbers: { overview: 30, operators: 100, kernels: 60 },
  },
  {
    name: "dlrm",
    args: () => [join(beside, "wild/cuda_v100_dlrm_8ranks")],
    needs: join(beside, "wild/cuda_v100_dlrm_8ranks"),
    views: [
      ...VIEWS,
      "distributed?table=collectives",
      "tables?table=kernels&sort=calls:asc",
      "operators?rank=3",
      "kernels?rank=7",
    ],
    numbers: { overview: 60, distributed: 70 },
  },
  { name: "large", args: () => [makeLarge()], views: ["overview"] },
];

async function testRun(browser, run) {
  const file = exportPage(run.name, run.args());
  const context = await browser.newContext({
    viewport: { width: 1280, height: 720 },
    offline: true,
  });
  for (const view of run.views ?? VIEWS) {
    try {
      await testView(context, file, run, view);
    } catch (error) {
      check(false, `${run.name} ${view}: ${error.message}`);
    }
  }
  await testTrace(context, file, run);
  if (run.isUsed) await testUse(context, file, run);
  if (run.options) await testSelection(context, file, run);
  await context.close();
}

/** What cannot be written says so, and leaves nothing. */
function testFailures() {
  const here = () => readdirSync(folder).sort().join();
  const before = here();
  for (const [target, said] of [
    ["/dev/full", /No space left on device/],
    [join(folder, "none/run.html"), /No such file or directory/],
    [demo, /suffix|inputs/],
  ]) {
    let text = "";
    try {
      const args = ["export", demo, "-o", target, ...(target === demo ? [] : ["-f", "html"])];
      execFileSync(opscope, args, { stdio: ["ignore", "ignore", "pipe"] });
    } catch (error) {
      text = String(error.stderr);
    }
    check(said.test(text), `writing to ${target} says: ${text}`);
  }
  check(here() === before, `failures leave ${here()}`);
}

/** Nothing of a redacted trace is in the page. */
async function testRedacted(browser) {
  const file = join(folder, "redacted.html");
  const args = ["export", demo, "--redact", "--steps", "3-3", "-o", file];
  execFileSync(opscope, args, { stdio: ["ignore", "ignore", "ignore"] });
  const data = /id="data">([^<]*)</.exec(readFileSync(file, "utf8"))[1];
  const inside = gunzipSync(Buffer.from(data, "base64")).toString("latin1");
  check(inside.includes("trace.osc"), "redacted: the page has the name of no file but its own");
  for (const word of ["make_demo_trace", "demo.pt.trace", folder, "opscope-", "ProfilerStep#2"])
    check(!inside.includes(word), `redacted: the page has ${word}`);
  const context = await browser.newContext({ offline: true });
  const [page, faults] = await openTab(context, file);
  await page.goto(`${pathToFileURL(file).href}#/operators`);
  await settle(page);
  check((await page.locator("[data-v]").count()) > 20, "redacted: there are numbers");
  check(faults.length === 0, `redacted: ${faults[0]}`);
  await context.close();
}

await main(async (browser) => {
  const traces = words.length === 0 || words.some((w) => w.startsWith("part")) ? makeRun() : "";
  for (const part of PARTS) {
    const own = part.name === "part-time" ? demo : traces;
    runs.push({ ...part, traces: own, args: () => [own, ...part.options.split(" ")] });
  }
  for (const run of runs) {
    if (words.length > 0 && !words.includes(run.name)) continue;
    if (run.needs !== undefined && !existsSync(run.needs)) continue;
    try {
      await testRun(browser, run);
    } catch (error) {
      check(false, `${run.name}: ${error.message}`);
    }
  }
  if (words.length > 0 && !words.includes("files")) return;
  testFailures();
  await testRedacted(browser);
});
