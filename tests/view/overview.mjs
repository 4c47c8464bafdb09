// SPDX-License-Identifier: Apache-2.0
// The overview: each way to count steps is in the address and in the command, and every number is
// that of the command.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, compare, data, folder, hashOf, rowsOf, runAxe, settle, start, status, withView } from "./browser.mjs";

/** A trace of a rank whose last step launched less than the one before it. */
function makeTail(rank = 0) {
  const path = join(folder, `tail${rank}.json`);
  const traceEvents = [];
  let id = 0;
  const event = (name, cat, ts, dur, args, tid = 1) =>
    traceEvents.push({ ph: "X", name, cat, pid: tid === 7 ? 0 : 1, tid, ts, dur, args });
  for (let n = 0; n < 4; n++) {
    event(`ProfilerStep#${n}`, "user_annotation", n * 1000, 1000 - 100 * rank);
    event("aten::mm", "cpu_op", n * 1000 + 10, 500 + n);
    for (let k = 0; k < (n < 3 ? 4 : 1); k++) {
      id++;
      event("cudaLaunchKernel", "cuda_runtime", n * 1000 + 20 + 50 * k, 5, { correlation: id });
      const at = n * 1000 + 300 + 200 * k;
      event("gemm", "kernel", at, 180, { correlation: id, device: 0, stream: 7 }, 7);
    }
  }
  const deviceProperties = [{ id: 0, name: "Tesla V100", totalGlobalMem: 34084028416, numSms: 80 }];
  const distributedInfo = { rank, world_size: 2 };
  writeFileSync(path, JSON.stringify({ traceEvents, deviceProperties, distributedInfo }));
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

const meanOf = (page) => page.getAttribute(".strip [data-c='avg_ns']", "data-v");
const headline = (page) => page.textContent("main.view h1");

/** NS as a sentence has it. */
function told(ns) {
  return ns < 999_500 ? `${(ns / 1e3).toFixed(0)} us a step;` : `${(ns / 1e6).toFixed(2)} ms a step;`;
}

/** Strip, sentence and table have one average of what is selected and how it is counted. */
async function testMean(page) {
  const steps = "main.view section:has([aria-label='How long a step is'])";
  const each = (await rowsOf(await page.getAttribute(steps, "data-command"))).map((r) => +r.total_ns);
  const ofAll = each.reduce((a, b) => a + b) / each.length;
  check(each.length === 8 && Math.abs((await meanOf(page)) - ofAll) > 1000, "the tail is left out");
  const seen = new Set();
  for (const words of ["", "rank=1", "steps=1-2", "length=annotation", "length=annotation&kept=all",
    "rank=0&steps=2-3&kept=all&priority=cpu_exec"]) {
    await page.goto(`${page.url().split("#")[0]}#/overview?${words}`);
    await settle(page);
    const mean = await meanOf(page);
    const rows = await rowsOf(await page.getAttribute(".strip [data-command]", "data-command"));
    check(mean === rows[0].avg_ns, `${words}: the strip has ${mean}, the table ${rows[0].avg_ns}`);
    const text = await headline(page);
    check(text.startsWith(told(Number(mean))), `${words}: the sentence has it, too: ${text}`);
    const evidence = await page.getAttribute(".headline a.rows", "title");
    check((await rowsOf(evidence))[0].avg_ns === mean, `${words}: and its evidence: ${evidence}`);
    await compare(page, `average of ${words}`);
    seen.add(mean);
    if (/=(annotation|all|cpu)/.test(words)) continue; /* other views count as usual */
    await page.keyboard.press("g");
    await page.keyboard.press("o");
    await settle(page);
    check((await meanOf(page)) === mean, `${words}: another view has the same strip`);
  }
  check(seen.size >= 4, `selections differ: ${[...seen].join(", ")}`);
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
  const two = await start([makeTail(), makeTail(1)]);
  await withView(browser, two, "overview", testMean);
  two.stop();
  const demo = await start([join(data, "demo.pt.trace.json.gz")]);
  await withView(browser, demo, "overview?priority=cpu_exec", async (page) => {
    check((await compare(page, "overview of the demo")) > 40, "its overview has numbers");
  });
  demo.stop();
}
