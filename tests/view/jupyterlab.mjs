#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// step: view-jupyterlab
// args: --opscope {gcc}/opscope --package {module} --lab {lab}
// needs: browser
// mode: full
// Run opscope.view() in a notebook of a real JupyterLab, and look at the page in its frame.
//
//     jupyterlab.mjs [--opscope PATH] --package DIR --lab PROGRAM
//
// PROGRAM is jupyter-lab, whose Python is the one that the package was built for. Every number of
// the page must be what the command beside it prints. The last line is "N passed, N failed".
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { startUntil } from "../../tools/chromium.mjs";
import { check, compare, data, folder, main, rowsOf, settle, words } from "./browser.mjs";

/** The word behind NAME of the command line. */
function option(name, otherwise) {
  const at = words.indexOf(name);
  return resolve(at < 0 ? otherwise : words.splice(at, 2)[1]);
}
const packages = option("--package", "build-gcc/python");
const program = option("--lab", "build-lab/bin/jupyter-lab");
const demo = join(data, "demo.pt.trace.json.gz");
const TOKEN = "a-token-of-the-test";

function writeNotebook(root) {
  const cell = {
    ...{ cell_type: "code", execution_count: null, id: "one", metadata: {}, outputs: [] },
    source: [`import opscope\n`, `opscope.view(${JSON.stringify(demo)})`],
  };
  const kernelspec = { display_name: "Python 3", language: "python", name: "python3" };
  const notebook = { cells: [cell], metadata: { kernelspec }, nbformat: 4, nbformat_minor: 5 };
  mkdirSync(root);
  writeFileSync(join(root, "view.ipynb"), JSON.stringify(notebook));
}

/** Start JupyterLab; its address is in what it says. */
function startLab(root) {
  const home = join(folder, "home");
  mkdirSync(home);
  const env = {
    ...process.env,
    ...{ PYTHONPATH: packages, HOME: home, PYTHONDONTWRITEBYTECODE: "1" },
    ...{ JUPYTER_CONFIG_DIR: home, JUPYTER_DATA_DIR: home, JUPYTER_RUNTIME_DIR: home },
  };
  const args = ["--no-browser", "--allow-root", "--port=0", "--ip=127.0.0.1"];
  args.push(`--ServerApp.root_dir=${root}`, `--IdentityProvider.token=${TOKEN}`);
  return startUntil(program, args, /(http:\/\/127\.0\.0\.1:[1-9]\d*)\/lab/, env);
}

async function testNotebook(browser, lab) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  const faults = [];
  await page.goto(`${lab.address}/lab/tree/view.ipynb?token=${TOKEN}`);
  const cell = page.locator(".jp-Notebook .jp-CodeCell").first();
  await cell.waitFor({ timeout: 120_000 });
  page.on("pageerror", (error) => faults.push(`threw ${error.message}`));
  page.on("request", (request) => {
    const isOurs = request.frame() !== page.mainFrame();
    if (isOurs && !/^(data|blob|about):/.test(request.url())) faults.push(`asked ${request.url()}`);
  });
  // A kernel that is not there yet runs nothing.
  const isIdle = ".jp-Notebook-ExecutionIndicator[data-status='idle']";
  await page.waitForSelector(isIdle, { state: "attached", timeout: 60_000 });
  const output = page.locator(".jp-OutputArea-output");
  // What is run before the kernel is connected is dropped.
  for (let i = 0; i < 8 && (await output.count()) === 0; i++) {
    await cell.locator(".cm-content").click();
    await page.keyboard.press("Shift+Enter");
    await output.first().waitFor({ state: "attached", timeout: 8000 }).catch(() => {});
  }
  const element = await page
    .waitForSelector("iframe[title^=opscope]", { timeout: 20_000 })
    .catch(async () => {
      throw new Error(`the cell shows: ${(await output.allTextContents()).join("\n")}`);
    });
  const frame = await element.contentFrame();
  await settle(frame);
  const n = await compare(frame, "JupyterLab");
  check(n > 16, `the page has ${n} numbers`);
  const rows = await rowsOf(`opscope table headlines ${demo}`);
  const said = await frame.textContent("main.view h1");
  check(said === rows.find((row) => row.view === "overview").text, `the sentence is '${said}'`);
  for (const view of ["Operators", "Memory", "Overview"]) {
    await frame.click(`nav a:has-text("${view}")`);
    await frame.waitForSelector(`nav a[aria-current]:has-text("${view}")`);
    await settle(frame);
    check((await compare(frame, `JupyterLab: ${view}`)) > 0, `${view} has no numbers`);
  }
  await frame.click('nav a:has-text("Trace")');
  await frame.waitForSelector("main.view canvas");
  const box = await element.boundingBox();
  check(box.width > 600 && box.height > 400, `the frame is ${box.width} x ${box.height}`);
  const isApart = await frame.evaluate(() => {
    try {
      return window.parent.document === undefined;
    } catch {
      return true;
    }
  });
  check(isApart, "the page reaches the notebook");
  check(faults.length === 0, `${faults[0]}`);
  if (process.env.PICTURES) await page.screenshot({ path: join(process.env.PICTURES, "lab.png") });
  await context.close();
}

await main(async (browser) => {
  const root = join(folder, "notebooks");
  writeNotebook(root);
  const lab = await startLab(root);
  try {
    await testNotebook(browser, lab);
  } catch (error) {
    check(false, `${error.message}\n${lab.said().slice(-1500)}`);
  } finally {
    lab.stop();
  }
});
