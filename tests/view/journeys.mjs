#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// step: view-journeys
// args: --opscope {gcc}/opscope
// needs: browser
// What people come for, by keys alone: each question is answered within so many keystrokes, in the
// right view, with the right selection, and every number in sight is the command's.
//
//     journeys.mjs [--opscope PATH]
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, compare, data, folder, main, openPage, rowsOf, settle, soon, start } from "./browser.mjs";

const SLOW = 7; // the step that is slow, of 12

/** A trace whose step SLOW has 20 ms more of one operator, and one that is not there otherwise. */
function writeSlow(path, rank, late) {
  const traceEvents = [];
  let ts = 1000;
  const range = (cat, name, at, dur) =>
    traceEvents.push({ ph: "X", cat, name, pid: 1, tid: 1, ts: at, dur, args: {} });
  for (let step = 0; step < 12; step++) {
    const more = step === SLOW ? late : 0;
    const dur = 1000 + 7 * ((step * 5) % 4) + more;
    range("user_annotation", `ProfilerStep#${step}`, ts, dur);
    range("cpu_op", "aten::mm", ts + 10, 400 + ((step * 3) % 5));
    range("cpu_op", "aten::copy_", ts + 500, 300 + more);
    if (step === SLOW) range("cpu_op", "aten::item", ts + 900 + more, 20);
    ts += dur;
  }
  writeFileSync(path, JSON.stringify({ distributedInfo: { rank }, traceEvents }));
}

/** Press KEYS, and count them. */
async function press(page, keys, counted) {
  for (const key of keys) {
    await page.keyboard.press(key);
    counted.n++;
  }
  await settle(page);
}

const hash = (page) => page.evaluate(() => decodeURIComponent(window.location.hash));
const goesTo = async (page, word) =>
  check(await soon(page, async () => (await hash(page)).includes(word), 8), `${word}: ${await hash(page)}`);
/** Wait until the table of the view has rows: a key before that has no row. */
const hasRows = (page) => page.waitForSelector(".table-view .row [data-v]");
const dockValues = (page) =>
  page.$$eval(".dock [data-v]", (all) => all.map((e) => e.dataset.v));
const dockCommand = (page) => page.getAttribute(".dock [data-command]", "data-command");

async function open(context, args, fragment = "#/overview") {
  const server = await start(args);
  const [page, faults] = await openPage(context, server.origin);
  await page.goto(`${server.origin}/${fragment}`);
  await settle(page);
  const counted = { n: 0 };
  const end = async (name, most) => {
    check(faults.length === 0, `${name}: ${faults[0]}`);
    check(counted.n <= most, `${name}: ${counted.n} keystrokes, at most ${most}`);
    console.log(`${name}: ${counted.n} keystrokes`);
    await page.close();
    server.stop();
  };
  return { page, counted, end };
}

/** Why is step 7 slow? */
async function slowStep(context) {
  const path = join(folder, "slow.json");
  writeSlow(path, 0, 20_000);
  const { page, counted, end } = await open(context, [path]);
  await press(page, ["o"], counted);
  await page.waitForSelector(".dock [data-v]");
  await settle(page);
  check((await hash(page)).includes(`steps=${SLOW}&`), `o selects it: ${await hash(page)}`);
  const rows = await rowsOf(await dockCommand(page));
  const values = await dockValues(page);
  check(rows.length > 3 && values.length === Math.min(24, rows.length), `${values.length} rows`);
  check(
    values.every((v, i) => Number(v) === Number(rows[i].mean_delta_ns)),
    `the dock has what the command prints: ${values[0]}, ${rows[0].mean_delta_ns}`,
  );
  const copy = rows.find((row) => row.name === "aten::copy_");
  check(copy.step === String(SLOW) && Number(copy.mean_delta_ns) === 20e6, `copy_: ${copy.mean_delta_ns}`);
  check(rows.indexOf(copy) < 4, `the operator is row ${rows.indexOf(copy)}`);
  check((await page.textContent(".dock")).includes("aten::copy_"), "it is named");
  const item = rows.find((row) => row.name === "aten::item");
  check(Number(item.mean_delta_ns) === 20_000 && item.median_calls === "0", "what only it has, too");
  await compare(page, "the slow step");
  await press(page, ["t"], counted);
  const step = (await rowsOf(`opscope table steps ${path}`))[SLOW];
  await page.waitForFunction(() => window.location.hash.startsWith("#/trace"));
  const shown = /w=(-?\d+)[+ ](\d+)/.exec(await hash(page));
  check(
    shown !== null && Number(shown[1]) <= Number(step.start_ns) &&
      Number(shown[1]) + Number(shown[2]) >= Number(step.start_ns) + Number(step.total_ns) &&
      Number(shown[2]) < 1.1 * Number(step.total_ns),
    `t shows its time: ${await hash(page)}`,
  );
  check((await page.locator(".dock [data-v]").count()) > 3, "which stays explained");
  await page.keyboard.press("r");
  await page.waitForFunction(() => window.location.hash.includes("table=step_explain"));
  await settle(page);
  await compare(page, "rows of the slow step");
  await end("the slow step", 2);
}

