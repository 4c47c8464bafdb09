#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Measure the frames of the timeline while it is panned and zoomed, and of a table that is scrolled;
// or how long the view of memory takes to show a range of time.
//
//     frames.mjs OPSCOPE TRACE WHAT [SECONDS [RATIO]]
//
// RATIO is the number of device pixels for one of the page (1). WHAT is "timeline", "table" or "memory". Of memory it prints `curve`, `drawn` and `all`: the milliseconds from the
// end of a drag over the curve until the curve of that range is on the screen, until its tables are, too, and until
// the sentence is, once for each of 15 ranges of a tenth of the time. Else it prints samples, "NAME NUMBER": `frame` (the median), `p99` and `worst` in
// milliseconds, `frames`, and `cells`, the questions that were asked meanwhile; of a table `rows`, and `last`, the
// milliseconds until the key End shows the last one. Chromium is headless, without a GPU.
import { launch, serve } from "../tools/chromium.mjs";

const [opscope, trace, what, seconds = "10", ratio = "1"] = process.argv.slice(2);

/** Keys that zoom in, pan and zoom out again, for as long as the measure takes. */
async function move(page, until) {
  await page.focus(".tl");
  const box = await page.locator(".tl-canvases canvas").last().boundingBox();
  await page.mouse.move(box.x + box.width / 3, box.y + box.height / 3);
  while (Date.now() < until)
    for (const [key, times] of [["w", 12], ["d", 12], ["a", 8], ["s", 12]])
      for (let i = 0; i < times && Date.now() < until; i++) {
        await page.keyboard.press(key);
        await page.waitForTimeout(16);
      }
}

async function scroll(page, until) {
  const box = await page.locator(".grid").last().boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  while (Date.now() < until) await page.mouse.wheel(0, 3000);
}

/** Watch in the page for what a drag selects: when the curve, and when all of the view shows it. */
const watchRange = () =>
  new Promise((done) => {
    window.addEventListener(
      "mouseup",
      () => {
        const begun = performance.now();
        const before = window.location.hash;
        const took = {};
        const look = () => {
          const t = /[?&]t=(\d+)[+](\d+)/.exec(decodeURIComponent(window.location.hash));
          const all = [...document.querySelectorAll("main.view [data-command]")];
          const parts = all.filter((part) => !part.matches(".headline"));
          const isNew = (part) =>
            part.dataset.command.includes(`--from ${t[1]}ns`) && !part.closest(".old, .problem");
          if (window.location.hash !== before && t) {
            const curve = parts.find((part) => part.querySelector(".curves"));
            // The frame after the one in which it was drawn is when it is seen.
            if (curve && isNew(curve)) took.curve ??= performance.now() - begun;
            if (took.curve && parts.every(isNew)) took.drawn ??= performance.now() - begun;
            if (took.drawn && all.every(isNew)) took.all = performance.now() - begun;
          }
          if (took.all) requestAnimationFrame(() => done(took));
          else requestAnimationFrame(look);
        };
        requestAnimationFrame(look);
      },
      { once: true, capture: true },
    );
  });

const RANGES = 15;

async function measureMemory(browser, server) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  await page.goto(`${server.address}#/memory`);
  await page.waitForSelector(".curves .u-over", { timeout: 120_000 });
  await page.waitForTimeout(3000);
  for (let i = 0; i < RANGES; i++) {
    const plot = page.locator(".curves .u-over");
    await plot.waitFor();
    const box = await plot.boundingBox();
    const [x, y] = [box.x + (box.width * (i + 1)) / (RANGES + 4), box.y + box.height / 2];
    const taken = page.evaluate(watchRange);
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + box.width / 10, y, { steps: 3 });
    await page.mouse.up();
    for (const [name, ms] of Object.entries(await taken)) console.log(`${name} ${ms}`);
    await page.keyboard.press("Escape"); // all of the time again
    await page.waitForFunction(() => !/[?&]t=/.test(window.location.hash));
    await page.waitForTimeout(1500);
  }
}

async function measureFrames(browser, server) {
  const screen = { viewport: { width: 1280, height: 720 }, deviceScaleFactor: Number(ratio) };
  const page = await browser.newPage(screen);
  let asked = 0;
  page.on("request", (request) => {
    if (/\/(cells|values|table\/events)\?/.test(request.url())) asked++;
  });
  const place = what === "timeline" ? "trace" : "tables?table=events";
  await page.goto(`${server.address}#/${place}`);
  await page.waitForSelector(what === "timeline" ? ".tl-canvases canvas" : ".grid [role=row]", {
    timeout: 120_000,
  });
  await page.waitForTimeout(3000);
  await page.evaluate(() => {
    window.frames_ms = [];
    let last = performance.now();
    const tick = (now) => {
      window.frames_ms.push(now - last);
      last = now;
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  });
  asked = 0;
  await (what === "timeline" ? move : scroll)(page, Date.now() + 1000 * Number(seconds));
  const times = (await page.evaluate(() => window.frames_ms)).slice(1).sort((a, b) => a - b);
  console.log(`frame ${times[times.length >> 1]}`);
  console.log(`p99 ${times[Math.floor(times.length * 0.99)]}`);
  console.log(`worst ${times.at(-1)}`);
  console.log(`frames ${times.length}`);
  console.log(`cells ${asked}`);
  if (what === "table") {
    await page.focus(".grid");
    await page.keyboard.press("End");
    const rows = Number(await page.getAttribute(".grid", "aria-rowcount")) - 1;
    const before = Date.now();
    await page.waitForSelector(`.grid [data-r='${rows - 1}'][data-c='id']`);
    console.log(`rows ${rows}`);
    console.log(`last ${Date.now() - before}`);
  }
}

const server = await serve(opscope, [trace]);
const browser = await launch();
try {
  await (what === "memory" ? measureMemory : measureFrames)(browser, server);
} finally {
  await browser.close();
  server.stop();
}
