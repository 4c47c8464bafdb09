#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Measure the frames of the timeline while it is panned and zoomed, and of a table that is scrolled.
//
//     frames.mjs OPSCOPE TRACE WHAT [SECONDS]
//
// WHAT is "timeline" or "table". Prints samples, "NAME NUMBER": `frame` (the median), `p99` and `worst` in
// milliseconds, `frames`, and `cells`, the questions that were asked meanwhile; of a table `rows`, and `last`, the
// milliseconds until the key End shows the last one. Chromium is headless, without a GPU.
import { launch, serve } from "../tools/chromium.mjs";

const [opscope, trace, what, seconds = "10"] = process.argv.slice(2);

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

const server = await serve(opscope, [trace]);
const browser = await launch();
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
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
} finally {
  await browser.close();
  server.stop();
}
