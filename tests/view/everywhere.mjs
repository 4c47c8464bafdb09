#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// step: view-everywhere
// args: --opscope {gcc}/opscope
// needs: browser
// turn: 4
// What holds in every view: the strip, a sentence, a selection that stays, parts with their rows,
// meaning, picture and command, links that show the same in another browser, and the way back.
//
//     everywhere.mjs [--opscope PATH] [NAME...]
//
// NAME chooses parts. The last line is "N passed, N failed".
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  check,
  compare,
  data,
  folder,
  hashOf,
  main,
  openPage,
  rowsOf,
  settle,
  soon,
  start,
  status,
  withView,
  words,
} from "./browser.mjs";

const VIEWS =
  "overview trace operators kernels modules memory flame distributed diff quality tables".split(" ");
/** Behind `g`; one for each view. */
const KEYS = "vtoknmfrdqa";
const STEPS = 12;
const SLOW = 7;
/** Bytes of a picture that may differ: letters are not always drawn alike. */
const MOST_APART = 60;

/** Two ranks of 12 steps, of which one took long, with modules, kernels and memory. */
function makeRun() {
  const paths = [];
  for (const rank of [0, 1]) {
    const traceEvents = [];
    let id = 0;
    let held = 0;
    const event = (cat, name, ts, dur, args = {}, thread = 1) =>
      traceEvents.push({ ph: "X", cat, name, pid: thread === 7 ? 0 : 1, tid: thread, ts, dur, args });
    const memory = (ts, bytes, addr) => {
      held += bytes;
      const args = { "Device Type": 1, "Device Id": 0, Addr: addr, Bytes: bytes };
      const sums = { "Total Allocated": held, "Total Reserved": 1 << 14 };
      const one = { ph: "i", s: "t", name: "[memory]", cat: "cpu_instant_event", pid: 1, tid: 1 };
      traceEvents.push({ ...one, ts, args: { ...args, ...sums } });
    };
    let ts = 1000;
    for (let step = 0; step < STEPS; step++) {
      const more = step === SLOW ? 20_000 : 0;
      const dur = 1000 + 7 * ((step * 5 + rank) % 4) + more;
      event("user_annotation", `ProfilerStep#${step}`, ts, dur);
      event("python_function", "nn.Module: Linear_0", ts + 5, 800, { "Python id": step, "Python module id": 0 });
      for (let k = 0; k < 3; k++) {
        const at = ts + 10 + 250 * k;
        id++;
        event("cpu_op", `aten::op${k}`, at, 150 + (step % 3), { "External id": id });
        event("cuda_runtime", "cudaLaunchKernel", at + 5, 5, { correlation: id, "External id": id });
        event("kernel", `gemm${k}`, at + 30, 100, { correlation: id, device: 0, stream: 7 }, 7);
        memory(at + 8, 4096 * (k + 1), id);
        memory(at + 140, -4096 * (k + 1), id);
      }
      ts += dur;
    }
    const path = join(folder, `everywhere_${rank}.json`);
    const deviceProperties = [{ id: 0, name: "Tesla V100", totalGlobalMem: 1 << 14, numSms: 80 }];
    const distributedInfo = { rank, world_size: 2 };
    writeFileSync(path, JSON.stringify({ distributedInfo, deviceProperties, traceEvents }));
    paths.push(path);
  }
  return paths;
}

/** The picture of what a view shows, once it shows the same twice: on a machine with other work
 * answers and names come late. */
async function pictureOf(page) {
  const take = () => page.locator("main.view").screenshot({ animations: "disabled" });
  let last = await take();
  for (let i = 0; i < 10; i++) {
    await page.waitForTimeout(300);
    const next = await take();
    if (next.equals(last)) break;
    last = next;
  }
  return last;
}

