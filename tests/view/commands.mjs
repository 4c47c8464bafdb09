// SPDX-License-Identifier: Apache-2.0
// The command in the status line prints what is shown; where nothing can print it there is none.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { check, compare, data, folder, hashOf, opscope, settle, start, status, withView } from "./browser.mjs";

const demo = join(data, "demo.pt.trace.json.gz");

/** Go to PLACE as a link does, which keeps the page. */
async function follow(page, place) {
  await page.evaluate((hash) => {
    window.location.hash = hash;
  }, `#/${place}`);
}

/** Whether the status line comes to have COMMAND, and stays so. */
async function comesTo(page, command) {
  const isIt = ({ test, text }) => {
    const told = document.querySelector(".status code").textContent;
    return test ? new RegExp(test).test(told) : told === text;
  };
  const wanted = command instanceof RegExp ? { test: command.source } : { text: command };
  await page.waitForFunction(isIt, wanted, { timeout: 5000 }).catch(() => {});
  await page.waitForTimeout(400);
  return page.evaluate(isIt, wanted);
}

async function testDiff(browser, server) {
  await withView(browser, server, "kernels", async (page) => {
    check((await status(page)) !== "", "kernels have a command");
    await follow(page, "diff");
    await page.waitForSelector("select:has-text('choose a run')");
    check(await comesTo(page, ""), `diff without a base: ${await status(page)}`);
    check((await page.locator(".status button").count()) === 0, "nothing is there to copy");
    const base = await page.locator("select >> nth=0 >> option").nth(1).getAttribute("value");
    await page.selectOption("select", base);
    check(await comesTo(page, /^opscope table diff_\w+ /), `diff with one: ${await status(page)}`);
  });
}

/** A page at VIEW of SERVER, which may log that a question failed. */
async function openFailing(browser, server, view) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 } });
  const page = await context.newPage();
  await page.goto(`${server.origin}/#/${view}`);
  await settle(page);
  return page;
}

async function testFlame(browser, server) {
  const page = await openFailing(browser, server, "flame");
  const command = await status(page);
  check(/^opscope export .* -o stacks\.folded$/.test(command), `flame: ${command}`);
  await follow(page, "flame?root=no%20such%20frame");
  await page.waitForSelector(".problem");
  check(await comesTo(page, ""), `no such stacks: ${await status(page)}`);
  await follow(page, "flame");
  check(await comesTo(page, command), `the stacks again: ${await status(page)}`);
  await page.context().close();
}

/** A filter that fails: its rows are not there, and then those of one that does not fail are. */
async function testFilter(browser, server) {
  for (const view of ["operators", "kernels", "tables?table=operators"]) {
    const page = await openFailing(browser, server, view);
    check((await status(page)) !== "", `${view} has a command`);
    const and = view.includes("?") ? "&" : "?";
    await follow(page, `${view}${and}where=no_such_column%3D1`);
    await page.waitForSelector(".problem");
    check(await comesTo(page, ""), `${view}, after a filter that failed: ${await status(page)}`);
    await follow(page, `${view}${and}where=calls%3E0`);
    check(await comesTo(page, /--where "calls>0"/), `${view}, after one: ${await status(page)}`);
    await settle(page);
    await compare(page, `${view}, filtered`);
    await page.context().close();
  }
}

/** The command of advice is that of its rows, also after one of its own was copied. */
async function testAdvice(browser) {
  const server = await start([join(data, "small.json")]);
  await withView(browser, server, "overview", async (page) => {
    const copy = page.locator(".advice .evidence button:has-text('copy') >> nth=0");
    await copy.click();
    check(await comesTo(page, /^opscope table advice /), `advice: ${await status(page)}`);
    await compare(page, "advice");
  });
  server.stop();
}

/** In a saved page, what is shown there and what is not. */
async function testSaved(browser) {
  const file = join(folder, "commands.html");
  execFileSync(opscope, ["export", demo, "-o", file], { stdio: ["ignore", "ignore", "pipe"] });
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 } });
  const page = await context.newPage();
  await page.goto(`${pathToFileURL(file).href}#/operators`);
  await settle(page);
  check(await comesTo(page, /^opscope table operators /), `saved: ${await status(page)}`);
  await follow(page, "trace");
  const events = /^opscope table events --from \d+ns --to \d+ns \S+demo\.pt\.trace\.json\.gz$/;
  check(await comesTo(page, events), `the timeline of a saved page: ${await status(page)}`);
  check((await hashOf(page)).startsWith("#/trace"), "it shows the timeline");
  await follow(page, "operators?steps=1-1");
  await page.waitForSelector(".problem");
  check(await comesTo(page, ""), `what is not in the file: ${await status(page)}`);
  await follow(page, "kernels");
  check(await comesTo(page, /^opscope table kernels /), `kernels: ${await status(page)}`);
  await settle(page);
  await compare(page, "kernels of a saved page");
  await context.close();
}

export async function testCommands(browser) {
  const server = await start([demo]);
  await testDiff(browser, server);
  await testFlame(browser, server);
  await testFilter(browser, server);
  await testAdvice(browser);
  await testSaved(browser);
  server.stop();
}
