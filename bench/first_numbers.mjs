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
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { launch, serve, startUntil } from "../tools/chromium.mjs";

const [opscope, logdir, run, tensorboard] = process.argv.slice(2);
const STARTS = process.env.BENCH_SMOKE ? 1 : 5;
const NUMBERS = ".breakdown [data-v]";
const say = (name, begun) => console.log(`${name} ${(performance.now() - begun) / 1000}`);

async function measurePlugin() {
  const begun = performance.now();
  const args = ["--logdir", logdir, "--port", "0", "--host", "127.0.0.1"];
  const server = await startUntil(tensorboard, args, /(http:\/\/[\d.:]+)\//);
  const ask = async (path) => {
    const answer = await fetch(`${server.address}/data/plugin/pytorch_profiler/${path}`).catch(() => null);
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
    server.stop();
  }
}

const folder = mkdtempSync(join(tmpdir(), "opscope-bench-"));
const browser = await launch();
try {
  const file = join(folder, "run.html");
  execFileSync(opscope, ["export", join(logdir, run), "-o", file], { stdio: "ignore" });
  for (let i = 0; i < STARTS; i++) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
    let begun = performance.now();
    const server = await serve(opscope, ["--logdir", logdir, "--run", run]);
    await page.goto(`${server.address}#/overview`);
    await page.waitForSelector(NUMBERS);
    say("view", begun);
    server.stop();
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