/** Whether PNGs A and B are alike but for the edges of a letter or two. */
async function isAlike(page, a, b) {
  if (a.equals(b)) return true;
  const apart = await page.evaluate(async (urls) => {
    const [one, two] = await Promise.all(
      urls.map(async (src) => {
        const image = Object.assign(new Image(), { src });
        await image.decode();
        const canvas = Object.assign(document.createElement("canvas"), {
          width: image.width,
          height: image.height,
        });
        const context = canvas.getContext("2d");
        context.drawImage(image, 0, 0);
        return context.getImageData(0, 0, image.width, image.height).data;
      }),
    );
    if (one.length !== two.length) return one.length;
    let n = 0;
    for (let i = 0; i < one.length; i++) n += Math.abs(one[i] - two[i]) > 8 ? 1 : 0;
    return n;
  }, [a, b].map((bytes) => `data:image/png;base64,${bytes.toString("base64")}`));
  return apart <= MOST_APART;
}

async function goTo(page, server, place) {
  await page.goto("about:blank");
  await page.goto(`${server.origin}/#/${place}`);
  await settle(page);
}

/** The strip and a sentence with a number are there; what is selected stays from view to view. */
async function testFrame(browser, server) {
  await withView(browser, server, "overview", async (page) => {
    await page.keyboard.press("o");
    await settle(page);
    check(/steps=7\b/.test(await hashOf(page)), `o takes the outlier: ${await hashOf(page)}`);
    for (const [i, view] of VIEWS.entries()) {
      await page.keyboard.press("g");
      await page.keyboard.press(KEYS[i]);
      await page.waitForFunction((name) => window.location.hash.startsWith(`#/${name}?`), view);
      await settle(page);
      const bars = await page.locator(".strip [role=option]").count();
      check(bars === STEPS, `${view}: the strip has ${bars} bars`);
      const marks = await page.locator(".strip .fill-mark").count();
      check(marks === 1, `${view}: ${marks} steps are marked`);
      const on = await page.locator(".strip [role=option][aria-selected=true]").count();
      check(on === 1, `${view}: ${on} bars are selected`);
      check(/steps=7\b/.test(await hashOf(page)), `${view}: the selection stays`);
      // Without a second run there is nothing to compare; Tables has the name of its table there.
      const sentence = await page.textContent("main.view h1");
      const isSaid = /\d/.test(sentence) || view === "diff" || view === "tables";
      check(isSaid, `${view}: '${sentence}' has no number`);
      const command = await status(page);
      if (!["trace", "diff", "quality", "flame"].includes(view))
        check(command.includes("--steps 7"), `${view}: ${command}`);
      if (["operators", "kernels", "overview"].includes(view))
        check((await compare(page, `${view} of a step`)) > 4, `${view} has numbers`);
    }
    const chips = async () => (await page.locator(".bar .chip").allTextContents()).join();
    check((await chips()) === "steps 7 ×", `what is selected stands in the bar: ${await chips()}`);
    await goTo(page, server, "kernels?t=1000000+90000000");
    check((await chips()) === "range ×", `and a range of time: ${await chips()}`);
    await page.click(".bar .chip");
    await settle(page);
    check((await chips()) === "" && !/[?&]t=/.test(await hashOf(page)), "a click takes it back");
  });
}

/** The words of a command, in any order. */
const sorted = (command) => command.match(/(?:'[^']*'|\\.|[^\s'\\])+/g).sort().join(" ");

/** Each part has rows, meaning, picture and command; its rows are those of its command. */
async function testParts(browser, server) {
  for (const view of VIEWS.filter((name) => name !== "diff"))
    await withView(browser, server, view, async (page) => {
      const parts = await page.$$eval("section[data-command]", (all) =>
        all.map((one) => [one.getAttribute("aria-label"), one.dataset.command]),
      );
      for (const [title, command] of parts) {
        const has = async (label) => (await page.locator(`[aria-label='${label}']`).count()) > 0;
        check(await has(`Explain ${title}`), `${view}: ${title} is not explained`);
        check(await has(`Show the command that prints ${title}`), `${view}: ${title}: no command`);
        await page.click(`[aria-label='Explain ${title}']`);
        const table = command.split(" ")[2];
        await page.waitForSelector(`.dock h2:text-is("${table}")`);
        check((await page.locator(".dock dt").count()) > 1, `${table} has columns that are explained`);
        await page.click(`[aria-label='Rows of ${title}']`);
        await page.waitForFunction(() => window.location.hash.startsWith("#/tables"));
        await settle(page);
        const shown = await status(page);
        check(sorted(shown) === sorted(command), `${view}: ${title}: ${command} became ${shown}`);
        await page.goBack();
        await page.waitForFunction((name) => window.location.hash.startsWith(`#/${name}`), view);
        await settle(page);
      }
      for (const grid of await page.locator(".table-view").all())
        for (const form of ["csv", "json", "md"])
          for (const verb of ["Copy", "Save"])
            check(
              (await grid.locator(`[aria-label='${verb} rows as ${form}']`).count()) === 1,
              `${view}: ${verb} as ${form}`,
            );
    });
}

