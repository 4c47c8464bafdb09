// SPDX-License-Identifier: Apache-2.0
// What is below a row: frames of call stacks whose places can be copied or opened in an editor, those
// of inputs of one shape, and calls that are places in the trace.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beside, check, compare, folder, hashOf, rowsOf, settle, soon, start, status, withView } from "./browser.mjs";

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
  for (let n = 0; n < 5; n++) {
    event("aten::mm", "cpu_op", 10 + 100 * n, 50 + n + 9 * rank, {
      "External id": n + 1,
      "Input Dims": n === 0 ? [[2, 2]] : [[4, 4], [4, 4]],
      "Call stack": `torch/nn/linear.py(${n < 3 ? 12 : 40}): forward;/home/me/my model.py(7): <module>`,
    });
    event("cudaLaunchKernel", "cuda_runtime", 12 + 100 * n, 3, { correlation: n + 7 });
    traceEvents.push({
      ...{ ph: "X", name: "volta_fp16_s884gemm_fp16_nn", cat: "kernel", pid: 0, tid: 7 },
      ...{ ts: 30 + 100 * n, dur: 20 + n },
      args: { device: 0, stream: 7, correlation: n + 7 },
    });
  }
  writeFileSync(path, JSON.stringify({ traceEvents, distributedInfo: { rank, world_size: 2 } }));
  return path;
}

async function testStacks(page) {
  await page.click("text=stacks");
  await page.waitForSelector(".small-table summary");
  await settle(page);
  check((await page.locator("[aria-label='call stacks'] tbody tr").count()) === 2, "two stacks");
  check((await compare(page, "stacks")) > 8, "stacks have numbers");
  const columns = await columnsOf(page);
  check(columns === STACK_COLUMNS, `stacks have the columns ${columns}`);
  await page.click("[aria-label='call stacks'] summary");
  await page.click(".frames button:has-text('torch/nn/linear.py:12')");
  await page.waitForTimeout(100);
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  check(copied === "torch/nn/linear.py:12", `the place of a frame is copied: ${copied}`);
  const links = page.locator(".frames li").first().locator("xpath=..").locator("a");
  check((await links.count()) === 1, "a place that is no absolute path has no link to an editor");
  const href = await links.getAttribute("href");
  check(href === "vscode://file/home/me/my%20model.py:7", `the link to an editor: ${href}`);
  const title = await links.getAttribute("title");
  check(/VS Code/.test(title) && title.includes("/home/me/my model.py:7"), `it says: ${title}`);
}

const STACK_COLUMNS =
  "calls,device_self_ns,device_total_ns,host_self_ns,host_total_ns,tc_eligible,tc_self_ratio,tc_total_ratio";

/** The columns of the first call stack. */
function columnsOf(page) {
  const cells = page.locator("[aria-label='call stacks'] tbody tr").first().locator("[data-c]");
  return cells.evaluateAll((list) => list.map((e) => e.dataset.c).join());
}

