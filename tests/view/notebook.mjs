#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// step: view-notebook
// args: --opscope {gcc}/opscope --package {module}
// needs: browser
// Show what opscope.view() gives to notebooks in a browser: in a page like that of Jupyter, under
// the policy of VS Code's notebooks, and in a frame like Colab's.
//
//     notebook.mjs [--opscope PATH] --package DIR [NAME...]
//
// The page must draw in its frame, show what the command beside each part prints, go from view to
// view, ask for nothing, and not reach the notebook. NAME chooses hosts. The last line is
// "N passed, N failed".
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { check, compare, data, folder, main, settle, words } from "./browser.mjs";

const at = words.indexOf("--package");
const packages = resolve(at < 0 ? "build-gcc/python" : words.splice(at, 2)[1]);
const demo = join(data, "demo.pt.trace.json.gz");

const VSCODE =
  "default-src 'none'; script-src https://vscode.invalid 'unsafe-inline' 'unsafe-eval'; " +
  "style-src https://vscode.invalid 'unsafe-inline'; img-src https://vscode.invalid https: http: " +
  "data:; font-src https:; connect-src https:; child-src https: data:;";
const head = {
  vscode: `<meta http-equiv="Content-Security-Policy" content="${VSCODE}">`,
};
const escape = (text) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");

/** Notebooks around the text of a cell. */
const hosts = {
  jupyter: (text) => `<div class="jp-RenderedHTML">${text}</div>`,
  vscode: (text) => `<div id="container"><div class="output">${text}</div></div>`,
  colab: (text) =>
    `<iframe sandbox="allow-scripts allow-same-origin allow-downloads" width="1200" height="760"
      srcdoc="${escape(`<!doctype html><body>${text}`)}"></iframe>`,
};

/** What a cell shows whose last expression is CODE. */
function cell(code) {
  const program = `import opscope, sys\nsys.stdout.write((${code})._repr_html_())`;
  const env = { ...process.env, PYTHONPATH: packages, PYTHONDONTWRITEBYTECODE: "1" };
  return execFileSync("python3", ["-W", "ignore", "-c", program, demo], {
    env,
    encoding: "utf8",
    maxBuffer: 1 << 24,
  });
}

/** The frame that has the page; and what was asked or logged anywhere. */
async function openHost(context, file) {
  const page = await context.newPage();
  const faults = [];
  const self = pathToFileURL(file).href;
  page.on("request", (request) => {
    const url = request.url();
    if (url !== self && !/^(data:|about:srcdoc)/.test(url)) faults.push(`asked for ${url}`);
  });
  page.on("console", (m) => m.type() === "error" && faults.push(`logged ${m.text()}`));
  page.on("pageerror", (error) => faults.push(`threw ${error.message}`));
  await page.goto(self);
  const element = await page.waitForFunction(() => {
    const find = (document) => {
      const found = document.querySelector("iframe[title^=opscope]");
      const inner = document.querySelector("iframe")?.contentDocument;
      return found ?? (inner ? find(inner) : null);
    };
    return find(document);
  });
  return [page, await element.asElement().contentFrame(), faults];
}

async function testHost(context, name, text) {
  const file = join(folder, `${name}.html`);
  const front = `<!doctype html><meta charset="utf-8">${head[name] ?? ""}`;
  writeFileSync(file, `${front}<body>${hosts[name](text)}`);
  const [page, frame, faults] = await openHost(context, file);
  await settle(frame);
  const n = await compare(frame, `${name} overview`);
  check(n > 16, `${name}: the page has ${n} numbers`);
  await frame.click('nav a:has-text("Trace")');
  await frame.waitForSelector("main.view canvas");
  await frame.waitForTimeout(300);
  for (const view of ["Operators", "Memory", "Overview"]) {
    await frame.click(`nav a:has-text("${view}")`);
    await frame.waitForSelector(`nav a[aria-current]:has-text("${view}")`);
    await settle(frame);
    check((await compare(frame, `${name} ${view}`)) > 0, `${name}: ${view} has no numbers`);
  }
  const isApart = await frame.evaluate(() => {
    try {
      return window.parent.document === undefined;
    } catch {
      return true;
    }
  });
  check(isApart, `${name}: the page reaches the notebook`);
  const box = await (await frame.frameElement()).boundingBox();
  check(box.width > 900 && box.height === 720, `${name}: ${box.width} x ${box.height}`);
  check(faults.length === 0, `${name}: ${faults[0]}`);
  if (process.env.PICTURES) await page.screenshot({ path: join(process.env.PICTURES, `${name}.png`) });
  await page.close();
}

await main(async (browser) => {
  const text = cell("opscope.view(sys.argv[1])");
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    offline: true,
  });
  for (const name of Object.keys(hosts)) {
    if (words.length > 0 && !words.includes(name)) continue;
    try {
      await testHost(context, name, text);
    } catch (error) {
      check(false, `${name}: ${error.message}`);
    }
  }
});