/** The words of COMMAND as a shell reads them, in any order. */
const wordsOf = (command) =>
  execFileSync("sh", ["-c", `printf '%s\\n' ${command}`], { encoding: "utf8" }).split("\n").sort().join("\n");

/** The page shows the rows that COMMAND prints, and so does a link to it. */
async function showsRowsOf(page, command) {
  const shown = await status(page);
  check(wordsOf(shown) === wordsOf(command), `${command} became ${shown}`);
  const grid = page.locator(".grid");
  const rows = (await grid.count()) === 0 ? 0 : Number(await grid.getAttribute("aria-rowcount")) - 1;
  const printed = (await rowsOf(command)).length;
  check(rows === printed, `${command}: ${rows} rows, not ${printed}`);
  await page.reload();
  await settle(page);
  check((await status(page)) === shown, `${command}: a link brings ${await status(page)}`);
}

/** Follow each link to evidence in VIEW; CHECKS gets the page and what prints the same. How many. */
async function followEvidence(page, server, view, checks) {
  await goTo(page, server, view);
  const n = await page.locator("a.rows").count();
  for (let i = 0; i < n; i++) {
    await goTo(page, server, view);
    const link = page.locator("a.rows").nth(i);
    const command = await link.getAttribute("title");
    await link.click();
    await page.waitForFunction(() => window.location.hash.startsWith("#/tables"));
    await settle(page);
    await checks(page, command);
  }
  return n;
}

/** The place of a question shows the rows of its command; so does the link to evidence. */
async function testCommands(browser) {
  const [first, second] = makeRun();
  const server = await start([first]);
  const places = {
    "events --limit 5 --sort dur_ns": "table=events&sort=dur_ns&opts=limit:5",
    "events --from 3ms": "table=events&opts=from:3ms",
    "events --to 3ms": "table=events&opts=to:3ms",
    "events --from 2000000ns --to 3000000ns --device cuda:0":
      "table=events&t=2000000%2B1000000&opts=device:cuda%253A0",
    "durations --name gemm1": "table=durations&opts=name:gemm1",
    "siblings --event 4 --limit 3": "table=siblings&opts=event:4,limit:3",
    "memory_live --at 5ms": "table=memory_live&opts=at:5ms",
    "events --process 1 --thread 1": "table=events&process=1&opts=thread:1",
    "averages --no-python": "table=averages&opts=no-python",
    "kernels --compat tb --group-by op": "table=kernels&by=op&opts=compat:tb",
  };
  await withView(browser, server, "overview", async (page) => {
    for (const [words, place] of Object.entries(places)) {
      await goTo(page, server, `tables?${place}`);
      await showsRowsOf(page, `opscope table ${words} ${first}`);
    }
    await goTo(page, server, `tables?${places["events --limit 5 --sort dur_ns"]}`);
    await page.click(".chip:has-text('--limit 5')");
    await soon(page, async () => !(await status(page)).includes("--limit"), 5);
    check(!(await status(page)).includes("--limit"), `a chip takes it back: ${await status(page)}`);
    const wanted = [];
    for (const table of ["advice", "headlines"])
      wanted.push(...(await rowsOf(`opscope table ${table} ${first}`)).map((row) => row.evidence));
    const found = new Set();
    for (const view of VIEWS)
      await followEvidence(page, server, view, async (there, command) => {
        found.add(command);
        await showsRowsOf(there, command);
      });
    for (const command of wanted.filter((one) => one !== ""))
      check(found.has(command), `${command} has no link`);
  });
  server.stop();
  // Of a directory: the evidence is about all ranks, or about the one that has it, at the times of the
  // run.
  const directory = join(folder, "two_ranks");
  mkdirSync(directory);
  for (const [rank, path] of [first, second].entries()) {
    const file = join(directory, `worker${rank}.170000000000${rank}.pt.trace.json`);
    const trace = JSON.parse(readFileSync(path, "utf8"));
    for (const event of trace.traceEvents) event.ts += 700 * rank;
    // Only this rank has calls that take long.
    if (rank === 1)
      trace.traceEvents.push({ ph: "X", cat: "cuda_runtime", name: "cudaMalloc", pid: 1, tid: 1, ts: 11_000, dur: 5000 });
    writeFileSync(file, JSON.stringify(trace));
  }
  const both = await start([directory]);
  await withView(browser, both, "overview", async (page) => {
    let nOfRank = 0;
    const n = await followEvidence(page, both, "overview", async (there, command) => {
      const printed = (await rowsOf(command)).length;
      const rows = Number(await there.getAttribute(".grid", "aria-rowcount")) - 1;
      check(rows === printed && rows > 0, `${command}: ${rows} rows, not ${printed}`);
      if (!command.endsWith(".json")) return;
      nOfRank++;
      const hash = await hashOf(there);
      check(hash.includes("rank=1"), `${command}: ${hash}`);
    });
    check(n > 1 && nOfRank > 0, `${n} links to evidence, ${nOfRank} of one rank`);
  });
  both.stop();
}

