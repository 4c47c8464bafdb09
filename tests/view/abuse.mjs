#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// step: view-abuse
// args: --opscope {gcc}/opscope
// needs: browser
// turn: 7
// What a page shows when something is wrong: with the server, the files, the browser, the names or
// the address.
//
//     abuse.mjs [--opscope PATH] [NAME...]
//
// NAME chooses parts. The last line is "N passed, N failed".
import { copyFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { check, compare, data, folder, hashOf, main, openPage, settle, start, words } from "./browser.mjs";

const DEMO = join(data, "demo.pt.trace.json.gz");
const VIEWS = "overview trace operators kernels modules memory distributed diff quality tables";

const status = (page) => page.locator(".status [role=status]").textContent();

async function until(page, isSo, what) {
  for (let i = 0; i < 150; i++) {
    if (await isSo()) return check(true, what);
    await page.waitForTimeout(100);
  }
  check(false, what);
}

/** A page that lost its server says so, keeps what it has, and goes on with the next one. */
async function testServer(context) {
  const first = await start([DEMO]);
  const port = new URL(first.origin).port;
  const [page] = await openPage(context, first.origin);
  await page.goto(`${first.origin}/#/operators`);
  await settle(page);
  const text = await page.innerText("main.view");
  first.stop();
  await until(page, async () => /next try in \d s/.test(await status(page)), "the loss is told");
  check((await page.innerText("main.view")) === text, "what was read stays");
  await page.keyboard.press("g");
  await page.keyboard.press("k");
  await page.waitForSelector("main.view[aria-label=Kernels]");
  await until(
    page,
    async () => /opscope view/.test(await page.innerText("main.view")),
    "a view that was not read says what to do",
  );
  await page.waitForTimeout(2500);
  const second = await start(["--port", port, DEMO]);
  check(second.origin === first.origin, `the next server is at ${second.origin}`);
  await until(page, async () => (await status(page)) === "", "the page goes on with the next one");
  await settle(page);
  check((await compare(page, "after the loss")) >= 0, "with its numbers");
  check(!/does not answer/.test(await page.innerText("main.view")), "and without the old error");
  await page.close();
  second.stop();
}

/** Two pages of one server do not know of each other. */
async function testTabs(context) {
  const server = await start([DEMO]);
  const pages = [];
  for (const view of ["operators", "memory"]) {
    const [page, faults] = await openPage(context, server.origin);
    await page.goto(`${server.origin}/#/${view}`);
    pages.push([page, faults, view]);
  }
  for (const [page] of pages) await settle(page);
  await pages[0][0].keyboard.press("]");
  for (const [page, faults, view] of pages) {
    await settle(page);
    check((await compare(page, view)) > 0, `${view} has its numbers`);
    check(faults.length === 0, `${view}: ${faults[0]}`);
  }
  const [, other] = await Promise.all(pages.map(([page]) => page.evaluate(() => location.hash)));
  check(!other.includes("steps="), "a selection is that of one page");
  for (const [page] of pages) await page.close();
  server.stop();
}

const event = (name, i, more = {}) => ({
  ...{ ph: "X", cat: "cpu_op", name, pid: 1, tid: 1, ts: 10 * i, dur: 5 },
  ...more,
});

function write(path, n) {
  const traceEvents = Array.from({ length: n }, (_, i) => event(`aten::op${i % 7}`, i));
  writeFileSync(`${path}.part`, JSON.stringify({ traceEvents }));
  renameSync(`${path}.part`, path);
}

/** A trace that is replaced, shrinks or vanishes while it is shown. */
async function testFiles(context) {
  const path = join(folder, "changes.json");
  write(path, 700);
  const server = await start([path]);
  const [page, faults] = await openPage(context, server.origin);
  await page.goto(`${server.origin}/#/operators`);
  await settle(page);
  const calls = async () =>
    (await page.locator("[data-c=calls]").first().getAttribute("data-v", { timeout: 60_000 })) ?? "";
  check((await calls()) === "100", `at first ${await calls()} calls`);
  for (const n of [1400, 70, 7000]) {
    write(path, n);
    await until(page, async () => (await calls()) === String(n / 7), `${n} events are shown`);
    await settle(page);
  }
  rmSync(path);
  await until(page, async () => (await status(page)) !== "", "a file that vanished is told");
  check((await calls()) === "1000", "what was read stays");
  write(path, 2100);
  await until(page, async () => (await calls()) === "300", "a file that is back is read");
  check(faults.length === 0, `files: ${faults[0]}`);
  await page.close();
  server.stop();
}

/** The selected event stays selected in a file that grows, whatever its number is then; in another
 * one it is let go, and that is said. */
async function testReplaced(context) {
  const runs = join(folder, "replaced");
  mkdirSync(runs);
  const events = (n, of, dur = 5) =>
    Array.from({ length: n }, (_, i) =>
      event(`${of}${i}`, 10 * i + 5, { dur, args: { "External id": i } }),
    );
  const put = (rank, traceEvents) => {
    const path = join(runs, `worker${rank}.170000000000${rank}.pt.trace.json`);
    writeFileSync(`${path}.part`, JSON.stringify({ distributedInfo: { rank }, traceEvents }));
    renameSync(`${path}.part`, path);
  };
  put(1, events(50, "one"));
  const server = await start([runs]);
  const [page, faults] = await openPage(context, server.origin, true);
  await page.goto(`${server.origin}/#/trace?sel=ev:7&notes=700000%2B5000@7~mine`);
  await page.waitForSelector("aside.detail h2");
  await settle(page);
  const name = () => page.textContent("aside.detail h2");
  await until(page, async () => /fp=/.test(await hashOf(page)), "the address says of what it is");
  const [wanted, place] = [await name(), await hashOf(page)];
  check(/^one/.test(wanted), `${wanted} is selected: ${place}`);
  const prints = new Set();
  const changed = async (what) => {
    const print = async () => /fp=(\w+)/.exec(await hashOf(page))?.[1] ?? "";
    await until(page, async () => !prints.has(await print()), what);
    prints.add(await print());
    await settle(page);
    await page.waitForTimeout(500);
  };
  prints.add(/fp=(\w+)/.exec(place)[1]);
  put(1, events(80, "one"));
  await changed("a file that grew is read");
  check((await name()) === wanted && /sel=ev:7\b/.test(await hashOf(page)), `it is the same: ${await hashOf(page)}`);
  put(0, events(30, "zero", 6));
  await until(page, async () => /sel=ev:37\b/.test(await hashOf(page)), "it has another number behind another rank");
  await settle(page);
  check((await name()) === wanted, `it is still ${await name()}`);
  check(/~mine/.test(await hashOf(page)), "the note is there");
  check(!/@7~/.test(await hashOf(page)), `but not about what has that number now: ${await hashOf(page)}`);
  put(1, events(80, "other"));
  await until(page, async () => !/sel=/.test(await hashOf(page)), "in another file it is not selected");
  check(/replaced/.test(await page.textContent(".status [role=status]")), "and that is said");
  check(faults.every((fault) => /status of 404/.test(fault)), `replaced: ${faults[0]}`);
  await page.close();
  server.stop();
}

/** A page that has not heard yet that its file was replaced shows no event of the other file as its
 * own, and says with each number of an event of which file it is. */
async function testUnheard(context) {
  const path = join(folder, "unheard.json");
  const put = (name) => {
    const traceEvents = Array.from({ length: 40 }, (_, i) => event(`${name}${i}`, 10 * i));
    writeFileSync(`${path}.part`, JSON.stringify({ traceEvents }));
    renameSync(`${path}.part`, path);
  };
  put("old");
  const server = await start([path]);
  const [page, faults] = await openPage(context, server.origin, true);
  await page.addInitScript(() => {
    window.held = [];
    window.EventSource = class extends EventSource {
      addEventListener(kind, hear) {
        super.addEventListener(kind, (e) => (window.isDeaf ? window.held.push(() => hear(e)) : hear(e)));
      }
    };
  });
  const numbered = [];
  page.on("request", (request) => {
    if (/api\/v1\/(event\/|cells|names|values|flows|table\/siblings)/.test(request.url()))
      numbered.push(request.url());
  });
  const name = () => page.evaluate(() => document.querySelector("aside.detail h2")?.textContent ?? "");
  const select = (number) =>
    page.evaluate((n) => {
      window.location.hash = `#/trace?sel=ev:${n}`;
    }, number);
  await page.goto(`${server.origin}/#/trace?sel=ev:7`);
  await until(page, async () => /^old7/.test(await name()), "an event is selected");
  await settle(page);
  await page.keyboard.press(".");
  await page.waitForTimeout(300);
  await page.evaluate(() => {
    window.isDeaf = true;
  });
  put("new");
  const print = async () =>
    (await (await fetch(`${server.origin}/api/v1/session`)).json()).runs[0].fingerprint;
  const before = await print();
  await until(page, async () => ![before, null].includes(await print()), "the server has the other file");
  await select(9);
  await page.waitForTimeout(1000);
  check(!/^new/.test(await name()), `an event of the other file is shown: ${await name()}`);
  await page.evaluate(() => {
    window.isDeaf = false;
    for (const tell of window.held) tell();
  });
  await until(page, async () => !/sel=/.test(await hashOf(page)), "once it hears of it it is not selected");
  check((await name()) === "", `nothing is shown of it: ${await name()}`);
  await select(11);
  await until(page, async () => /^new11/.test(await name()), "those of the new file can be selected");
  check(numbered.length > 5, `${numbered.length} questions have numbers`);
  const without = numbered.filter((url) => !/[?&]fp=\w+/.test(url));
  check(without.length === 0, `it does not say of which files it is: ${without[0]}`);
  check(faults.length === 0, `unheard: ${faults[0]}`);
  await page.close();
  server.stop();
}

const NAMES = [
  `<img src=x onerror="document.title='broken'">`,
  `</script><script>document.title='broken'</script>`,
  "javascript:document.title='broken'",
  "\u202eright to left\u202c",
  "a\u0000b\u0007c\u001b[31mred",
  "\ud800 half a pair",
  "n".repeat(5000),
  "𝒜".repeat(300),
  "' or 1=1 --",
  "%s%n%x",
  "",
];

/** A run of which no file can be read is told, and leads to the others. */
async function testUnreadable(context) {
  const runs = join(folder, "runs");
  for (const name of ["good", "bad"]) mkdirSync(join(runs, name), { recursive: true });
  write(join(runs, "good", "w_1.1.pt.trace.json"), 700);
  writeFileSync(join(runs, "bad", "w_1.1.pt.trace.json"), "this is no trace");
  const server = await start(["--logdir", runs]);
  const [page, faults] = await openPage(context, server.origin);
  await page.goto(`${server.origin}/#/operators?run=bad`);
  await page.waitForSelector("main.view h1");
  const title = () => page.textContent("main.view h1");
  await until(page, async () => /^bad could not be read/.test(await title()), "the run is told");
  const why = await page.textContent("main.view .problem");
  check(/w_1\.1\.pt\.trace\.json/.test(why), `the file is named: ${why}`);
  await page.click("main.view button:text-is('good')");
  await until(page, async () => /aten|takes/.test(await title()), "the other run is shown");
  await page.goBack();
  await until(page, async () => /^bad could not be read/.test(await title()), "back is told again");
  write(join(runs, "bad", "w_1.1.pt.trace.json"), 700);
  await until(page, async () => /takes/.test(await title()), "a file that is mended is read");
  const thrown = faults.filter((fault) => !/status of 500/.test(fault));
  check(thrown.length === 0, `unreadable: ${thrown[0]}`);
  await page.close();
  server.stop();
}

/** Names of all sorts are text in every view. */
async function testNames(context) {
  const path = join(folder, "names.json");
  const traceEvents = NAMES.flatMap((name, i) => [
    event(name, 3 * i, { args: { "External id": i, "Module Hierarchy": name } }),
    event("cudaLaunchKernel", 3 * i + 0.1, {
      cat: "cuda_runtime",
      dur: 1,
      args: { correlation: i, "External id": i },
    }),
    event(name, 3 * i + 1, { cat: "kernel", pid: 0, tid: 7, args: { device: 0, stream: 7, correlation: i } }),
    event(name, 3 * i, { cat: "user_annotation", dur: 9 }),
    { ph: "M", name: "thread_name", pid: 1, tid: 1, args: { name } },
    { ph: "M", name: "process_name", pid: 1, tid: 0, args: { name } },
  ]);
  writeFileSync(path, JSON.stringify({ traceEvents, traceName: NAMES[0] }));
  const server = await start([path]);
  for (const view of VIEWS.split(" ")) {
    const [page, faults] = await openPage(context, server.origin);
    await page.goto(`${server.origin}/#/${view}`);
    await settle(page);
    // Without a second run there is nothing to compare, and so no command.
    if (view !== "diff" && view !== "trace") await compare(page, `names in ${view}`);
    check((await page.title()) !== "broken", `${view}: a name was run`);
    check((await page.locator("main.view img").count()) === 0, `${view}: a name became an image`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    check(wide <= 0, `${view}: a long name makes the page ${wide} pixels wider`);
    check(faults.length === 0, `names in ${view}: ${faults[0]}`);
    await page.close();
  }
  server.stop();
}

/** Numbers that repeat: Lehmer's generator. */
function numbers(seed) {
  let state = seed;
  return (n) => {
    state = (state * 48271) % 2147483647;
    return state % n;
  };
}

/** An address that somebody made up shows a view, and no error of ours. */
async function testAddresses(context) {
  const server = await start([DEMO]);
  const [page, faults] = await openPage(context, server.origin);
  const any = numbers(7);
  const keys =
    "v fp run cmp rank span steps t w sel table q where by sort device top pin hide fold x";
  const values = [
    ..."1 -1 5-7 @1 0-3,7 9999999999999999999 1+2 -5+5 0+0 name:operator:aten::add_ ev:3 ev:x".split(" "),
    ..."at:100 step:7 name: ' /[/ /a/ ( calls>3 -calls calls nothing cpu cuda:0 all , = %zz".split(" "),
    "area:0+100:1",
    "",
  ];
  await page.goto(`${server.origin}/`);
  await settle(page);
  const views = [...VIEWS.split(" "), "nothing", "", "__proto__"];
  for (let i = 0; i < 120; i++) {
    const pairs = Array.from({ length: any(5) }, () => {
      const value = values[any(values.length)];
      return `${keys.split(" ")[any(21)]}=${any(2) ? value : encodeURIComponent(value)}`;
    });
    const address = `#/${views[any(views.length)]}?${pairs.join("&")}`;
    await page.evaluate((hash) => {
      location.hash = hash;
    }, address);
    await page.waitForTimeout(60);
    const isThere = await page.locator("main.view").count();
    if (isThere !== 1 || faults.some((fault) => fault.startsWith("threw")))
      check(false, `${address}: ${faults.find((fault) => fault.startsWith("threw"))}`);
    faults.length = 0;
  }
  await page.evaluate(() => {
    location.hash = "#/operators";
  });
  await settle(page);
  check((await compare(page, "after 120 addresses")) > 20, "the page still works");
  await page.close();
  server.stop();
}

/** Without something that a browser may lack, the page shows its numbers nevertheless. */
async function testBrowser(browser) {
  const server = await start([DEMO]);
  const lacks = {
    clipboard: () => delete Navigator.prototype.clipboard,
    storage: () => Object.defineProperty(window, "localStorage", { get: () => { throw new Error("refused"); } }),
    stream: () => delete window.DecompressionStream,
    capture: () => delete Element.prototype.setPointerCapture,
  };
  for (const [name, take] of Object.entries(lacks)) {
    const context = await browser.newContext({ viewport: { width: 1024, height: 768 } });
    await context.addInitScript(take);
    for (const view of ["operators", "trace", "memory"]) {
      const [page, faults] = await openPage(context, server.origin);
      await page.goto(`${server.origin}/#/${view}`);
      await settle(page);
      await page.keyboard.press("y");
      check((await page.innerText("main.view h1")).length > 5, `${view} without ${name}`);
      check(faults.length === 0, `${view} without ${name}: ${faults[0]}`);
      await page.close();
    }
    await context.close();
  }
  const context = await browser.newContext();
  await context.addInitScript(() => delete window.ResizeObserver);
  const [page, faults] = await openPage(context, server.origin);
  await page.goto(`${server.origin}/`);
  const told = await page.innerText("h1");
  check(told === "This browser lacks ResizeObserver.", `what is needed is named: ${told}`);
  check(faults.length === 0, `without an observer: ${faults[0]}`);
  await context.close();
  server.stop();
}

const PARTS = {
  server: testServer,
  tabs: testTabs,
  files: testFiles,
  replaced: testReplaced,
  unheard: testUnheard,
  unreadable: testUnreadable,
  names: testNames,
  addresses: testAddresses,
};

await main(async (browser) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 720 } });
  for (const [name, test] of Object.entries(PARTS)) {
    if (words.length > 0 && !words.includes(name)) continue;
    try {
      await test(context);
    } catch (error) {
      check(false, `${name}: ${error.message}`);
    }
  }
  if (words.length === 0 || words.includes("browser")) await testBrowser(browser);
});