/** From an event to its siblings, and to the step that it is in. */
async function siblings(context) {
  const path = join(folder, "slow.json");
  const all = await rowsOf(`opscope table siblings ${path} --name aten::copy_`);
  const { page, counted, end } = await open(context, [path], `#/trace?sel=ev:${all[0].id}`);
  await page.waitForSelector(".slowest [data-v]");
  await settle(page);
  const said = await page.textContent(".siblings-said");
  check(said.startsWith("12 calls, this is P100"), `what is said: ${said}`);
  const slowest = await page.$$eval(".slowest [data-v]", (list) => list.map((e) => e.dataset.v));
  check(
    slowest.length === 8 && slowest.every((v, i) => v === all[i].dur_ns),
    `the slowest: ${slowest}`,
  );
  check((await page.locator(".histogram rect").count()) >= 2, "there is a histogram");
  const inTime = all.map((row) => Number(row.id)).sort((a, b) => a - b);
  const at = inTime.indexOf(Number(all[0].id));
  const goesTo = (sel) =>
    page
      .waitForFunction((word) => decodeURIComponent(window.location.hash).includes(`sel=${word}`), sel, {
        timeout: 5000,
      })
      .catch(async () => check(false, `${sel}: ${await hash(page)}, ${await page.textContent(".status")}`));
  await press(page, ["."], counted);
  await goesTo(`ev:${inTime[at + 1]}`);
  await press(page, [","], counted);
  await goesTo(`ev:${inTime[at]}`);
  await press(page, ["e"], counted);
  await goesTo(`step:@${SLOW}`);
  await page.waitForSelector(".dock [data-v]");
  check((await dockCommand(page)).includes(`step = ${SLOW}`), "e explains the step of the event");
  await end("siblings", 3);
}

/** Which operator should I fix? */
async function operator(context) {
  const path = join(data, "demo.pt.trace.json.gz");
  const { page, counted, end } = await open(context, [path]);
  await press(page, ["g", "o"], counted);
  check((await hash(page)).startsWith("#/operators"), await hash(page));
  const first = (await rowsOf(`opscope table operators ${path} --merge`))[0].name;
  check((await page.textContent("main.view")).includes(first), `the first one is there: ${first}`);
  await compare(page, "operators");
  await hasRows(page);
  await press(page, ["t"], counted);
  const where = `name = '${first}' and kind = 'operator'`;
  const [slowest] = await rowsOf(`opscope table events ${path} --where "${where}" --sort -dur_ns --limit 1`);
  await goesTo(page, `sel=ev:${slowest.id}`);
  check((await hash(page)).startsWith("#/trace"), "in the trace");
  await end("which operator", 3);
}

/** What eats memory? */
async function memory(context) {
  const path = join(data, "demo.pt.trace.json.gz");
  const { page, counted, end } = await open(context, [path]);
  await press(page, ["g", "m"], counted);
  check((await hash(page)).startsWith("#/memory"), await hash(page));
  const n = await compare(page, "memory");
  check(n > 10, `${n} numbers at the peak`);
  const [largest] = await rowsOf(await page.getAttribute(".table-view", "data-command"));
  await hasRows(page);
  await press(page, ["t"], counted);
  const [longest] = await rowsOf(
    `opscope table events ${path} --where "name = '${largest.name}'" --sort -dur_ns --limit 1`,
  );
  await goesTo(page, `sel=ev:${longest.id}`);
  await end("memory", 3);
}

/** Which rank is late? */
async function rank(context) {
  const paths = [0, 1].map((number) => {
    const path = join(folder, `rank_${number}.json`);
    writeSlow(path, number, number === 1 ? 20_000 : 0);
    return path;
  });
  const { page, counted, end } = await open(context, paths);
  await press(page, ["g", "r"], counted);
  check((await hash(page)).startsWith("#/distributed"), await hash(page));
  const said = await rowsOf(`opscope table headlines ${paths.join(" ")}`);
  const late = said.find((row) => row.view === "distributed").text;
  check((await page.textContent("main.view h1")) === late, `a sentence says who is late: ${late}`);
  await press(page, ["o"], counted);
  await page.waitForSelector(".dock [data-v]");
  await settle(page);
  check((await dockCommand(page)).includes("--rank 1"), `of rank 1: ${await dockCommand(page)}`);
  const rows = await rowsOf(await dockCommand(page));
  const values = await dockValues(page);
  check(values.every((v, i) => Number(v) === Number(rows[i].mean_delta_ns)), "with its numbers");
  await press(page, ["r"], counted);
  await page.waitForFunction(() => window.location.hash.includes("table=step_explain"));
  await settle(page);
  check((await hash(page)).includes("rank=1"), `its rows are of rank 1: ${await hash(page)}`);
  await compare(page, "rows of the late rank");
  await end("the late rank", 4);
}

/** Did my change help? */
async function change(context) {
  const logdir = join(folder, "logdir");
  for (const [name, late] of [
    ["before", 20_000],
    ["now", 0],
  ]) {
    mkdirSync(join(logdir, name), { recursive: true });
    writeSlow(join(logdir, name, "host_1.1700000000000.pt.trace.json"), 0, late);
  }
  const fragment = "#/overview?run=now&cmp=before";
  const { page, counted, end } = await open(context, ["--logdir", logdir], fragment);
  await press(page, ["g", "d"], counted);
  check((await hash(page)).startsWith("#/diff"), await hash(page));
  const title = await page.textContent("main.view h1");
  check(/^A step takes [\d.]+ ms instead of [\d.]+ ms \(-[\d.]+ %\), /.test(title), title);
  check((await compare(page, "the change")) > 3, "numbers of the change");
  await hasRows(page);
  await press(page, ["t"], counted);
  await page.waitForFunction(() => window.location.hash.startsWith("#/trace"));
  await page.waitForSelector(".tl-head");
  const both = async () => (await page.locator(".tl").count()) === 2;
  check(await soon(page, both, 8), "t shows both timelines");
  await end("the change", 3);
}

await main(async (browser) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 } });
  for (const journey of [slowStep, siblings, operator, memory, rank, change]) await journey(context);
});
