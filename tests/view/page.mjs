#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// step: view-page
// args: --opscope {gcc}/opscope
// needs: browser
// turn: 1
// Open every view of `opscope view` in a browser and check what it shows.
//
//     page.mjs [--opscope PATH] [NAME...]
//
// Every number in sight must be what the command beside it prints as CSV; the address alone must
// bring back a view; nothing is asked of another origin, nothing is logged as an error, and axe
// finds nothing serious in either theme. Names in a trace may be markup: they must stay text.
// NAME chooses runs. The last line is "N passed, N failed".
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  beside,
  check,
  compare,
  data,
  folder,
  main,
  makeMarkup,
  openPage,
  opscope,
  rowsOf,
  runAxe,
  settle,
  start,
  words,
} from "./browser.mjs";

async function testView(context, server, run, view) {
  const name = `${run.name} ${view}`;
  const [page, faults] = await openPage(context, server.origin);
  await page.goto(`${server.origin}/#/${view}`);
  await settle(page);
  const n = await compare(page, name);
  const least = run.numbers?.[view.split("?")[0]] ?? 0;
  check(n >= least, `${name}: ${n} numbers, fewer than ${least}`);
  const title = await page.textContent("main.view h1");
  const sentence = run.sentence?.[view];
  if (sentence !== undefined) check(sentence.test(title), `${name}: the sentence is '${title}'`);
  const command = await page.evaluate(
    () => document.querySelector(".headline")?.dataset.command ?? "",
  );
  if (command !== "") {
    const row = (await rowsOf(command)).find((one) => one.view === view.split("?")[0]);
    check(title === row?.text, `${name}: '${title}', not '${row?.text}'`);
  }
  check((await page.locator("main.view img").count()) === 0, `${name}: a name became an image`);
  check((await page.title()) !== "broken", `${name}: a name was run`);
  const text = await page.innerText("main.view");
  await page.reload();
  await settle(page);
  check((await page.innerText("main.view")) === text, `${name}: reloading shows something else`);
  await runAxe(page, name);
  check(faults.length === 0, `${name}: ${faults[0]}`);
  await page.close();
}

/** Keys: views, palette, filter, rows that open, explanations, and the way back. */
async function testKeys(context, server) {
  const [page, faults] = await openPage(context, server.origin);
  const hash = () => page.evaluate(() => window.location.hash);
  await page.goto(`${server.origin}/#/overview`);
  await settle(page);
  for (const key of ["g", "o"]) await page.keyboard.press(key);
  await settle(page);
  check((await hash()).startsWith("#/operators"), "g o goes to the operators");
  await page.focus(".grid");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".below");
  await settle(page);
  check((await hash()).includes("sel=name:operator:"), "Enter opens a row, in the address");
  check((await compare(page, "an open row")) > 20, "an open row has numbers");
  await page.keyboard.press("Escape");
  check((await page.locator(".below").count()) === 0, "Escape closes the row");
  await page.goBack();
  await page.waitForSelector(".below");
  await settle(page);
  await page.focus(".grid [aria-label='Explain host_self_ns']");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".dock");
  check((await page.textContent(".dock h2")) === "host_self_ns", "? explains a column");
  await page.fill("input[type=search]", "conv");
  await settle(page);
  check((await hash()).includes("q=conv"), "the filter is in the address");
  check((await compare(page, "filtered")) > 0, "filtered rows are those of the command");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("table memory_peaks");
  await page.keyboard.press("Enter");
  await settle(page);
  check((await hash()).includes("table=memory_peaks"), "the palette goes to a table");
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("]");
  check((await hash()).includes("steps="), "] selects a step");
  await page.keyboard.press("Escape");
  check(!(await hash()).includes("steps="), "Escape takes it back");
  check(faults.length === 0, `keys: ${faults[0]}`);
  await page.close();
}

/** A drag over the curve selects a range for all views, and a click a time. */
async function testCurve(context, server) {
  const [page, faults] = await openPage(context, server.origin);
  const hash = () => page.evaluate(() => window.location.hash);
  await page.goto(`${server.origin}/#/memory`);
  await settle(page);
  const box = await page.locator(".u-over").boundingBox();
  const y = box.y + box.height / 2;
  await page.mouse.click(box.x + box.width / 2, y);
  await page.waitForFunction(() => window.location.hash.includes("sel=at:"));
  await settle(page);
  check((await hash()).includes("table=memory_live"), "a click shows what is alive");
  check((await compare(page, "alive")) > 20, "what is alive has numbers");
  const byOperator = await page.getAttribute(".table-view", "data-command");
  const options = "label:has-text('group by') select";
  for (const by of ["module", "size"]) {
    await page.selectOption(options, by);
    await page.waitForFunction((word) => window.location.hash.includes(`by=${word}`), by);
    await settle(page);
    const command = await page.getAttribute(".table-view", "data-command");
    check(command.includes(`--group-by ${by}`) && command.includes("--at "), `${by}: ${command}`);
    check((await compare(page, `alive by ${by}`)) > 20, `what is alive by ${by} has numbers`);
  }
  check(!byOperator.includes("--group-by"), `by operator at first: ${byOperator}`);
  await page.mouse.move(box.x + box.width / 4, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2, y, { steps: 5 });
  await page.mouse.up();
  await page.waitForFunction(() => /[?&]t=\d+\+\d+/.test(decodeURIComponent(window.location.hash)));
  await settle(page);
  const status = await page.textContent(".status code");
  check(/--from \d+ns --to \d+ns/.test(status), `the range is in the command: ${status}`);
  await compare(page, "a range");
  check(faults.length === 0, `curve: ${faults[0]}`);
  await page.close();
}