/** Rows by shape open into the stacks and calls of that shape alone. */
async function testShapes(page) {
  await page.locator(".grid .cell[data-c='name']").first().dblclick();
  await page.waitForSelector("[aria-label='call stacks']");
  await settle(page);
  check((await hashOf(page)).includes("sel=shape:[["), "the shape is in the address");
  const rows = page.locator("[aria-label='call stacks'] tbody tr");
  check((await compare(page, "stacks of a shape")) > 8, "stacks of a shape have numbers");
  check((await columnsOf(page)) === STACK_COLUMNS, "stacks of a shape have all columns");
  const calls = await page.locator("[aria-label='call stacks'] [data-c='calls']").allInnerTexts();
  const title = await page.innerText(".below h2");
  const isRight = title.includes("[[2, 2]]")
    ? calls.join() === "1"
    : title.includes("[[4, 4], [4, 4]]") && calls.sort().join() === "2,2";
  check(isRight && (await rows.count()) === calls.length, `${title}: ${calls}`);
  const n = calls.map(Number).reduce((a, b) => a + b);
  await page.click("text=slowest calls");
  await page.waitForSelector(".below .small-table button:has-text('trace')");
  await settle(page);
  await compare(page, "calls of a shape");
  const found = await page.locator(".below .small-table tbody tr").count();
  check(found === n, `${title}: ${found} calls, not ${n}`);
  await page.click("text=all shapes");
  await page.waitForSelector(".below button:has-text('stacks ›')");
  check((await hashOf(page)).includes("sel=name:operator:aten::mm"), "the way back to all shapes");
  await settle(page);
  await page.locator(".below button:has-text('stacks ›')").last().click();
  await page.waitForSelector("[aria-label='call stacks']");
  check((await hashOf(page)).includes("sel=shape:[["), "a shape below a row opens its stacks");
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

/** The filter of kernels finds them by operator, too, once rows have one. */
async function testSearch(page) {
  await page.fill("input[type=search]", "aten::m");
  await page.waitForSelector("button:has-text('operators, too')");
  await settle(page);
  check((await page.locator(".grid .row").count()) === 0, "no kernel has the name of an operator");
  await page.click("button:has-text('operators, too')");
  await page.waitForSelector(".grid .cell[data-c='operator']");
  await settle(page);
  const hash = await hashOf(page);
  check(hash.includes("by=op") && hash.includes("q=aten::m"), `it is in the address: ${hash}`);
  check((await compare(page, "kernels by operator")) > 4, "kernels of an operator have numbers");
  const command = await status(page);
  check(/name like '.*aten::m.*' or operator like/.test(command), `and in the command: ${command}`);
  for (const [text, n] of [["volta", 1], ["/^aten::/", 1], ["no such", 0]]) {
    await page.fill("input[type=search]", text);
    await settle(page);
    const rows = await page.locator(".grid .cell[data-c='operator']").count();
    check(rows === n, `${text} finds ${rows} kernels, not ${n}`);
  }
}

/** A sum leads to the longest of what it counts, and all of it is marked and listed. */
async function testSums(page) {
  const server = new URL(page.url()).origin;
  const rows = (await rowsOf(`opscope table events ${join(folder, "stacks0.json")}`)).filter(
    (row) => row.name === "aten::mm",
  );
  const longest = rows.reduce((a, b) => (Number(b.dur_ns) > Number(a.dur_ns) ? b : a));
  const ways = [
    ["operators", () => page.keyboard.press("t"), "a key in a row"],
    ["operators", () => page.click(".tools button:has-text('trace (t)')"), "the button of the table"],
    ["operators?sel=name:operator:aten::mm", () => page.click(".below button:has-text('trace ›')"), "a row that is open"],
    ["overview", () => page.click(".breakdown button:has-text('cpu_exec')"), "a part of a step"],
    ["tables?table=overview", () => cellOf(page, "cpu_exec"), "a row of parts"],
    ["tables?table=ranges&where=kind%20%3D%20'operator'", () => page.click("text=trace (t)"), "ranges"],
  ];
  for (const [place, go, what] of ways) {
    await page.goto("about:blank");
    await page.goto(`${server}/#/${place}`);
    await settle(page);
    await go();
    const isThere = await soon(page, async () => (await hashOf(page)).startsWith("#/trace"), 5);
    const hash = await hashOf(page);
    check(isThere && hash.includes(`sel=ev:${longest.id}&`), `${what}: ${hash}: the longest`);
    check(/[&]q==/.test(hash), `${what}: ${hash}: all are searched`);
    await settle(page);
    const n = Number(await page.getAttribute(".sheet .grid", "aria-rowcount")) - 1;
    check(n === rows.length, `${what}: ${n} events are listed, not ${rows.length}`);
  }
}

/** Take the row of the grid that has TEXT, and press t. */
async function cellOf(page, text) {
  await page.click(`.grid [role=gridcell]:has-text('${text}')`);
  await page.keyboard.press("t");
}

export async function testBelow(browser) {
  const server = await start([makeStacks()]);
  await withView(browser, server, "operators?sel=name:operator:aten::mm", testStacks);
  await withView(browser, server, "operators", testSums);
  await withView(browser, server, "operators?sel=name:operator:aten::mm", (page) =>
    testCalls(page, "slowest calls"),
  );
  await withView(browser, server, "operators?by=shape", testShapes);
  await withView(browser, server, "kernels", testSearch);
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
