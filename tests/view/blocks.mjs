// SPDX-License-Identifier: Apache-2.0
// A row of allocations marks its block on the curve of memory.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, compare, folder, hashOf, rowsOf, settle, start, status, withView } from "./browser.mjs";

function makeBlocks() {
  const path = join(folder, "blocks.json");
  const traceEvents = [{ ph: "X", name: "aten::mm", cat: "cpu_op", pid: 1, tid: 1, ts: 0, dur: 900 }];
  let total = 0;
  const memory = (ts, bytes, addr) => {
    total += bytes;
    const args = { "Device Type": 1, "Device Id": 0, Addr: addr, Bytes: bytes };
    const sums = { "Total Allocated": total, "Total Reserved": 1 << 20 };
    const event = { ph: "i", s: "t", name: "[memory]", cat: "cpu_instant_event", pid: 1, tid: 1 };
    traceEvents.push({ ...event, ts, args: { ...args, ...sums } });
  };
  memory(100, 4096, 1);
  memory(200, 8192, 2);
  memory(500, -4096, 1);
  memory(800, -8192, 2);
  writeFileSync(path, JSON.stringify({ traceEvents }));
  return path;
}

/** The pixels of the curve, to see that it changed. */
const drawn = (page) => page.evaluate(() => document.querySelector(".curves canvas").toDataURL());

/** Whether all of the curve is in the window when the grid is. */
async function isInSight(page) {
  await page.$eval(".grid", (grid) => grid.scrollIntoView({ block: "end" }));
  return page.$eval(".curves .u-over", (curve) => {
    const box = curve.getBoundingClientRect();
    const at = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
    return at?.closest(".curves") !== null && box.top >= 0 && box.bottom <= window.innerHeight;
  });
}

/** A click marks a row, keys go on from there, the pointer marks for as long as it is there. */
async function testRows(page) {
  const marks = () => page.getAttribute(".curves", "data-marks");
  const hash = () => hashOf(page);
  const timesOf = (row) =>
    page.$$eval(`.grid [data-r='${row}']`, (cells) =>
      ["alloc_ns", "free_ns"].map((c) => cells.find((e) => e.dataset.c === c)?.dataset.v).join(),
    );
  const [first, second] = [await timesOf(0), await timesOf(1)];
  check(/^\d+,\d+$/.test(first) && first !== second, `two blocks: ${first} and ${second}`);
  await page.click(".grid .cell[data-r='1'] >> nth=0");
  check((await isInSight(page)), "the curve is in sight beside the row");
  check((await marks()) === second, `a click marks ${second}: ${await marks()}`);
  check((await hash()).includes(`sel=block:${second.replace(",", ":")}`), "it is in the address");
  await page.mouse.move(5, 5);
  await page.keyboard.press("ArrowUp");
  await page.waitForTimeout(50);
  check((await marks()) === first, `↑ marks ${first}: ${await marks()}`);
  await page.hover(".grid .cell[data-r='1'] >> nth=0");
  await page.waitForTimeout(50);
  check((await marks()) === second, `the pointer marks ${second}: ${await marks()}`);
  check((await hash()).includes(`sel=block:${first.replace(",", ":")}`), "but is no choice");
  await page.mouse.move(5, 5);
  await page.waitForTimeout(50);
  check((await marks()) === first, `the choice stays: ${await marks()}`);
  // Of what is alive at a time the rows stay the same.
  await page.evaluate(() => {
    window.location.hash = "#/memory?table=memory_events&sel=at:300000";
  });
  await page.waitForSelector(".chip:has-text('alive at')");
  await settle(page);
  const rows = () => page.locator(".grid .cell[data-c='alloc_ns']").allInnerTexts();
  const before = await rows();
  await page.click(".grid .cell[data-r='0'] >> nth=0");
  await settle(page);
  check((await marks()) === (await timesOf(0)), "a block that is alive is marked");
  check((await rows()).join() === before.join(), "the others stay");
  check((await page.locator(".chip:has-text('alive at')").count()) === 1, "and so does the time");
  await page.click(".chip:has-text('marked')");
  await settle(page);
  check((await hash()).includes("sel=at:300000"), "a click takes the marks back, not the time");
}