/** Each part can be saved as SVG and PNG, and the picture names its command. */
/** What a click on SELECTOR saves. Chromium loses a download now and then, so that a second click
 * may be needed; null: three did nothing. */
async function downloadBy(page, selector) {
  for (let i = 0; i < 3; i++) {
    const waiting = page.waitForEvent("download", { timeout: 10_000 }).catch(() => null);
    await page.click(selector);
    const download = await waiting;
    if (download !== null) return download;
  }
  return null;
}

async function testPictures(browser, server) {
  for (const view of VIEWS)
    await withView(browser, server, view, async (page) => {
      const parts = await page.$$eval("[aria-label^='Save '][aria-label$=' as SVG']", (all) =>
        all.map((one) => {
          const [, title] = /^Save (.*) as SVG$/.exec(one.getAttribute("aria-label"));
          const section = one.closest("section[data-command]");
          return [title, section?.dataset.command ?? document.querySelector(".status code").textContent];
        }),
      );
      const drawn = { trace: "Timeline", flame: "Flame graph" }[view];
      if (drawn) check(parts.some(([title]) => title === drawn), `${view}: it can be saved`);
      for (const [title, command] of parts)
        for (const form of ["SVG", "PNG"]) {
          const name = `${view}: ${title} as ${form}`;
          const download = await downloadBy(page, `[aria-label='Save ${title} as ${form}']`);
          check(download !== null, `${name}: nothing is saved`);
          if (download === null) continue;
          const bytes = readFileSync(await download.path());
          if (form === "PNG") check(bytes.subarray(1, 4).toString() === "PNG", name);
          else {
            const text = bytes.toString().replaceAll("&amp;", "&").replaceAll("&gt;", ">");
            check(text.startsWith("<svg"), name);
            if (title === drawn) check(text.includes('href="data:image/png'), `${name}: it is drawn`);
            check(text.includes(command.slice(0, 40)), `${name}: it has its command`);
          }
        }
    });
}

/** Rows of every table can be found by a pattern in their names. */
async function testPatterns(browser, server) {
  const catalog = await (await fetch(`${server.origin}/api/v1/catalog`)).json();
  const tables = catalog.tables.filter((table) => !table.compares);
  check(tables.length > 25, `${tables.length} tables`);
  await withView(browser, server, "tables?table=info", async (page) => {
    for (const { name, columns } of tables) {
      await goTo(page, server, `tables?table=${name}&q=/[a-m0-3]$/`);
      const problem = await page.locator(".problem").allTextContents();
      check(problem.length === 0, `${name}: ${problem[0]}`);
      const hasTexts = columns.some((column) => column.type === "string");
      const command = await status(page);
      check(command.includes(" regexp ") === hasTexts, `${name}: ${command}`);
      await compare(page, `${name} by a pattern`);
    }
  });
}

/** Parts of a step add up to it, all groupings of kernels have the same kernels, and the size of
 * blocks is no limit at first; the capacity of a device is beside its memory. */
