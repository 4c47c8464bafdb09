// SPDX-License-Identifier: Apache-2.0
// What is below a row: frames of call stacks whose places can be copied, and calls that are places
// in the trace.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, compare, folder, hashOf, settle, start, withView } from "./browser.mjs";

/** A trace with call stacks, and a module. */
function makeStacks() {
  const path = join(folder, "stacks.json");
  const traceEvents = [];
  const event = (name, cat, ts, dur, args) =>
    traceEvents.push({ ph: "X", name, cat, pid: 1, tid: 1, ts, dur, args });
  event("nn.Module: Linear_0", "python_function", 0, 900, {
    "Python id": 1,
    "Python module id": 0,
  });
  for (let n = 0; n < 5; n++)
    event("aten::mm", "cpu_op", 10 + 100 * n, 50 + n, {
      "Call stack": `torch/nn/linear.py(${n < 3 ? 12 : 40}): forward;train.py(7): <module>`,
    });
  writeFileSync(path, JSON.stringify({ traceEvents }));
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

export async function testBelow(browser) {
  const server = await start([makeStacks()]);
  await withView(browser, server, "operators?sel=name:operator:aten::mm", testStacks);
  await withView(browser, server, "operators?sel=name:operator:aten::mm", (page) =>
    testCalls(page, "slowest calls"),
  );
  await withView(browser, server, "modules?sel=name:module:Linear_0", (page) => testCalls(page, ""));
  server.stop();
}