// --- runs --------------------------------------------------------------------------------------

/** The program of the tree that records itself; its steps are those of the recording. */
function makeRecording() {
  const path = join(folder, "convnet.osc");
  execFileSync(join(dirname(opscope), "examples/convnet/convnet"), ["--steps", "12", "--record", path]);
  return path;
}

const VIEWS = ["overview", "operators", "kernels", "modules", "memory", "distributed", "diff"];
const runs = [
  {
    name: "demo",
    args: [join(data, "demo.pt.trace.json.gz")],
    views: [...VIEWS.slice(0, 6), "quality", "tables?table=averages", "operators?by=shape&top=5"],
    numbers: { overview: 16, operators: 60 },
  },
  {
    name: "alexnet",
    args: [join(data, "alexnet_a100.json.gz")],
    views: VIEWS.slice(0, 6),
    numbers: { kernels: 20 },
  },
  {
    name: "markup",
    args: [makeMarkup()],
    views: ["overview", "operators", "kernels", "tables?table=events"],
    numbers: { operators: 2, kernels: 2 },
  },
  {
    name: "resnet",
    args: ["--logdir", join(beside, "tb_samples")],
    needs: join(beside, "tb_samples"),
    views: [...VIEWS.slice(0, 6), "diff?run=resnet50_num_workers_4&cmp=resnet50_num_workers_0"],
    numbers: { overview: 30, operators: 100, kernels: 60, diff: 60 },
    sentence: { operators: /^aten::cudnn_convolution_backward_weight takes 23\.\d\s%/ },
  },
  {
    name: "torch",
    args: [join(beside, "torch213/resnet_all/trace.json.gz")],
    needs: join(beside, "torch213"),
    views: [
      "memory",
      "memory?table=memory_events&sel=at:16925724",
      "memory?t=5000000+5000000",
      "modules",
      "modules?by=annotation",
      "operators?sel=name:operator:aten::add_",
    ],
    numbers: { memory: 40, modules: 15 },
    sentence: { memory: /^Peak 4\.15 MiB on cpu at 16\.9 ms, with 80 blocks alive\.$/ },
  },
  {
    name: "dlrm",
    args: [join(beside, "wild/cuda_v100_dlrm_8ranks")],
    needs: join(beside, "wild/cuda_v100_dlrm_8ranks"),
    views: ["overview", "operators", "distributed", "distributed?table=collectives"],
    numbers: { overview: 60, distributed: 70 },
    sentence: { distributed: /^Rank 7 lets the others wait: 36 % .* \(16\.9 ms\)/ },
  },
  {
    name: "recording",
    args: [makeRecording()],
    views: [...VIEWS.slice(0, 5), "quality"],
    numbers: { overview: 16, operators: 40 },
  },
  {
    name: "rocm",
    args: [join(beside, "wild/rocm_mi300_resnet_steps.json.gz")],
    needs: join(beside, "wild"),
    views: [...VIEWS.slice(0, 5), "quality"],
    numbers: { kernels: 40, operators: 60 },
  },
  {
    name: "vllm",
    args: [join(beside, "wild/rocm_vllm_piecewise.json.gz")],
    needs: join(beside, "wild"),
    views: VIEWS.slice(0, 5),
    numbers: { kernels: 40 },
  },
  {
    name: "jax",
    args: [join(beside, "wild/jax_mi300_gemm.json.gz")],
    needs: join(beside, "wild"),
    views: [...VIEWS.slice(0, 5), "tables?table=ranges"],
    numbers: { kernels: 4 },
  },
  {
    name: "ranks",
    args: ["--logdir", join(beside, "torch213/ddp2_logdir")],
    needs: join(beside, "torch213"),
    views: ["overview", "distributed", "distributed?table=collectives", "memory"],
    numbers: { distributed: 10 },
  },
];

async function testRun(browser, run) {
  const server = await start(run.args);
  try {
    const context = await browser.newContext({ viewport: { width: 1280, height: 720 } });
    for (const view of run.views) {
      try {
        await testView(context, server, run, view);
      } catch (error) {
        check(false, `${run.name} ${view}: ${error.message}`);
      }
    }
    if (run.name === "demo") await testKeys(context, server);
    if (run.name === "torch") await testCurve(context, server);
    await context.close();
  } finally {
    server.stop();
  }
}

await main(async (browser) => {
  const wanted = runs.filter(
    (run) =>
      (words.length === 0 || words.includes(run.name)) &&
      (run.needs === undefined || existsSync(run.needs)),
  );
  const work = async () => {
    for (let run = wanted.shift(); run !== undefined; run = wanted.shift()) {
      try {
        await testRun(browser, run);
      } catch (error) {
        check(false, `${run.name}: ${error.message}`);
      }
    }
  };
  await Promise.all([work(), work()]);
});
