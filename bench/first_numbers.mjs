#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Measure how soon the first numbers of the overview of a log directory are there.
//
//     first_numbers.mjs OPSCOPE LOGDIR RUN [TENSORBOARD]
//
// Prints samples, "NAME NUMBER" in seconds: `view` from the command until the page in an open
// browser has the parts of the average step; `html` from the call of a page that was exported;
// `plugin` from the command TENSORBOARD, which has torch-tb-profiler, until that answers with its
// overview of RUN, without a browser.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const { chromium } = createRequire(join(root, "web/package.json"))("playwright-core");
const [opscope, logdir, run, tensorboard] = process.argv.slice(2);
const STARTS = 5;
const NUMBERS = ".breakdown [data-v]";
const FLAGS = "--headless --no-sandbox --disable-gpu --disable-background-networking";
const say = (name, begun) => console.log(`${name} ${(performance.now() - begun) / 1000}`);

/** Start PROGRAM; what it says until WHAT is in it. */
function startUntil(program, args, what) {
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"] });
  return new Promise((done, fail) => {
    let said = "";
    child.stderr.on("data", (bytes) => {
      said += bytes;
      const found = what.exec(said);
      if (found) done([child, found[1]]);
    });
    child.on("error", fail);
    child.on("exit", () => fail(new Error(`${program} ended: ${said.slice(-1000)}`)));
  });
}

async function measurePlugin() {
  const begun = performance.now();
  const args = ["--logdir", logdir, "--port", "0", "--host", "127.0.0.1"];
  const [child, origin] = await startUntil(tensorboard, args, /(http:\/\/[\d.:]+)\//);
  const ask = async (path) => {
    const answer = await fetch(`${origin}/data/plugin/pytorch_profiler/${path}`).catch(() => null);
    return answer?.ok ? answer.text() : "";
  };
  try {
    for (let text = ""; !text.includes("steps"); ) {
      if (performance.now() - begun > 300_000) throw new Error("the plugin has no overview");
      await new Promise((done) => setTimeout(done, 50));
      const workers = /\[\s*"([^"]+)"/.exec(await ask(`workers?run=${run}&view=Overview`))?.[1];
      if (workers === undefined) continue;
      const spans = /\[\s*"([^"]+)"/.exec(await ask(`spans?run=${run}&worker=${workers}`))?.[1] ?? "";
      text = await ask(`overview?run=${run}&worker=${workers}&span=${spans}&view=Overview`);
    }
    say("plugin", begun);
  } finally {
    child.kill();
  }
}

const folder = mkdtempSync(join(tmpdir(), "opscope-bench-"));
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: FLAGS.split(" ") });
try {
  const file = join(folder, "run.html");
  execFileSync(opscope, ["export", join(logdir, run), "-o", file], { stdio: "ignore" });
  for (let i = 0; i < STARTS; i++) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
    let begun = performance.now();
    const args = ["view", "--port", "0", "--logdir", logdir, "--run", run];
    const [child, address] = await startUntil(opscope, args, /view: (http:\S+)/);
    await page.goto(`${address}#/overview`);
    await page.waitForSelector(NUMBERS);
    say("view", begun);
    child.kill();
    await page.goto("about:blank");
    begun = performance.now();
    await page.goto(`${pathToFileURL(file).href}#/overview`);
    await page.waitForSelector(NUMBERS);
    say("html", begun);
    await page.close();
  }
  if (tensorboard !== undefined) await measurePlugin();
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}
