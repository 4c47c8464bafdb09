#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// step: view-trace-layers
// args: --opscope {gcc}/opscope
// needs: browser
// turn: 0
// What a timeline shows of its lanes: Python frames as a layer, sparse queues packed, fewer levels
// of a track; how much of the device is used; marks of a search; and events beside the selected one
// that are not in sight.
//
//     trace_layers.mjs [--opscope PATH]
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { check, folder, hashOf, inPages, main, openPage, opscope, root, rowsOf, soon, start } from "./browser.mjs";
import { isAt, openTimeline, picture } from "./timelines.mjs";

const N = 50; // steps of 1 ms
const QUEUES = 30;

/** Steps of frame > operator > frame > launch, with kernels on a busy queue and on sparse ones. */
function write(path) {
  const traceEvents = [];
  for (let i = 0; i < N; i++) {
    const at = 1000 * i;
    const cpu = { ph: "X", pid: 1, tid: 1 };
    traceEvents.push({ ...cpu, cat: "python_function", name: "train.py(1): step", ts: at, dur: 900 });
    traceEvents.push({ ...cpu, cat: "cpu_op", name: i === 40 ? "aten::rare" : "aten::mm", ts: at + 10, dur: 800 });
    traceEvents.push({ ...cpu, cat: "python_function", name: "ops.py(2): f", ts: at + 20, dur: 700 });
    const args = { correlation: i + 1, device: 0 };
    traceEvents.push({ ...cpu, cat: "cuda_runtime", name: "cudaLaunchKernel", ts: at + 30, dur: 10, args });
    const busy = { ...args, stream: 7 };
    traceEvents.push({ ph: "X", pid: 0, tid: 7, cat: "kernel", name: "big", ts: at + 50, dur: 900, args: busy });
    const stream = 20 + (i % QUEUES);
    const kernel = { ph: "X", pid: 0, tid: stream, cat: "kernel", name: "small", ts: at + 60, dur: 30 };
    traceEvents.push({ ...kernel, args: { device: 0, stream } });
  }
  const short = { ph: "X", pid: 1, tid: 2, cat: "user_annotation", dur: 10 };
  for (let i = 0; i < 1990; i++)
    traceEvents.push({ ...short, name: i % 2 ? "load" : "parse", ts: 25 * i, dur: 8 + (i % 2) });
  writeFileSync(path, JSON.stringify({ schemaVersion: 1, traceEvents }));
}

const heads = (page) => page.locator(".tl-head.track .tl-title").allTextContents();
/** How high the track with TITLE is, in CSS pixels. */
const heightOf = async (page, title) =>
  (await page.locator(".tl-head.track", { hasText: title }).first().boundingBox())?.height;

