// SPDX-License-Identifier: Apache-2.0
// Two runs, one level at a time: a click goes inside, the way back is there, the address has both.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, compare, folder, hashOf, runAxe, settle, start, withView, rowsOf } from "./browser.mjs";

/** A run of ten steps whose blocks take LONGER microseconds in an operator that has a quote; in
 * RUNS: as rank DIR of that run. */
function makeRun(dir, longer, runs = "") {
  const traceEvents = [];
  const event = (name, cat, ts, dur) =>
    traceEvents.push({ ph: "X", name, cat, pid: 1, tid: 1, ts, dur });
  for (let n = 0; n < 10; n++) {
    const at = n * 1000;
    event(`ProfilerStep#${n}`, "user_annotation", at, 900);
    event("a/block", "user_annotation", at + 10, 300 + longer);
    event("aten::mm", "cpu_op", at + 20, 100);
    event("it's%_", "cpu_op", at + 130, 100 + longer + (n % 2));
    event("aten::add", "cpu_op", at + 500, 50);
  }
  if (runs === "") {
    mkdirSync(join(folder, "pair", dir), { recursive: true });
    writeFileSync(join(folder, "pair", dir, "w.pt.trace.json"), JSON.stringify({ traceEvents }));
    return;
  }
  mkdirSync(join(folder, runs), { recursive: true });
  const rank = { distributedInfo: { backend: "gloo", rank: Number(dir), world_size: 2 } };
  const text = JSON.stringify({ ...rank, traceEvents });
  writeFileSync(join(folder, runs, `worker${dir}.pt.trace.json`), text);
}

const PART = "section[aria-label='Where it changed']";

/** The sentence of the view is there once, beside the other notes. */
async function testSentence(page) {
  const said = (await page.innerText("main.view h1")).replace(/\.$/, "").slice(1);
  const text = await page.innerText("main.view");
  check(said.length > 20 && text.split(said).length === 2, `said once: ${said}`);
  const notes = await page.locator("section[aria-label='Parts of the average step'] li").count();
  const rows = await rowsOf(await page.locator(".section").first().getAttribute("data-command"));
  check(rows.length > 0 && notes > 0, `other notes are there: ${notes}`);
}

async function testInside(page) {
  const open = async (name) => {
    await page.click(`${PART} th button:has-text("${name}")`);
    await settle(page);
  };
  await open("step");
  check((await hashOf(page)).includes("root=step"), "the place is in the address");
  check((await compare(page, "inside the step")) > 20, "it has numbers");
  check((await page.locator(`${PART} .accumulated polyline`).count()) === 3, "changes and times add up");
  await open("a/block");
  const names = await page.locator(`${PART} th button`).allTextContents();
  check(names[0] === "it's%_", `the largest change is first: ${names}`);
  await compare(page, "inside the block");
  await page.click(`${PART} button:has-text("operators inside")`);
  await settle(page);
  check((await hashOf(page)).includes("table=diff_inside"), "the table is in the address");
  const inside = await rowsOf(
    `opscope diff '${join(folder, "pair", "base")}' '${join(folder, "pair", "new")}' ` +
      "--table diff_inside --name step/a/block",
  );
  const listed = await page.locator("main.view [role=grid] [role=row] [role=gridcell]:first-child").allTextContents();
  check(inside.length > 1, `operators in the block: ${inside.length}`);
  check(
    listed.filter((name) => inside.some((row) => row.name === name)).length === inside.length,
    `they are listed: ${listed}`,
  );
  check((await compare(page, "operators inside")) > 20, "with numbers");
  await open("it's%_");
  check((await page.textContent(PART)).includes("nothing inside"), "a leaf says so");
  await page.reload();
  await settle(page);
  const crumbs = await page.locator(`${PART} .breadcrumb button`).allTextContents();
  check(crumbs.join(" ") === "all › step › a/block › it's%_", `the way back: ${crumbs}`);
  await page.click(`${PART} .breadcrumb button:has-text("› step")`);
  await settle(page);
  await page.click(`${PART} [aria-label^='Time of'] button:has-text("device")`);
  await settle(page);
  check((await hashOf(page)).includes("metric=device"), "device time is in the address");
  await compare(page, "device time");
  await runAxe(page, "differences");
}

/** The base becomes the new run, and back. */
async function testExchange(page) {
  const changes = () => page.locator("[data-c=mean_delta_ns]").evaluateAll((all) => all.map((e) => Number(e.dataset.v)));
  const before = await changes();
  await page.click("[aria-label='Exchange base and new']");
  await settle(page);
  const place = await hashOf(page);
  check(place.includes("run=base") && place.includes("cmp=new"), `they are exchanged: ${place}`);
  await compare(page, "exchanged");
  const after = await changes();
  const sum = (all) => all.reduce((whole, v) => whole + v, 0);
  check(before.length > 0 && Math.abs(sum(before) + sum(after)) < 1e-6, "changes have the other sign");
  await page.click("[aria-label='Exchange base and new']");
  await settle(page);
  check((await hashOf(page)).includes("cmp=base"), "and back");
}

/** Two ranks of one run, by the fields of the base. */
async function testRanks(page) {
  await page.fill("[aria-label='rank of the base']", "0");
  await page.keyboard.press("Enter");
  await settle(page);
  check((await hashOf(page)).includes("cmp=ranks:0:"), `the rank is in the address: ${await hashOf(page)}`);
  check((await compare(page, "two ranks")) > 5, "two ranks are compared");
  const path = join(folder, "ranks", "ranks");
  const rows = await rowsOf(`opscope diff '${path}' '${path}' --rank 1 --base-rank 0 --table diff_steps`);
  check(
    rows.some((row) => row.base_ns !== row.new_ns),
    "they differ",
  );
  const shown = await page.locator("[data-c=mean_delta_ns]").first().getAttribute("data-v");
  const known = rows.map((row) => Number(row.mean_delta_ns));
  check(known.includes(Number(shown)), `as the command says: ${shown} of ${known}`);
}

export async function testDifferences(browser) {
  makeRun("base", 0);
  makeRun("new", 80);
  const server = await start(["--logdir", join(folder, "pair")]);
  await withView(browser, server, "diff?run=new&cmp=base", testSentence);
  await withView(browser, server, "diff?run=new&cmp=base", testInside);
  await withView(browser, server, "diff?run=new&cmp=base", testExchange);
  server.stop();
  makeRun("0", 0, "ranks/ranks");
  makeRun("1", 80, "ranks/ranks");
  const ranks = await start(["--logdir", join(folder, "ranks")]);
  await withView(browser, ranks, "diff?run=ranks&rank=1&cmp=ranks", testRanks);
  ranks.stop();
}
