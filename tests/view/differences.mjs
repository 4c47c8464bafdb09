// SPDX-License-Identifier: Apache-2.0
// Two runs, one level at a time: a click goes inside, the way back is there, the address has both.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, compare, folder, hashOf, runAxe, settle, start, withView, rowsOf } from "./browser.mjs";

/** A run of ten steps whose blocks take LONGER microseconds in an operator that has a quote. */
function makeRun(dir, longer) {
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
  mkdirSync(join(folder, "pair", dir), { recursive: true });
  writeFileSync(join(folder, "pair", dir, "w.pt.trace.json"), JSON.stringify({ traceEvents }));
}

const PART = "section[aria-label='Where it changed']";

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

export async function testDifferences(browser) {
  makeRun("base", 0);
  makeRun("new", 80);
  const server = await start(["--logdir", join(folder, "pair")]);
  await withView(browser, server, "diff?run=new&cmp=base", testInside);
  server.stop();
}
