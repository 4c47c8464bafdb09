#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Open every view of `opscope view` in a browser and check what it shows.
//
//     page.mjs [--opscope PATH] [NAME...]
//
// Every number in sight must be what the command beside it prints as CSV; the address alone must
// bring back a view; nothing is asked of another origin, nothing is logged as an error, and axe
// finds nothing serious in either theme. Names in a trace may be markup: they must stay text.
// NAME chooses runs. The last line is "N passed, N failed".
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
const require = createRequire(join(root, "web/package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const words = process.argv.slice(2);
const at = words.indexOf("--opscope");
const opscope = resolve(at < 0 ? join(root, "build-gcc/opscope") : words.splice(at, 2)[1]);
const folder = mkdtempSync(join(tmpdir(), "opscope-page-"));
const beside = join(root, "../shared/data");
const MARKUP = `<img src=x onerror="document.title='broken'">`;
const FLAGS =
  "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run " +
  "--disable-background-networking --disable-component-update --disable-sync";

let passed = 0;
let failed = 0;
const check = (isRight, what) => {
  if (isRight) passed++;
  else {
    failed++;
    console.log(`FAILED ${what}`);
  }
};

// --- what the command prints -------------------------------------------------------------------

/** Rows of CSV as objects by the names of columns. */
function parseCsv(text) {
  const rows = [[]];
  const field = /("(?:[^"]|"")*"|[^,\r\n]*)(,|\r?\n|$)/y;
  while (field.lastIndex < text.length) {
    const [, value, end] = field.exec(text);
    rows.at(-1).push(value.startsWith('"') ? value.slice(1, -1).replaceAll('""', '"') : value);
    if (end !== ",") rows.push([]);
  }
  const [head, ...body] = rows.filter((row) => row.length > 0);
  return body.map((row) => Object.fromEntries(head.map((name, i) => [name, row[i]])));
}

const printed = new Map();
function rowsOf(command) {
  if (!printed.has(command)) {
    const env = { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}` };
    const text = execFileSync("sh", ["-c", `${command} --format csv`], {
      env,
      encoding: "utf8",
      maxBuffer: 1 << 28,
      stdio: ["ignore", "pipe", "ignore"],
    });
    printed.set(command, parseCsv(text));
  }
  return printed.get(command);
}

const isWhole = (text) => /^-?\d+$/.test(text);

function sum(values) {
  if (values.every(isWhole)) return String(values.reduce((all, v) => all + BigInt(v), 0n));
  return String(values.reduce((all, v) => all + Number(v), 0));
}

function statistic(word, values) {
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  if (word === "min") return Math.min(...values);
  if (word === "max") return Math.max(...values);
  if (word === "mean") return mean;
  return Math.sqrt(values.reduce((a, v) => a + (v - mean) ** 2, 0) / values.length);
}

/** The value at PLACE (data-r) of COLUMN: of a row, of the rows behind it, of those of a word. */
function expected(rows, place, column) {
  const of = (list) => list.map((row) => row[column]).filter((v) => v !== undefined && v !== "");
  if (/^\d+$/.test(place)) return rows[Number(place)]?.[column];
  if (/^\d+-$/.test(place)) return sum(of(rows.slice(Number.parseInt(place, 10))));
  if (place.includes("=")) {
    const [by, word] = place.split("=");
    return sum(of(rows.filter((row) => row[by] === (word === "null" ? "" : word))));
  }
  return String(statistic(place, of(rows).map(Number)));
}

function isSame(shown, right) {
  if (shown === right) return true;
  if (right === undefined || right === "" || (isWhole(shown) && isWhole(right))) return false;
  const [a, b] = [Number(shown), Number(right)];
  return Math.abs(a - b) <= 1e-9 * Math.max(1e-6, Math.abs(b));
}

// --- the page ----------------------------------------------------------------------------------

/** Wait until nothing is on its way. */
async function settle(page) {
  await page.waitForSelector("main.view h1");
  await page.waitForFunction(
    () =>
      !document.querySelector(".old, .skeleton") &&
      !/^(…|reading)/.test(document.querySelector("main.view h1").textContent) &&
      [...document.querySelectorAll("[data-command]")].every((e) => e.dataset.command !== ""),
    undefined,
    { timeout: 20_000 },
  );
  await page.waitForTimeout(150);
}

/** Compare every number in sight with its command; how many there were. */
async function compare(page, name) {
  const parts = await page.evaluate(() =>
    [...document.querySelectorAll("[data-command]")].map((part) => ({
      command: part.dataset.command,
      values: [...part.querySelectorAll("[data-v]")].map((e) => ({ ...e.dataset })),
    })),
  );
  let n = 0;
  for (const { command, values } of parts) {
    const rows = rowsOf(command);
    const wrong = values.filter(({ v, r, c }) => !isSame(v, expected(rows, r, c)));
    const told = wrong.map(({ v, r, c }) => `${c} of ${r} is ${v}, not ${expected(rows, r, c)}`);
    n += values.length;
    check(
      wrong.length === 0,
      `${name}: ${command}: ${wrong.length} of ${values.length} values: ${told[0]}`,
    );
  }
  const status = await page.textContent(".status code");
  check(
    parts.some((part) => part.command === status),
    `${name}: no part of the view has the command of the status line: ${status}`,
  );
  return n;
}

async function runAxe(page, name) {
  await page.evaluate(axe);
  for (const theme of ["light", "dark"]) {
    if ((await page.evaluate(() => document.documentElement.dataset.theme)) !== theme) {
      await page.click("header button[aria-label^='Light or dark']");
      await page.waitForTimeout(200);
    }
    const found = await page.evaluate(async () => {
      const { violations } = await globalThis.axe.run(document, { resultTypes: ["violations"] });
      return violations
        .filter((v) => v.impact === "serious" || v.impact === "critical")
        .map((v) => `${v.id}: ${v.nodes.length} x ${v.nodes[0].html.slice(0, 160)}`);
    });
    check(found.length === 0, `${name}, ${theme}: axe: ${found.join("; ")}`);
  }
}

/** A page, and what it asked of others or logged. */
async function openPage(context, origin) {
  const page = await context.newPage();
  const faults = [];
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith("data:")) faults.push(`asked for ${url}`);
  });
  page.on("console", (m) => m.type() === "error" && faults.push(`logged ${m.text()}`));
  page.on("pageerror", (error) => faults.push(`threw ${error.message}`));
  return [page, faults];
}

async function testView(context, server, run, view) {
  const name = `${run.name} ${view}`;
  const [page, faults] = await openPage(context, server.origin);
  await page.goto(`${server.origin}/#/${view}`);
  await settle(page);
  const n = await compare(page, name);
  const least = run.numbers?.[view.split("?")[0]] ?? 0;
  check(n >= least, `${name}: ${n} numbers, fewer than ${least}`);
  const title = await page.textContent("main.view h1");
  const sentence = run.sentence?.[view];
  if (sentence !== undefined) check(sentence.test(title), `${name}: the sentence is '${title}'`);
  check((await page.locator("main.view img").count()) === 0, `${name}: a name became an image`);
  check((await page.title()) !== "broken", `${name}: a name was run`);
  const text = await page.innerText("main.view");
  await page.reload();
  await settle(page);
  check((await page.innerText("main.view")) === text, `${name}: reloading shows something else`);
  await runAxe(page, name);
  check(faults.length === 0, `${name}: ${faults[0]}`);
  await page.close();
}

/** Keys: views, palette, filter, rows that open, explanations, and the way back. */
async function testKeys(context, server) {
  const [page, faults] = await openPage(context, server.origin);
  const hash = () => page.evaluate(() => window.location.hash);
  await page.goto(`${server.origin}/#/overview`);
  await settle(page);
  for (const key of ["g", "o"]) await page.keyboard.press(key);
  await settle(page);
  check((await hash()).startsWith("#/operators"), "g o goes to the operators");
  await page.focus(".grid");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".below");
  await settle(page);
  check((await hash()).includes("sel=name:operator:"), "Enter opens a row, in the address");
  check((await compare(page, "an open row")) > 20, "an open row has numbers");
  await page.keyboard.press("Escape");
  check((await page.locator(".below").count()) === 0, "Escape closes the row");
  await page.goBack();
  await page.waitForSelector(".below");
  await settle(page);
  await page.focus(".grid [aria-label='Explain host_self_ns']");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".dock");
  check((await page.textContent(".dock h2")) === "host_self_ns", "? explains a column");
  await page.fill("input[type=search]", "conv");
  await settle(page);
  check((await hash()).includes("q=conv"), "the filter is in the address");
  check((await compare(page, "filtered")) > 0, "filtered rows are those of the command");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("table memory_peaks");
  await page.keyboard.press("Enter");
  await settle(page);
  check((await hash()).includes("table=memory_peaks"), "the palette goes to a table");
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("]");
  check((await hash()).includes("steps="), "] selects a step");
  await page.keyboard.press("Escape");
  check(!(await hash()).includes("steps="), "Escape takes it back");
  check(faults.length === 0, `keys: ${faults[0]}`);
  await page.close();
}

