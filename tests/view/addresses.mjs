// SPDX-License-Identifier: Apache-2.0
// Addresses that name what there is not, or nothing; views without data.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, compare, data, folder, hashOf, settle, soon, start, status } from "./browser.mjs";

const demo = join(data, "demo.pt.trace.json.gz");

/** What is not there is one sentence, with a way back that shows the view. */
const UNKNOWN = [
  ["nosuch", /^There is no view 'nosuch'\.$/, /./],
  ["overview?run=nope", /^There is no run 'nope' here\.$/, /demo/],
  ["operators?steps=99", /^There is no step '99'/, /all steps/],
  ["kernels?rank=7", /^There is no rank '7' here: the input has rank/, /all ranks/],
  ["overview?rank=x", /^There is no rank 'x'/, /all ranks/],
];

async function testUnknown(page, origin) {
  for (const [address, sentence, way] of UNKNOWN) {
    await page.goto("about:blank");
    await page.goto(`${origin}/#/${address}`);
    await page.waitForSelector("main.view .ways");
    const h1 = await page.textContent("main.view h1");
    const rest = await page.innerText("main.view");
    check(sentence.test(h1), `${address}: ${h1}`);
    check(!/--|correct the query/.test(rest), `${address} says more: ${rest}`);
    const state = () => page.textContent(".status [role=status]");
    check(await soon(page, async () => !/reading/.test(await state()), 5), `${address}: ${await state()}`);
    const button = page.locator("main.view .ways button").first();
    check(way.test(await button.textContent()), `${address} leads back`);
    await button.click();
    await settle(page);
    const now = await page.textContent("main.view h1");
    check(/\d/.test(now) && !now.startsWith("There is no"), `${address}, back: ${now}`);
  }
}

/** What is found by one filter does not stand below the next one, which is wrong. */
async function testWrong(page, origin) {
  for (const [view, right] of [["operators", "conv"], ["modules", "Conv"], ["flame", "conv"]]) {
    await page.goto("about:blank");
    await page.goto(`${origin}/#/${view}`);
    await settle(page);
    const field = page.locator("main input[type=search]").first();
    const found = () => page.locator("section[aria-label*=' by '] [data-v], main.view .row [data-v], [data-matched]").count();
    await field.fill(right);
    check(await soon(page, async () => (await found()) > 0, 5), `${view}: ${right} is found`);
    await field.fill("/add[/");
    const told = () => page.locator("main.view .problem").allTextContents();
    const isTold = async () => (await found()) === 0 && (await told()).length > 0;
    check(await soon(page, isTold, 5), `${view}: ${await found()} values of another filter: ${await told()}`);
    for (const text of await told())
      check(/a \[ is not closedCorrect the pattern/.test(text), `${view}: ${text}`);
  }
}

/** A program that is no training: it has no steps, and but one kind of work. */
function makePlain() {
  const path = join(folder, "plain.json");
  const event = (name, ts, dur) => ({ ph: "X", name, cat: "x", pid: 1, tid: 1, ts, dur });
  writeFileSync(path, JSON.stringify({ traceEvents: [event("read", 0, 40), event("parse", 50, 9)] }));
  return path;
}

const greyed = (page) => page.$$eval(".rail a.empty-view", (list) => list.map((a) => a.textContent));

async function testEmpty(page, origin) {
  await page.goto(`${origin}/`);
  await page.waitForFunction(() => window.location.hash.includes("trace"));
  await settle(page);
  const views = await greyed(page);
  for (const view of ["Overview", "Operators", "Kernels", "Modules", "Memory", "Distributed"])
    check(views.includes(view), `without data ${view} is grey: ${views}`);
  check(!views.includes("Trace") && !views.includes("Quality"), `others are not: ${views}`);
  await page.click(".rail a:has-text('Overview')");
  await settle(page);
  check((await hashOf(page)).includes("#/overview"), "a view without data can be seen");
  const text = await page.innerText("main.view");
  check(!/average step|step 0/i.test(text), `no step is told where there is none: ${text}`);
}

/** Two workers whose names have no rank, at the same time. */
function makeWorkers() {
  return ["alpha", "beta"].map((worker, i) => {
    const path = join(folder, `${worker}.1700000000000.pt.trace.json`);
    const of = { ph: "X", pid: 100 + i, tid: 1 };
    const traceEvents = [
      { ...of, name: "ProfilerStep#0", cat: "user_annotation", ts: 0, dur: 90 },
      { ...of, name: `aten::of_${worker}`, cat: "cpu_op", ts: 10, dur: 50 },
    ];
    writeFileSync(path, JSON.stringify({ traceEvents }));
    return path;
  });
}

async function testProcesses(page, origin) {
  await page.goto(`${origin}/#/operators`);
  await settle(page);
  await page.click("input[aria-controls='choices-process']");
  await page.keyboard.type("101");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => window.location.hash.includes("process=101"));
  await settle(page);
  const names = await page.innerText(".grid");
  check(names.includes("of_beta") && !names.includes("of_alpha"), `one worker: ${names}`);
  check((await status(page)).includes("--process 101"), "the command has the process");
  await compare(page, "one worker of two");
}

export async function testAddresses(browser) {
  for (const [traces, test] of [
    [[demo], testUnknown],
    [[demo], testWrong],
    [[makePlain()], testEmpty],
    [makeWorkers(), testProcesses],
  ]) {
    const server = await start(traces);
    const context = await browser.newContext({ viewport: { width: 1280, height: 720 } });
    const page = await context.newPage();
    page.on("pageerror", (error) => check(false, `an address threw ${error.message}`));
    try {
      await test(page, server.origin);
    } catch (error) {
      check(false, `addresses: ${error.message}`);
    }
    await context.close();
    server.stop();
  }
}