async function testSums(browser, server) {
  const traces = [join(folder, "everywhere_0.json"), join(data, "alexnet_a100.json.gz")];
  const whole = (rows, column) => rows.reduce((sum, row) => sum + BigInt(row[column] || 0), 0n);
  for (const trace of traces) {
    const steps = await rowsOf(`opscope table steps ${trace}`);
    for (const row of steps) {
      const parts = Object.keys(row).filter((name) =>
        /^(kernel|memcpy|memset|communication|runtime|dataloader|cpu_exec|other)_ns$/.test(name),
      );
      const sum = parts.reduce((all, name) => all + BigInt(row[name]), 0n);
      check(parts.length === 8 && sum === BigInt(row.total_ns), `${trace}: step ${row.step}: ${sum}`);
    }
    const [step, ...parts] = await rowsOf(`opscope table overview ${trace}`);
    const sum = parts.reduce((all, row) => all + Number(row.avg_ns), 0);
    check(Math.abs(sum - Number(step.avg_ns)) <= 1e-6 * sum, `${trace}: overview: ${sum}`);
    const plain = await rowsOf(`opscope table kernels ${trace}`);
    check(plain.length > 2, `${trace}: ${plain.length} kernels`);
    for (const by of ["op", "cause"]) {
      const rows = await rowsOf(`opscope table kernels ${trace} --group-by ${by}`);
      for (const column of ["calls", "total_ns"])
        check(whole(rows, column) === whole(plain, column), `${trace}: ${column} by ${by}`);
    }
  }
  await withView(browser, server, "memory?table=memory_events", async (page) => {
    const n = (await rowsOf(await page.getAttribute(".table-view", "data-command"))).length;
    const rows = Number(await page.getAttribute(".grid", "aria-rowcount")) - 1;
    const legend = (await page.locator(".curves .u-legend").innerText()).replace(/\s+/g, " ");
    check(legend.includes("capacity"), `the capacity is a line: ${legend}`);
    check(n === 2 * 3 * STEPS && rows === n, `${rows} blocks are there at first, of ${n}`);
  });
}

const LINKS = [
  "overview?steps=3-5&priority=runtime,cpu_exec&length=annotation&chart=pies",
  "operators?by=shape&sort=-calls&q=op&top=5&rank=1",
  "memory?table=memory_events&t=2000000%2B9000000",
  "flame?stack=op&metric=calls&q=/op[12]/&sel=name:frame:aten::op1",
  "tables?table=events&where=dur_ns%20%3E%20100000&cols=name!:140,dur_ns,id",
  "trace?steps=7",
  "trace?w=5000000%2B3000000&sel=ev:40&color=name&flow=all&pin=t1.0.7.queue&notes=6000000~look+here",
  "trace?t=5000000%2B1000000&area=kinds&hide=t0.1.1.thread&order=name",
];

/** Returns what waits until PAGE has asked for nothing for a second and a half: all it shows is there. */
function quietOf(page) {
  const asked = new Set();
  let changed = Date.now();
  page.on("request", (request) => {
    if (request.resourceType() !== "eventsource") asked.add(request);
    changed = Date.now();
  });
  for (const end of ["requestfinished", "requestfailed"])
    page.on(end, (request) => {
      asked.delete(request);
      changed = Date.now();
    });
  return async () => {
    while (asked.size > 0 || Date.now() < changed + 1500) await page.waitForTimeout(100);
  };
}