/** A drag over the curve selects a range for all views, and a click a time. */
async function testCurve(context, server) {
  const [page, faults] = await openPage(context, server.origin);
  const hash = () => page.evaluate(() => window.location.hash);
  await page.goto(`${server.origin}/#/memory`);
  await settle(page);
  const box = await page.locator(".u-over").boundingBox();
  const y = box.y + box.height / 2;
  await page.mouse.click(box.x + box.width / 2, y);
  await page.waitForFunction(() => window.location.hash.includes("sel=at:"));
  await settle(page);
  check((await hash()).includes("table=memory_events"), "a click shows what is alive");
  check((await compare(page, "alive")) > 40, "what is alive has numbers");
  await page.mouse.move(box.x + box.width / 4, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2, y, { steps: 5 });
  await page.mouse.up();
  await page.waitForFunction(() => /[?&]t=\d+\+\d+/.test(decodeURIComponent(window.location.hash)));
  await settle(page);
  const status = await page.textContent(".status code");
  check(/--from \d+ns --to \d+ns/.test(status), `the range is in the command: ${status}`);
  await compare(page, "a range");
  check(faults.length === 0, `curve: ${faults[0]}`);
  await page.close();
}

// --- runs --------------------------------------------------------------------------------------

function makeMarkup() {
  const path = join(folder, "markup.json");
  const event = (name, ts, cat, args) => ({ ph: "X", cat, name, pid: 1, tid: 1, ts, dur: 5, args });
  const traceEvents = [
    event(`aten::${MARKUP}`, 1, "cpu_op", { "External id": 1 }),
    event("cudaLaunchKernel", 2, "cuda_runtime", { correlation: 7, "External id": 1 }),
    {
      ...event(MARKUP, 9, "kernel", { device: 0, stream: 7, correlation: 7, "External id": 1 }),
      pid: 0,
      tid: 7,
    },
  ];
  writeFileSync(path, JSON.stringify({ traceEvents, traceName: MARKUP }));
  return path;
}

