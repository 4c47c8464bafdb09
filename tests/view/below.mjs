// SPDX-License-Identifier: Apache-2.0
// What is below a row: frames of call stacks whose places can be copied, and calls that are places
// in the trace.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beside, check, compare, folder, hashOf, settle, start, withView } from "./browser.mjs";

/** A trace of a rank with call stacks, and a module. */
function makeStacks(rank = 0) {
  const path = join(folder, `stacks${rank}.json`);
  const traceEvents = [];
  const event = (name, cat, ts, dur, args) =>
    traceEvents.push({ ph: "X", name, cat, pid: 1, tid: 1, ts, dur, args });
  event("nn.Module: Linear_0", "python_function", 0, 900, {
    "Python id": 1,
    "Python module id": 0,
  });
  for (let n = 0; n < 5; n++)
    event("aten::mm", "cpu_op", 10 + 100 * n, 50 + n + 9 * rank, {
      "Call stack": `torch/nn/linear.py(${n < 3 ? 12 : 40}): forward;train.py(7): <module>`,
    });
  writeFileSync(path, JSON.stringify({ traceEvents, distributedInfo: { rank, world_size: 2 } }));
  return path;
}

async function testStacks(page) {
  await page.click("text=stacks");
  await page.waitForSelector(".small-table summary");
  await settle(page);
  check((await page.locator("[aria-label='call stacks'] tbody tr").count()) === 2, "two stacks");
  check((await compare(page, "stacks")) > 8, "stacks have numbers");
  await page.click("[aria-label='call stacks'] summary");
  await page.click(".frames button:has-text('torch/nn/linear.py:12')");
  await page.waitForTimeout(100);
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  check(copied === "torch/nn/linear.py:12", `the place of a frame is copied: ${copied}`);
}

/** Open the first call below a row; it is in the window, and selected. */
async function testCalls(page, tab) {
  if (tab !== "") await page.click(`text=${tab}`);
  await page.waitForSelector(".below .small-table button:has-text('trace')");
  await settle(page);
  await compare(page, "calls");
  await page.click(".below .small-table button:has-text('trace')");
  await page.waitForFunction(() => window.location.hash.startsWith("#/trace"));
  await page.waitForSelector("canvas");
  check(/w=-?\d+\+\d+&sel=ev:\d+/.test((await hashOf(page)).replaceAll(" ", "+")), "a call has a place in the trace");
}

/** In a run of several ranks each call is selected as itself: rank, start and duration. */
async function testRanks(page, nRanks = 2) {
  const asked = new URL(page.url());
  const rows = page.locator(".below .small-table tbody tr");
  const ranks = new Set();
  await page.click("text=slowest calls");
  await page.waitForSelector(".below .small-table button:has-text('trace')");
  await settle(page);
  const n = await rows.count();
  for (let i = 0; i < n && i < 12; i++) {
    const [rank, start, dur] = await rows.nth(i).evaluate((row) =>
      ["rank", "start_ns", "dur_ns"].map((c) => row.querySelector(`[data-c='${c}']`).dataset.v),
    );
    ranks.add(rank);
    await rows.nth(i).locator("button:has-text('trace')").click();
    await page.waitForFunction(() => window.location.hash.startsWith("#/trace"));
    const hash = await hashOf(page);
    const event = /sel=ev:(\d+)/.exec(hash)?.[1];
    const isOfRank = nRanks === 1 || hash.includes(`rank=${rank}`);
    check(event !== undefined && isOfRank, `${hash}: an event of its rank`);
    const told = await (await fetch(`${asked.origin}/api/v1/event/${event}`)).json();
    const is = [told.rank, told.start_ns, told.dur_ns].join();
    check(is === [rank, start, dur].join(), `event ${event} is ${is}, not ${rank},${start},${dur}`);
    await page.goBack();
    await page.waitForSelector("text=slowest calls");
    await page.click("text=slowest calls");
    await page.waitForSelector(".below .small-table button:has-text('trace')");
    await settle(page);
  }
  check(n > 2 && ranks.size === nRanks, `${n} calls of ranks ${[...ranks]}`);
}

export async function testBelow(browser) {
  const server = await start([makeStacks()]);
  await withView(browser, server, "operators?sel=name:operator:aten::mm", testStacks);
  await withView(browser, server, "operators?sel=name:operator:aten::mm", (page) =>
    testCalls(page, "slowest calls"),
  );
  await withView(browser, server, "modules?sel=name:module:Linear_0", (page) => testCalls(page, ""));
  server.stop();
  const two = await start([makeStacks(), makeStacks(1)]);
  await withView(browser, two, "operators?sel=name:operator:aten::mm", testRanks);
  two.stop();
  // Ids of rows count within the time that is selected; the event is the same.
  const late = await start([makeStacks()]);
  await withView(browser, late, "operators?t=150000+1000000&sel=name:operator:aten::mm", (page) =>
    testRanks(page, 1),
  );
  late.stop();
  const ddp = join(beside, "torch213/ddp2_logdir");
  if (!existsSync(ddp)) return;
  const trained = await start([ddp]);
  await withView(browser, trained, "operators?sel=name:operator:aten::addmm", testRanks);
  trained.stop();
}