/** From an operator to its block at the peak, which is marked on the curve. */
async function testPeak(page) {
  const peak = await page.getAttribute(".curves", "data-peak");
  // Which of the view's commands the status line has, depends on the order of their answers.
  const [highest] = await rowsOf(`opscope table memory_peaks ${join(folder, "blocks.json")}`);
  check(peak === highest.peak_ns, `the peak is marked: ${peak}`);
  await page.click(".grid .cell[data-c='name']");
  const [row] = await rowsOf(`opscope table memory_events --at ${peak}ns --sort -bytes ${join(folder, "blocks.json")}`);
  await page.keyboard.press("t");
  await page.waitForFunction(() => window.location.hash.includes("#/trace"));
  await settle(page);
  const detail = await page.innerText(".detail");
  check(detail.includes("[memory]"), `an operator leads to its block at the peak: ${detail}`);
  check(detail.includes(String(row.bytes)), `the largest one, ${row.bytes}: ${detail}`);
}

/** The bytes that are allocated NS after the first block was, by the events of the trace. */
function bytesAt(ns) {
  if (ns < 100_000) return "0 B";
  return ns < 200_000 ? "4 KiB" : ns < 500_000 ? "12 KiB" : ns < 800_000 ? "8 KiB" : "0 B";
}

/** The line of the cursor, what the legend says and what a click lists are of one moment, be there a
 * point of the curve or not. */
async function testMoment(page) {
  const box = await page.locator(".curves .u-over").boundingBox();
  const legend = () =>
    page.$$eval(".curves .u-value", ([time, bytes]) => [time.textContent, bytes.textContent]);
  const line = () =>
    page.$eval(".curves .u-cursor-x", (e) => new DOMMatrix(getComputedStyle(e).transform).e);
  const seen = [];
  for (const share of [0.1, 0.25, 0.4, 0.45, 0.52, 0.57, 0.7, 0.9]) {
    const x = Math.round(box.width * share);
    await page.mouse.move(box.x + x, box.y + 40);
    await page.waitForTimeout(50);
    const [time, bytes] = await legend();
    const at = await line();
    check(Math.abs(at - x) <= 5, `the line is where the pointer is: ${at} and ${x}`);
    await page.mouse.down();
    await page.mouse.up();
    await page.waitForSelector(".chip:has-text('alive at')");
    await settle(page);
    const chip = await page.textContent(".chip:has-text('alive at')");
    check(chip === `alive at ${time} ×`, `the list is of ${chip}, the legend says ${time}`);
    const ns = Number(/sel=at:(\d+)/.exec(await hashOf(page))?.[1]);
    const whole = bytes.replace(/[\s\u00a0]/g, " ").replace(/\.0+ /, " ");
    check(whole === bytesAt(ns), `at ${ns} the legend says ${bytes}, not ${bytesAt(ns)}`);
    seen.push({ at, ns });
  }
  const [first, last] = [seen[0], seen.at(-1)];
  const pixel = (last.ns - first.ns) / (last.at - first.at);
  for (const { at, ns } of seen) {
    const right = first.ns + (at - first.at) * pixel;
    check(Math.abs(right - ns) <= 2 * pixel, `the line is at ${right}, the list of ${ns}`);
  }
}

export async function testBlocks(browser) {
  const server = await start([makeBlocks()]);
  await withView(browser, server, "memory", testMoment);
  await withView(browser, server, "memory", testPeak);
  await withView(browser, server, "memory?table=memory_events", async (page) => {
    const before = await drawn(page);
    await page.focus(".grid");
    await page.keyboard.press("Enter");
    await settle(page);
    const hash = await hashOf(page);
    check(/sel=block:\d+:\d+/.test(hash), `the block is in the address: ${hash}`);
    const chip = await page.textContent(".chip:has-text('marked')");
    check(/marked on the curve: .* to .*/.test(chip), `its times are told: ${chip}`);
    check((await drawn(page)) !== before, "they are marked on the curve");
    await compare(page, "allocations");
    await page.keyboard.press("Escape");
    await settle(page);
    check((await drawn(page)) === before, "Escape takes the marks back");
    await testRows(page);
  });
  await withView(browser, server, "memory?table=memory_events&device=/1/cuda:0", async (page) => {
    const command = await status(page);
    check(command.includes("process = ") && command.includes("cuda:0"), `one device: ${command}`);
    check((await compare(page, "one device")) > 5, "its tables have numbers");
    await page.fill("input[aria-label='Filter']", "mm");
    await page.waitForFunction(() => document.querySelector(".status code").textContent.includes("like"));
    await settle(page);
    const both = await status(page);
    check(both.includes("cuda:0") && both.includes("%mm%"), `a filter is added to it: ${both}`);
    await page.click(".chip:has-text('only cuda:0')");
    await settle(page);
    check(!(await hashOf(page)).includes("device="), "a click shows all devices");
  });
  server.stop();
}
