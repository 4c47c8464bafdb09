// SPDX-License-Identifier: Apache-2.0
// What the tests of the page share: `opscope view`, a browser, and the command to compare with.
//
// A test is called with [--opscope PATH] [NAME...]; its last line is "N passed, N failed".
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { promisify } from "node:util";
import { launch, require, root, serve } from "../../tools/chromium.mjs";

export { root };
const run = promisify(execFile);
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

/** The arguments of the test without --opscope. */
export const words = process.argv.slice(2);
const at = words.indexOf("--opscope");
export const opscope = resolve(at < 0 ? join(root, "build-gcc/opscope") : words.splice(at, 2)[1]);
/** For files of the test; removed at its end. */
export const folder = mkdtempSync(join(tmpdir(), "opscope-page-"));
/** Traces of this tree, and those beside it, which may be missing. */
export const data = join(root, "tests/data");
export const beside = join(root, "../shared/data");

let passed = 0;
let failed = 0;
export function check(isRight, what) {
  if (isRight) passed++;
  else {
    failed++;
    console.log(`FAILED ${what}`);
  }
}

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
/** A promise of the rows that COMMAND prints. */
export function rowsOf(command) {
  if (!printed.has(command)) {
    const env = { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}` };
    const options = { env, encoding: "utf8", maxBuffer: 1 << 28 };
    const made = run("sh", ["-c", `${command} --format csv 2>/dev/null`], options);
    printed.set(
      command,
      made.then(({ stdout }) => parseCsv(stdout)),
    );
  }
  return printed.get(command);
}

const isWhole = (text) => /^-?\d+$/.test(text);

function sum(values) {
  if (values.every(isWhole)) return String(values.reduce((all, v) => all + BigInt(v), 0n));
  return String(values.reduce((all, v) => all + Number(v), 0));
}

/** The value at PLACE (data-r) of COLUMN: of a row, of the rows behind it, of those of a word. */
function expected(rows, place, column) {
  const of = (list) => list.map((row) => row[column]).filter((v) => v !== undefined && v !== "");
  if (/^\d+$/.test(place)) return rows[Number(place)]?.[column];
  if (/^\d+-$/.test(place)) return sum(of(rows.slice(Number.parseInt(place, 10))));
  const [by, word] = place.split("=");
  return sum(of(rows.filter((row) => row[by] === (word === "null" ? "" : word))));
}

/** CSV has a sign for the character NUL. */
function isSame(exact, right) {
  const shown = exact.replaceAll("\0", "\u2400");
  if (shown === right) return true;
  if (right === undefined || right === "" || (isWhole(shown) && isWhole(right))) return false;
  const [a, b] = [Number(shown), Number(right)];
  return Math.abs(a - b) <= 1e-9 * Math.max(1e-6, Math.abs(b));
}

// --- traces ------------------------------------------------------------------------------------

const MARKUP = `<img src=x onerror="document.title='broken'">`;

/** A trace whose names are markup. */
export function makeMarkup() {
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

// --- the page ----------------------------------------------------------------------------------

/** Whether nothing is on its way; runs in the page. */
const isAtRest = () =>
  !document.querySelector(".old, .skeleton") &&
  !/^(…|reading)/.test(document.querySelector("main.view h1")?.textContent ?? "…") &&
  [...document.querySelectorAll("[data-command]")].every((e) => e.dataset.command !== "");

/** Wait until nothing is on its way, and still is not a moment later: the view before may be there
 * until the page has heard of its new address. */
export async function settle(page) {
  for (let round = 0; round < 50; round++) {
    await page.waitForFunction(isAtRest, undefined, { timeout: 20_000 });
    await page.waitForTimeout(150);
    if (await page.evaluate(isAtRest)) return;
  }
  throw new Error("the page does not come to rest");
}

/** Compare every number in sight with its command; how many there were. */
export async function compare(page, name) {
  // All at the same moment: commands take a while.
  const { parts, status } = await page.evaluate(() => ({
    parts: [...document.querySelectorAll("[data-command]")].map((part) => ({
      command: part.dataset.command,
      isStrip: part.closest(".strip") !== null,
      values: [...part.querySelectorAll("[data-v]")].map((e) => ({ ...e.dataset })),
    })),
    status: document.querySelector(".status code").textContent,
  }));
  let n = 0;
  for (const { command, values } of parts) {
    const rows = await rowsOf(command);
    const wrong = values.filter(({ v, r, c }) => !isSame(v, expected(rows, r, c)));
    const told = wrong.map(({ v, r, c }) => `${c} of ${r} is ${v}, not ${expected(rows, r, c)}`);
    n += values.length;
    check(
      wrong.length === 0,
      `${name}: ${command}: ${wrong.length} of ${values.length} values: ${told[0]}`,
    );
  }
  check(
    parts.some((part) => part.command === status && !part.isStrip),
    `${name}: no part of the view has the command of the status line: ${status}`,
  );
  return n;
}

/** Whether ISSO(), asked again and again, is true within so many seconds. */
export async function soon(page, isSo, seconds = 20) {
  for (let i = 0; i < 10 * seconds; i++) {
    if (await isSo()) return true;
    await page.waitForTimeout(100);
  }
  return false;
}

export async function runAxe(page, name) {
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

/** A page, and what it asked of others or logged. If its files MAY CHANGE meanwhile, a 409 says so. */
export async function openPage(context, origin, mayChange = false) {
  const page = await context.newPage();
  const faults = [];
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(`${origin}/`) && !url.startsWith("data:")) faults.push(`asked for ${url}`);
  });
  const isNews = (m) => mayChange && m.text().includes("status of 409");
  page.on("console", (m) => m.type() === "error" && !isNews(m) && faults.push(`logged ${m.text()}`));
  page.on("response", (r) => r.status() === 400 && faults.push(`${r.status()} for ${r.url()}`));
  page.on("pageerror", (error) => faults.push(`threw ${error.message}`));
  return [page, faults];
}

export const hashOf = (page) => page.evaluate(() => decodeURIComponent(window.location.hash));
export const status = (page) => page.textContent(".status code");

/** Open VIEW in a page of its own, let USE work with it, and check that nothing went wrong. */
export async function withView(browser, server, view, use) {
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

/** Device pixels for one of the page in contexts that are made now. */
let ratio = 1;

/** Run TEST as on an ordinary screen, and as on one that has two pixels for one: for what looks at
 * pictures. */
export async function atRatios(test) {
  for (ratio of [1, 2]) await test(ratio);
  ratio = 1;
}

/** The same of a page: LOOK at it in a context of OPTIONS. */
export function inPages(browser, options, origin, look) {
  return atRatios(async (of) => {
    const context = await browser.newContext(options);
    const [page, faults] = await openPage(context, origin);
    await look(page, of);
    check(faults.length === 0, `at a ratio of ${of}: ${faults[0]}`);
    await context.close();
  });
}

const servers = new Set();

/** Start `opscope view`. */
export async function start(args) {
  const server = await serve(opscope, args);
  servers.add(server);
  return { origin: new URL(server.address).origin, stop: server.stop };
}

/** Run TEST(browser), print what came of it, and clean up. */
export async function main(test) {
  writeFileSync(join(folder, "opscope"), `#!/bin/sh\nexec '${opscope}' "$@"\n`, { mode: 0o755 });
  const browser = await launch();
  const open = browser.newContext.bind(browser);
  browser.newContext = (options) => open({ deviceScaleFactor: ratio, ...options });
  try {
    await test(browser);
  } catch (error) {
    check(false, `the test ended: ${error.stack}`);
  } finally {
    for (const server of servers) server.stop();
    await browser.close();
    rmSync(folder, { recursive: true });
  }
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
}
