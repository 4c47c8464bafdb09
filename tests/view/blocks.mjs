// SPDX-License-Identifier: Apache-2.0
// A row of allocations marks its block on the curve of memory.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, compare, folder, hashOf, settle, start, status, withView } from "./browser.mjs";

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

export async function testBlocks(browser) {
  const server = await start([makeBlocks()]);
  await withView(browser, server, "memory?table=memory_events", async (page) => {
    const before = await drawn(page);
    await page.focus(".grid");
    await page.keyboard.press("Enter");
    await settle(page);
    const hash = await hashOf(page);
    check(/sel=block:\d+:\d+/.test(hash), `the block is in the address: ${hash}`);
    const chip = await page.textContent(".chip:has-text('marked')");
    check(/marked: .* to .*/.test(chip), `its times are told: ${chip}`);
    check((await drawn(page)) !== before, "they are marked on the curve");
    await compare(page, "allocations");
    await page.keyboard.press("Escape");
    await settle(page);
    check((await drawn(page)) === before, "Escape takes the marks back");
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