const data = join(root, "tests/data");
const VIEWS = ["overview", "operators", "kernels", "modules", "memory", "distributed", "diff"];
const runs = [
  {
    name: "demo",
    args: [join(data, "demo.pt.trace.json.gz")],
    views: [...VIEWS.slice(0, 6), "quality", "tables?table=averages", "operators?by=shape&top=5"],
    numbers: { overview: 16, operators: 60 },
  },
  {
    name: "alexnet",
    args: [join(data, "alexnet_a100.json.gz")],
    views: VIEWS.slice(0, 6),
    numbers: { kernels: 20 },
  },
  {
    name: "markup",
    args: [makeMarkup()],
    views: ["overview", "operators", "kernels", "tables?table=events"],
    numbers: { operators: 2, kernels: 2 },
  },
  {
    name: "resnet",
    args: ["--logdir", join(beside, "tb_samples")],
    needs: join(beside, "tb_samples"),
    views: [...VIEWS.slice(0, 6), "diff?run=resnet50_num_workers_4&cmp=resnet50_num_workers_0"],
    numbers: { overview: 30, operators: 100, kernels: 60, diff: 60 },
    sentence: { operators: /^aten::cudnn_convolution_backward_weight takes 23\.\d\s%/ },
  },
  {
    name: "torch",
    args: [join(beside, "torch213/resnet_all/trace.json.gz")],
    needs: join(beside, "torch213"),
    views: [
      "memory",
      "memory?table=memory_events&sel=at:16925724",
      "memory?t=5000000+5000000",
      "modules",
      "modules?by=annotation",
      "operators?sel=name:operator:aten::add_",
    ],
    numbers: { memory: 40, modules: 20 },
    sentence: { memory: /^Peak 4\.147\sMiB on cpu at 16\.926\sms, with 80 blocks alive\.$/ },
  },
  {
    name: "dlrm",
    args: [join(beside, "wild/cuda_v100_dlrm_8ranks")],
    needs: join(beside, "wild/cuda_v100_dlrm_8ranks"),
    views: ["overview", "operators", "distributed", "distributed?table=collectives"],
    numbers: { overview: 60, distributed: 70 },
    sentence: { distributed: /^Rank 7 makes the others wait 16\.882/ },
  },
];

/** Start `opscope view`; its origin is in the first line of what it says. */
function start(args) {
  const child = spawn(opscope, ["view", "--port", "0", ...args], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  return new Promise((done, fail) => {
    let said = "";
    child.stderr.on("data", (bytes) => {
      said += bytes;
      const found = /view: (http:\/\/[^\s/]+)/.exec(said);
      if (found) done({ origin: found[1], stop: () => child.kill() });
    });
    child.on("exit", () => fail(new Error(`opscope view ended: ${said}`)));
  });
}

async function testRun(browser, run) {
  const server = await start(run.args);
  try {
    const context = await browser.newContext({ viewport: { width: 1280, height: 720 } });
    for (const view of run.views) {
      try {
        await testView(context, server, run, view);
      } catch (error) {
        check(false, `${run.name} ${view}: ${error.message}`);
      }
    }
    if (run.name === "demo") await testKeys(context, server);
    if (run.name === "torch") await testCurve(context, server);
    await context.close();
  } finally {
    server.stop();
  }
}

writeFileSync(join(folder, "opscope"), `#!/bin/sh\nexec '${opscope}' "$@"\n`, { mode: 0o755 });
const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: FLAGS.split(" "),
});
try {
  for (const run of runs) {
    if (words.length > 0 && !words.includes(run.name)) continue;
    if (run.needs !== undefined && !existsSync(run.needs)) continue;
    try {
      await testRun(browser, run);
    } catch (error) {
      check(false, `${run.name}: ${error.message}`);
    }
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
