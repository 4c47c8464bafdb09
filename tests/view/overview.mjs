// SPDX-License-Identifier: Apache-2.0
// The overview: each way to count steps is in the address and in the command, and every number is
// that of the command.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, compare, data, folder, hashOf, runAxe, settle, start, status, withView } from "./browser.mjs";

/** A trace of one rank whose last step launched less than the one before it. */
function makeTail() {
  const path = join(folder, "tail.json");
  const traceEvents = [];
  let id = 0;
  const event = (name, cat, ts, dur, args, tid = 1) =>
    traceEvents.push({ ph: "X", name, cat, pid: tid === 7 ? 0 : 1, tid, ts, dur, args });
  for (let n = 0; n < 4; n++) {
    event(`ProfilerStep#${n}`, "user_annotation", n * 1000, 1000);
    event("aten::mm", "cpu_op", n * 1000 + 10, 500 + n);
    for (let k = 0; k < (n < 3 ? 4 : 1); k++) {
      id++;
      event("cudaLaunchKernel", "cuda_runtime", n * 1000 + 20 + 50 * k, 5, { correlation: id });
      const at = n * 1000 + 300 + 200 * k;
      event("gemm", "kernel", at, 180, { correlation: id, device: 0, stream: 7 }, 7);
    }
  }
  const deviceProperties = [{ id: 0, name: "Tesla V100", totalGlobalMem: 34084028416, numSms: 80 }];
  writeFileSync(path, JSON.stringify({ traceEvents, deviceProperties }));
  return path;
}

/** What the first bar of the average step says. */
const kernelTime = (page) =>
  page.getAttribute(".breakdown [data-r='1'][data-c='avg_ns']", "data-v");

async function testRules(page) {
  check((await compare(page, "overview")) > 60, "the overview has numbers");
  const usual = await kernelTime(page);
  await page.click("[aria-label^='Count cpu_exec first']");
  await settle(page);
  check((await hashOf(page)).includes("priority=cpu_exec"), "the priority is in the address");
  check((await status(page)).includes("--priority cpu_exec"), "and in the command");
  check((await kernelTime(page)) !== usual, "kernels have less, then");
  await compare(page, "cpu_exec first");
  await page.click("[aria-label^='Count runtime first']");
  await settle(page);
  check((await hashOf(page)).includes("priority=runtime,cpu_exec"), "the last is the first");
  await page.click("[aria-label='How long a step is'] button:has-text('annotation')");
  await settle(page);
  check((await hashOf(page)).includes("length=annotation"), "the length is in the address");
  await compare(page, "annotations");
  await page.click("text=count the tail");
  await settle(page);
  const command = await status(page);
  check(/--priority runtime,cpu_exec .*--all-steps/.test(command), `all are in it: ${command}`);
  await compare(page, "the tail");
  const text = await page.innerText("main.view");
  await page.reload();
  await settle(page);
  check((await page.innerText("main.view")) === text, "the address brings all of it back");
  await page.click("[aria-label='Rows of Average step']");
  await settle(page);
  check((await status(page)).includes("--step-length annotation"), "its rows are counted so, too");
  await compare(page, "rows of the average step");
}

async function testCards(page) {
  const text = await page.innerText("main.view");
  for (const word of ["Devices", "Tesla V100", "What to do", "Configuration", "runs on", "Trace"])
    check(text.includes(word), `the overview has ${word}`);
  check(/1 in no average/.test(text), "steps that are left out are told");
  await page.click("[aria-label='Bars or a pie'] button:has-text('pie')");
  await settle(page);
  check((await hashOf(page)).includes("chart=pies"), "the pie is in the address");
  check((await page.locator(".shares-ring path").count()) > 2, "the pie has parts");
  await compare(page, "the pie");
  await runAxe(page, "overview");
}

export async function testOverview(browser) {
  const server = await start([makeTail()]);
  await withView(browser, server, "overview", testRules);
  await withView(browser, server, "overview", testCards);
  server.stop();
  const demo = await start([join(data, "demo.pt.trace.json.gz")]);
  await withView(browser, demo, "overview?priority=cpu_exec", async (page) => {
    check((await compare(page, "overview of the demo")) > 40, "its overview has numbers");
  });
  demo.stop();
}