/** A link shows the same picture in a browser that has never been here. */
async function testLinks(browser, server) {
  for (const [k, link] of LINKS.entries()) {
    const pictures = [];
    const places = [];
    const deviceScaleFactor = 1 + (k % 2); // every other one as on a screen with twice the pixels
    for (let i = 0; i < 2; i++) {
      const viewport = { width: 1280, height: 720 };
      const context = await browser.newContext({ viewport, deviceScaleFactor });
      const [page, faults] = await openPage(context, server.origin);
      const quiet = quietOf(page);
      await goTo(page, server, i === 0 ? link : places[0]);
      await page.mouse.move(5, 5);
      if (link.includes("sel=ev:")) await page.waitForSelector("table.plain-table");
      await quiet();
      places.push((await page.evaluate(() => window.location.hash)).replace(/^#\//, ""));
      pictures.push(await pictureOf(page));
      if (process.env.PICTURES)
        writeFileSync(join(process.env.PICTURES, `${k}${i}.png`), pictures.at(-1));
      if (i === 1) {
        const isSame = async () => isAlike(page, pictures[0], await pictureOf(page));
        check(await soon(page, isSame, 2), `${link} looks different elsewhere`);
      }
      check(faults.length === 0, `${link}: ${faults[0]}`);
      await context.close();
    }
    check(places[0] === places[1], `${places[0]} became ${places[1]}`);
  }
}

/** Click the first range of the thread in the timeline. */
async function clickEvent(page) {
  await page.waitForSelector(".tl-head.track");
  await page.waitForTimeout(500);
  const canvas = await page.locator(".tl-canvases canvas").last().boundingBox();
  const head = await page.locator(".tl-head.track", { hasText: "thread 1" }).first().boundingBox();
  await page.mouse.click(canvas.x + canvas.width / 2, head.y + 10);
}

/** Back and forward come through every state, with what it showed. */
async function testHistory(browser, server) {
  await withView(browser, server, "overview", async (page) => {
    const took = (hash) => page.waitForFunction((before) => window.location.hash !== before, hash);
    const shots = [];
    const remember = async () => {
      await page.mouse.move(5, 5);
      await page.evaluate(() => document.activeElement.blur());
      await settle(page);
      await page.waitForTimeout(700);
      shots.push([await page.evaluate(() => window.location.hash), await pictureOf(page)]);
    };
    await remember();
    const deeds = [
      () => page.keyboard.press("o"),
      () => page.click("[aria-label^='Count runtime first']"),
      () => page.keyboard.press("g").then(() => page.keyboard.press("o")),
      () => page.click("[aria-label='Explain calls'] >> xpath=.. >> button >> nth=0"),
      () => page.selectOption(".tools select", "shape"),
      () => page.keyboard.press("Escape"),
      () => page.keyboard.press("g").then(() => page.keyboard.press("t")),
      () => clickEvent(page),
      () => page.keyboard.press("g").then(() => page.keyboard.press("m")),
      () => page.click("text=allocations"),
    ];
    for (const deed of deeds) {
      const before = await page.evaluate(() => window.location.hash);
      await page.evaluate(() => document.activeElement.blur());
      await deed();
      const isDone = await took(before).then(() => true, () => false);
      check(isDone, `something happens: ${deed}`);
      if (isDone) await remember();
    }
    for (const [way, order] of [
      ["goBack", shots.slice(0, -1).reverse()],
      ["goForward", shots.slice(1)],
    ])
      for (const [hash, shot] of order) {
        await page[way]();
        await settle(page);
        const isHere = async () => (await page.evaluate(() => window.location.hash)) === hash;
        check(await soon(page, isHere, 3), `${way}: ${await hashOf(page)}, not ${hash}`);
        const isSame = async () => {
          await page.mouse.move(5, 5);
          return isAlike(page, await pictureOf(page), shot);
        };
        const isRight = await soon(page, isSame, 3);
        check(isRight, `${way} to ${hash} looks different`);
        if (!isRight && process.env.PICTURES) {
          const name = join(process.env.PICTURES, `${way}${shots.findIndex((s) => s[0] === hash)}`);
          writeFileSync(`${name}.png`, await pictureOf(page));
          writeFileSync(`${name}_was.png`, shot);
        }
      }
  });
}

/** Of other traces a link keeps names and times, leaves out ids, and says so. */
async function testForeign(browser, server) {
  const id = (await rowsOf(`opscope table events ${join(folder, "everywhere_0.json")}`))[9].id;
  let own = "";
  await withView(browser, server, `trace?sel=ev:${id}&q=op1`, async (page) => {
    await page.waitForSelector("aside.detail");
    await page.fill("[aria-label='Search names']", "op2");
    own = await hashOf(page);
    check(/fp=[0-9a-f]{16,}/.test(own), `a link with an id says of what: ${own}`);
  });
  await withView(browser, server, own.replace("#/", ""), async (page) => {
    await page.waitForSelector("aside.detail");
    check((await hashOf(page)).includes(`sel=ev:${id}`), "here it selects the event");
  });
  const other = own.replace(/fp=[0-9a-f]+/, `fp=${"5".repeat(32)}`).replace("#/", "");
  await withView(browser, server, other, async (page) => {
    const says = async () =>
      (await page.textContent(".status [role=status]")).includes("of other traces");
    check(await soon(page, says, 5), "a link of other traces is told");
    const hash = await hashOf(page);
    check(!/sel=|fp=/.test(hash) && hash.includes("q=op2"), `its id is left out: ${hash}`);
    check((await page.locator("aside.detail").count()) === 0, "no event is selected");
  });
}

/** Nothing moves for people who do not want that. */
async function testMotion(browser, server) {
  for (const [wish, isStill] of [
    ["reduce", true],
    ["no-preference", false],
  ]) {
    const context = await browser.newContext({ reducedMotion: wish });
    const [page] = await openPage(context, server.origin);
    let longest = 0;
    for (const view of VIEWS) {
      await goTo(page, server, view);
      const times = await page.$$eval("*", (all) =>
        all.flatMap((one) => {
          const { transitionDuration: t, animationDuration: a, animationName } = getComputedStyle(one);
          const of = (text) => text.split(",").map((word) => Number.parseFloat(word) || 0);
          return [...of(t), ...(animationName === "none" ? [] : of(a))];
        }),
      );
      longest = Math.max(longest, ...times);
    }
    check(isStill ? longest === 0 : longest <= 0.12, `${wish}: ${longest} s`);
    await context.close();
  }
}

/** All that a mouse can click in a view has a key, too. */
async function testFocus(browser, server) {
  for (const view of VIEWS)
    await withView(browser, server, view, async (page) => {
      const never = await page.evaluate(() => {
        const shown = (one) => one.getClientRects().length > 0 && getComputedStyle(one).visibility !== "hidden";
        const can = "a, button, input, select, textarea, summary, [role=grid], [role=application], [role=listbox]";
        return [...document.querySelectorAll(can)]
          .filter((one) => shown(one) && !one.disabled && !one.closest("[aria-hidden=true]"))
          .filter((one) => one.tabIndex < 0 || (one.tagName === "A" && !one.hasAttribute("href")))
          .map((one) => one.outerHTML.slice(0, 120));
      });
      // The heads of a grid have the focus one after the other with Tab; the pickers' buttons have
      // the field beside them.
      check(never.length === 0, `${view}: ${never.length} cannot be reached: ${never[0]}`);
      const points = await page.$$eval("main *", (all) =>
        all
          .filter((one) => getComputedStyle(one).cursor === "pointer")
          .filter((one) => !one.closest("a, button, summary, label, select, input"))
          .filter((one) => !one.closest("[tabindex='0'], [role=row]"))
          .map((one) => one.outerHTML.slice(0, 120)),
      );
      check(points.length === 0, `${view}: only a mouse reaches ${points[0]}`);
      if (view !== "overview") return;
      await page.keyboard.press("?");
      const keys = await page.locator("dialog[aria-label=Keys] kbd").allTextContents();
      const wanted = [...[...KEYS].map((key) => `g ${key}`), ..."/ y u i ] [ o e t r . , w a s d".split(" ")];
      for (const key of wanted) check(keys.includes(key), `? does not show ${key}`);
      await page.keyboard.press("Escape");
      check((await page.locator("dialog").count()) === 0, "Esc closes the keys");
    });
}

const PARTS = {
  frame: testFrame,
  parts: testParts,
  commands: testCommands,
  pictures: testPictures,
  patterns: testPatterns,
  sums: testSums,
  links: testLinks,
  history: testHistory,
  foreign: testForeign,
  motion: testMotion,
  focus: testFocus,
};

await main(async (browser) => {
  const server = await start(makeRun());
  for (const [name, test] of Object.entries(PARTS)) {
    if (words.length > 0 && !words.includes(name)) continue;
    const begun = Date.now();
    try {
      await test(browser, server);
    } catch (error) {
      check(false, `${name}: ${error.message}`);
    }
    console.log(`${name}: ${((Date.now() - begun) / 1000).toFixed(1)} s`);
  }
  server.stop();
});