/** Of a search that is wrong nothing is counted, marked or dimmed, and it is said what can be done. */
async function testWrong(context, server) {
  const page = await context.newPage(); // the browser logs what the server refuses
  page.on("pageerror", (error) => check(false, `a wrong search threw ${error.message}`));
  await openTimeline(page, server, "trace");
  const field = page.locator("#search");
  const beside = () => page.textContent("#search + output").catch(() => "");
  const marks = () => page.locator(".tl-minimap .hits path").count();
  const told = (what) => async () => what.test(await page.textContent(".sheet .problem").catch(() => ""));
  await field.fill("=dur_ns >= 0");
  check(await soon(page, async () => /hits$/.test(await beside()), 5), "an expression is counted");
  await page.waitForTimeout(500);
  const plain = await picture(page);
  for (const [text, what] of [
    ["=dur_n >", /incomplete|syntax error/],
    ["=dur_n > 3", /did you mean 'dur_ns'/],
    ["/mm[/", /the pattern \/mm\[\/ is wrong/],
  ]) {
    await field.fill("mm");
    check(await soon(page, async () => (await marks()) > 0, 5), "a search has marks");
    check(await soon(page, async () => /\d hits?$/.test(await beside()), 5), `and a count: ${await beside()}`);
    await field.fill(text);
    check(await soon(page, told(what), 5), `${text}: ${await page.textContent(".sheet").catch(() => "")}`);
    check(await soon(page, async () => (await beside()) === "wrong", 5), `${text}: beside it: ${await beside()}`);
    check((await marks()) === 0, `${text} has ${await marks()} marks`);
    check((await field.getAttribute("aria-invalid")) === "true", `${text}: the field is wrong`);
    check(await soon(page, async () => (await picture(page)) === plain, 5), `${text} dims nothing`);
    const help = await page.textContent(".sheet .problem");
    check(!/catalog/.test(help), `${text}: ${help}`);
    const isColumns = text.startsWith("=");
    check(isColumns ? /start_ns, dur_ns/.test(help) : /Correct the pattern/.test(help), `${text}: ${help}`);
  }
  await field.fill("mm");
  check(await soon(page, async () => /\d hits?$/.test(await beside()), 5), "a right one is counted again");
  check((await field.getAttribute("aria-invalid")) === null, "and the field is right");
  await page.close();
}

async function testFrames(page, server) {
  await openTimeline(page, server, "trace?w=0+3000000");
  const whole = await heightOf(page, "thread 1");
  check(whole === 4 * 18 + 4, `four levels with frames: ${whole}`);
  const before = await picture(page);
  await page.keyboard.press("Shift+Y");
  check(await isAt(page, "python=off"), "Shift+Y is in the address");
  const less = async () => (await heightOf(page, "thread 1")) === 2 * 18 + 4;
  check(await soon(page, less, 5), `two levels without: ${await heightOf(page, "thread 1")}`);
  check(await soon(page, async () => (await picture(page)) !== before, 5), "they are drawn so");
  // The operator at the top of the track answers there where a frame was before.
  const box = await page.locator(".tl-canvases canvas").first().boundingBox();
  const head = await page.locator(".tl-head.track", { hasText: "thread 1" }).first().boundingBox();
  const spot = [box.x + (box.width * 400) / 3000, head.y + 10];
  await page.waitForTimeout(600);
  await page.mouse.move(...spot);
  const named = async () => (await page.textContent(".tl-popover strong").catch(() => "")) === "aten::mm";
  check(await soon(page, named, 5), "the operator lies at the top");
  await page.click("label:has-text('Python frames') input");
  check(await soon(page, async () => (await heightOf(page, "thread 1")) === whole, 5), "all are back");
  check(!(await hashOf(page)).includes("python="), "the default is not in the address");
}

/** How high the area of the values with TITLE is at time AT of 3 ms, as a share of its row. */
async function useAt(page, title, at) {
  const head = await page.locator(".tl-head", { hasText: title }).first().boundingBox();
  return page.evaluate(
    ([y, height, share]) => {
      const canvas = document.querySelectorAll(".tl-canvases canvas")[1];
      const box = canvas.getBoundingClientRect();
      const ratio = canvas.height / box.height;
      const x = Math.round(canvas.width * share);
      const top = Math.round((y - box.y) * ratio);
      const { data } = canvas.getContext("2d").getImageData(x, top + 1, 1, Math.round(height * ratio) - 2);
      const inked = data.filter((v, i) => i % 4 === 3 && v > 0).length;
      return inked / (height * ratio);
    },
    [head.y, head.height, at / 3000],
  );
}

/** A kernel runs from 50 us to 950 us of each ms; none says how many blocks it has. */
async function testUse(page, server) {
  await openTimeline(page, server, "trace?w=0+3000000");
  const title = "utilization of cuda:0";
  const titles = await page.locator(".tl-head .tl-title").allTextContents();
  check(titles.filter((t) => t.includes(title)).length === 1, `it has a row: ${titles}`);
  check(!titles.some((t) => t.includes("SM efficiency")), "nothing is known of blocks");
  const isDrawn = async () => (await useAt(page, title, 1400)) > 0.7;
  check(await soon(page, isDrawn, 5), `all of it while a kernel runs: ${await useAt(page, title, 1400)}`);
  check((await useAt(page, title, 1970)) < 0.15, `none of it between two: ${await useAt(page, title, 1970)}`);
}

/** The memory of a device: flat. */
function writeMemory(path) {
  const traceEvents = Array.from({ length: 40 }, (_, i) => ({
    ...{ ph: "i", s: "t", cat: "cpu_instant_event", name: "[memory]", pid: 1, tid: 1, ts: 10 + 10 * i },
    args: {
      ...{ "Device Type": 1, "Device Id": 0, Bytes: 1024, Addr: 4096 * (i + 1) },
      ...{ "Total Reserved": 2e9, "Total Allocated": 2e9 },
    },
  }));
  traceEvents.push({ ph: "X", pid: 1, tid: 1, cat: "cpu_op", name: "aten::mm", ts: 0, dur: 10_000 });
  writeFileSync(path, JSON.stringify({ traceEvents }));
}

/** The lines of pixels of the row with TITLE in which there are letters, and in which its curve is
 * where these letters are. */
async function textAndCurve(page, title) {
  const head = await page.locator(".tl-head", { hasText: title }).first().boundingBox();
  return page.evaluate(
    ([y, height]) => {
      const canvas = document.querySelectorAll(".tl-canvases canvas")[1];
      const box = canvas.getBoundingClientRect();
      const ratio = canvas.height / box.height;
      const [top, high, wide] = [(y - box.y) * ratio, height * ratio, 70 * ratio].map(Math.round);
      const { data } = canvas.getContext("2d").getImageData(0, top, wide, high);
      const lines = { text: [], curve: [] };
      for (let line = 0; line < high; line++) {
        let [dark, blue] = [0, 0];
        for (let i = line * wide * 4; i < (line + 1) * wide * 4; i += 4) {
          const [r, , b, a] = data.slice(i, i + 4);
          if (a > 90 && b - r > 60) blue++;
          else if (a > 200 && r < 130) dark++;
        }
        if (dark > 0) lines.text.push(line);
        if (blue > wide / 2) lines.curve.push(line);
      }
      return lines;
    },
    [head.y, head.height],
  );
}

/** What a curve of memory says of itself is not struck through by it. */
async function testMemory(page, server) {
  await openTimeline(page, server, "trace?w=100000+100000");
  for (const title of ["memory of cuda:0", "reserved of cuda:0"]) {
    const isThere = async () => (await textAndCurve(page, title)).text.length > 5;
    check(await soon(page, isThere, 5), `${title} says how much it is`);
    const { text, curve } = await textAndCurve(page, title);
    check(curve.length > 0, `${title} has a curve`);
    const struck = curve.filter((line) => line >= text[0] && line <= text.at(-1));
    check(struck.length === 0, `${title}: letters from ${text[0]} to ${text.at(-1)}, the curve at ${curve}`);
  }
}

async function testPacked(page, server) {
  await openTimeline(page, server, "trace");
  const packed = (await heads(page)).filter((text) => text.includes("sparse queues"));
  check(packed.length === 1 && packed[0].includes(`${QUEUES} sparse queues`), `packed: ${packed}`);
  const isAlone = (await heads(page)).filter((text) => /queue \d|stream \d/.test(text));
  check(isAlone.length === 1, `the busy queue stands alone: ${isAlone}`);
  await page.click(".tl-head button:has-text('one by one')");
  check(await isAt(page, "unpack=p0.0"), `it is in the address: ${await hashOf(page)}`);
  const many = async () => (await page.locator(".tl-heads").getAttribute("style")).match(/(\d+)px/)[1];
  check(await soon(page, async () => Number(await many()) > QUEUES * 20, 5), `apart: ${await many()}`);
  await page.click(`.tl-head button:has-text('pack ${QUEUES} queues')`);
  const again = async () => (await heads(page)).some((text) => text.includes("sparse queues"));
  check(await soon(page, again, 5), "and packed again");
  // All small kernels are cells of the packed track: its rows say so when it is hit.
  const small = (await rowsOf(`opscope table events ${join(folder, "layers.json")}`)).filter(
    (row) => row.name === "small",
  );
  check(small.length === N, `small kernels: ${small.length}`);
  await openTimeline(page, server, `trace?w=${small[3].start_ns}+30000&sel=ev:${small[3].id}`);
  await page.keyboard.press("ArrowRight");
  check(await isAt(page, `sel=ev:${small[4].id}`), `→ in the packed track: ${await hashOf(page)}`);
}

async function testCrop(page, server) {
  await openTimeline(page, server, "trace");
  const handle = page.locator(".tl-head.track", { hasText: "thread 1" }).locator(".tl-crop");
  const box = await handle.boundingBox();
  await page.mouse.move(box.x + 40, box.y + 2);
  await page.mouse.down();
  await page.mouse.move(box.x + 40, box.y + 2 - 18, { steps: 4 });
  await page.mouse.move(box.x + 40, box.y + 2 - 36, { steps: 4 });
  await page.mouse.up();
  check(await soon(page, async () => (await heightOf(page, "thread 1")) === 40, 5), "a drag leaves two levels");
  check(await isAt(page, "depth=t0.1.1.thread:2"), `it is in the address: ${await hashOf(page)}`);
  check((await page.textContent(".tl-head:has-text('thread 1')")).includes("2 deeper"), "it says how many are not shown");
  await handle.focus();
  await page.keyboard.press("ArrowDown");
  check(await isAt(page, "depth=t0.1.1.thread:3"), "↓ on the handle shows one more");
  check((await handle.getAttribute("aria-valuenow")) === "3", "it says how many");
  await page.reload();
  await page.waitForSelector(".tl-head");
  check(await soon(page, async () => (await heightOf(page, "thread 1")) === 58, 5), "a link shows the same");
  await handle.dblclick();
  check(await soon(page, async () => (await heightOf(page, "thread 1")) === 76, 5), "a double click shows all");
}

async function testBeside(page, server) {
  const rows = await rowsOf(`opscope table events ${join(folder, "layers.json")}`);
  const mm = rows.filter((row) => row.kind === "operator");
  const frames = rows.filter((row) => row.name === "ops.py(2): f");
  // Only the fourth operator is in sight.
  await openTimeline(page, server, `trace?w=3100000+200000&sel=ev:${mm[3].id}`);
  for (const [key, event, what] of [
    ["ArrowRight", mm[4].id, "after it"],
    ["ArrowLeft", mm[3].id, "before it"],
    ["ArrowLeft", mm[2].id, "and before that"],
    ["ArrowDown", frames[2].id, "in it"],
  ]) {
    await page.keyboard.press(key);
    check(await isAt(page, `sel=ev:${event}`), `${key}: what is ${what}: ${await hashOf(page)}, not ${event}`);
    await page.waitForTimeout(400);
  }
  // In a wide window all of them are merged with others.
  await openTimeline(page, server, `trace?w=0+90000000000&sel=ev:${mm[10].id}`);
  await page.keyboard.press("ArrowRight");
  check(await isAt(page, `sel=ev:${mm[11].id}`), `one of many in a cell: ${await hashOf(page)}`);
  await openTimeline(page, server, `trace?sel=ev:${mm[N - 1].id}`);
  await page.keyboard.press("ArrowRight");
  const told = async () => (await page.textContent("body")).includes("nothing is after it");
  check(await soon(page, told, 5), "after the last one nothing is");
  await page.keyboard.press("Enter");
  check(await isAt(page, `t=${mm[N - 1].start_ns}+${mm[N - 1].dur_ns}`), "Enter takes its time as the range");
}

async function testMarks(page, server) {
  const marks = () => page.locator(".tl-minimap .hits path").count();
  await openTimeline(page, server, "trace?q=rare");
  check(await soon(page, async () => (await marks()) === 1, 5), `one mark: ${await marks()}`);
  const map = await page.locator(".tl-minimap").boundingBox();
  const mark = await page.locator(".tl-minimap .hits path").boundingBox();
  const share = (mark.x + mark.width / 2 - map.x) / map.width;
  const expected = 40_010_000 / (49_950_000 + 0);
  check(Math.abs(share - expected) < 0.01, `it is where the hit is: ${share}, not ${expected}`);
  await openTimeline(page, server, "trace?q=aten");
  check(await soon(page, async () => (await marks()) === N, 5), `a mark for each: ${await marks()}`);
  check((await page.textContent(".tl-minimap .hits title")) === `${N} hits`, "it says how many");
}

/** What a folded track and a folded process still show. */
async function testFolded(page, server) {
  await openTimeline(page, server, "trace?w=0+3000000&fold=t0.1.1.thread,p0.0");
  check((await heightOf(page, "thread 1")) === 22, "a folded track is low");
  const colours = (title, from, height) =>
    page.evaluate(
      ([text, top, lines]) => {
        const canvas = document.querySelector(".tl-canvases canvas");
        const head = [...document.querySelectorAll(".tl-head")].find((h) => h.textContent.includes(text));
        const scroll = canvas.getBoundingClientRect().top;
        const ratio = window.devicePixelRatio;
        const y = Math.round((head.getBoundingClientRect().top - scroll + top) * ratio);
        const { data } = canvas.getContext("2d").getImageData(0, y, canvas.width, lines * ratio);
        return new Set(new Uint32Array(data.buffer)).size;
      },
      [title, from, height],
    );
  // Below the first level there are lines of the next three: an operator, a frame, a call.
  check((await colours("thread 1", 12, 3)) > 1, "the second level is a line");
  check((await colours("thread 1", 18, 2)) > 1, "so is the fourth");
  const group = page.locator(".tl-head.group", { hasText: "0" }).last();
  check((await group.getAttribute("aria-expanded")) === "false", "the process is folded");
  const title = (await group.textContent()).trim();
  check((await colours(title, 2, 3)) > 1, `its busy queue is a line in ${title}`);
}

/** What is in a merged cell. */
async function testInside(page, server) {
  await openTimeline(page, server, "trace");
  const box = await page.locator(".tl-canvases canvas").first().boundingBox();
  const head = await page.locator(".tl-head.track", { hasText: "thread 2" }).first().boundingBox();
  await page.waitForTimeout(400);
  await page.mouse.move(box.x + box.width * 0.4, head.y + 10);
  const rows = () => page.locator(".tl-popover tr").allTextContents();
  check(await soon(page, async () => (await rows()).length === 2, 5), `names in it: ${await rows()}`);
  const text = await page.textContent(".tl-popover");
  check(/[23] ranges in .*, \d\d.% of it busy/.test(text), `how busy it is: ${text}`);
  const expected = ["load9.000 us", "parse8.000 us"].join().replace(/ /g, "\u00a0");
  check((await rows()).join().replace(/ /g, "\u00a0") === expected, `the longest: ${await rows()}`);
}

/** =EXPR finds events by any of their columns. */
async function testExpression(page, server) {
  await openTimeline(page, server, `trace?q=${encodeURIComponent("=dur_ns = 800000 and start_ns > 48000000")}`);
  const found = (await rowsOf(`opscope table events ${join(folder, "layers.json")}`)).filter(
    (row) => row.dur_ns === "800000" && Number(row.start_ns) > 48_000_000,
  );
  check(found.length === 2, `two operators: ${found.length}`);
  await page.waitForSelector(".sheet [role=row]");
  const n = () => page.textContent(".sheet .tools:last-of-type, .sheet");
  check(await soon(page, async () => (await n()).includes("2 rows"), 5), "the sheet lists them");
  await page.focus(".tl");
  await page.keyboard.press("n");
  check(await isAt(page, `sel=ev:${found[0].id}`), `n goes to the first: ${await hashOf(page)}`);
  check((await page.locator(".tl-minimap .hits path").count()) === 2, "both are marked");
}

/** The page in a file has the same lanes, and finds what is beside an event. */
async function testSaved(other) {
  const page = await other.context().newPage();
  const file = join(folder, "layers.html");
  execFileSync(opscope, ["export", join(folder, "layers.json"), "-o", file], { stdio: "ignore" });
  const server = { origin: pathToFileURL(file).href.replace(/\/$/, "") };
  const openFile = async (place) => {
    await page.goto("about:blank");
    await page.goto(`${server.origin}#/${place}`);
    await page.waitForSelector(".tl-head");
    await page.waitForTimeout(500);
    await page.focus(".tl");
  };
  await openFile("trace");
  check((await heads(page)).some((text) => text.includes(`${QUEUES} sparse queues`)), "saved: packed");
  check((await heightOf(page, "thread 1")) === 76, "saved: with frames");
  await page.keyboard.press("Shift+Y");
  check(await soon(page, async () => (await heightOf(page, "thread 1")) === 40, 5), "saved: without");
  const mm = (await rowsOf(`opscope table events ${join(folder, "layers.json")}`)).filter(
    (row) => row.kind === "operator",
  );
  await openFile(`trace?python=off&w=3100000+200000&sel=ev:${mm[3].id}`);
  await page.keyboard.press("ArrowRight");
  check(await isAt(page, `sel=ev:${mm[4].id}`), `saved: →: ${await hashOf(page)}`);
  await page.close();
}

/** Record a program that calls ITT, with tasks of two domains on two threads. */
function recordDomains() {
  const client = join(folder, "client");
  const source = join(root, "tests/sources/client.c");
  const options = [`-I${join(root, "src")}`, "-D_GNU_SOURCE", "-lpthread", "-ldl"];
  execFileSync("cc", ["-O1", source, "-o", client, ...options]);
  const out = join(folder, "recordings");
  mkdirSync(out);
  const collector = join(dirname(opscope), "libopscope-collect.so");
  const env = { ...process.env, INTEL_LIBITTNOTIFY64: collector, OPSCOPE_OUT: out };
  execFileSync(client, ["domains"], { env, stdio: "ignore" });
  return join(out, readdirSync(out).find((name) => name.endsWith(".osc")));
}

/** Tasks of an ITT domain are a track, whatever their threads. */
async function testDomains(other) {
  const server = await start([recordDomains()]);
  const [page, faults] = await openPage(other.context(), server.origin);
  await openTimeline(page, server, "trace");
  const titles = (await heads(page)).map((text) => text.replace(/^[▾▸] /, ""));
  for (const name of ["outer", "inner, too"])
    check(titles.filter((text) => text === `domain ${name}`).length === 1, `${name}: ${titles}`);
  const head = page.locator(".tl-head.track", { hasText: "domain inner, too" });
  await head.hover();
  await head.locator("button[aria-label^='Pin']").click();
  check(await isAt(page, "pin=d0."), `pinned: ${await hashOf(page)}`);
  await page.reload();
  await page.waitForSelector(".tl-head");
  const first = page.locator(".tl-head.track .tl-title").first();
  const isFirst = async () => (await first.textContent()).includes("domain inner, too");
  check(await soon(page, isFirst, 5), "a link has it at the top");
  check(faults.length === 0, `domains: ${faults[0]}`);
  await page.close();
  server.stop();
}

async function testMenu(page, server) {
  const place = "trace?w=0+3000000";
  const menu = async (item) => {
    await openTimeline(page, server, place);
    const box = await page.locator(".tl-canvases canvas").first().boundingBox();
    const head = await page.locator(".tl-head.track", { hasText: "thread 1" }).first().boundingBox();
    await page.waitForTimeout(300);
    await page.mouse.click(box.x + (box.width * 400) / 3000, head.y + 10 + 18, { button: "right" });
    await page.click(`.tl-menu button:has-text('${item}')`);
  };
  for (const [item, word] of [
    ["pin or unpin", "pin=t0.1.1.thread"],
    ["fold it", "fold=t0.1.1.thread"],
    ["hide the track", "hide=t0.1.1.thread"],
    ["rows of its name", "where=name = 'aten::mm'"],
  ]) {
    await menu(item);
    const is = async () => (await hashOf(page)).replace(/\+/g, " ").includes(word);
    check(await soon(page, is, 5), `${item}: ${await hashOf(page)}`);
  }
  await menu("copy the command");
  check(await soon(page, async () => (await page.textContent("body")).includes("copied"), 5), "it is copied");
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  check(/^opscope table events --from 0ns --to 300000\dns/.test(copied), `the command: ${copied}`);
}

/** Esc takes an area back, and its thread and tab. */
async function testEscape(page, server) {
  await openTimeline(page, server, "trace?t=0+3000000&thread=1/1&area=kinds");
  check((await page.textContent(".sheet")).includes("thread 1"), "the area is of one thread");
  await page.focus(".tl");
  await page.keyboard.press("Escape");
  const isGone = async () => !/[?&](t|thread|area)=/.test(await hashOf(page));
  check(await soon(page, isGone, 5), `nothing is left of it: ${await hashOf(page)}`);
}

await main(async (browser) => {
  const options = {
    ...{ viewport: { width: 1280, height: 720 } },
    permissions: ["clipboard-read", "clipboard-write"],
  };
  const context = await browser.newContext(options);
  const path = join(folder, "layers.json");
  write(path);
  const server = await start([path]);
  const [page, faults] = await openPage(context, server.origin);
  await inPages(browser, options, server.origin, async (one) => {
    for (const test of [testFrames, testUse, testFolded]) await test(one, server);
  });
  writeMemory(join(folder, "memory.json"));
  const memory = await start([join(folder, "memory.json")]);
  await inPages(browser, options, memory.origin, (one) => testMemory(one, memory));
  memory.stop();
  for (const test of [testPacked, testCrop, testBeside, testMarks, testInside, testExpression, testMenu, testEscape, testSaved, testDomains])
    await test(page, server);
  await testWrong(context, server);
  check(faults.length === 0, `faults: ${faults[0]}`);
});
