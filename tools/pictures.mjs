#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Take pictures of the viewer's views with Chromium.
//
//     pictures.mjs [--opscope PATH] [--size 1280x720] [--theme light|dark] OUT TRACE [NAME=PLACE...]
//
// Writes OUT/NAME.png for each PLACE, which is what stands behind # in the address, such as
// 'trace?steps=5'; without any, one picture of each view. TRACE may be a log directory. Needs
// /usr/bin/chromium and what `npm ci` puts into web/.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { launch, root, serve } from "./chromium.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    opscope: { type: "string", default: join(root, "build/opscope") },
    size: { type: "string", default: "1280x720" },
    theme: { type: "string", default: "light" },
  },
});
const [out, trace, ...wanted] = positionals;
const size = /^(\d+)x(\d+)$/.exec(values.size);
if (trace === undefined || size === null || !["light", "dark"].includes(values.theme)) {
  console.error("usage: pictures.mjs [--opscope PATH] [--size WxH] [--theme light|dark] OUT TRACE [NAME=PLACE...]");
  process.exit(2);
}

/** Wait until nothing is on its way. */
async function settle(page) {
  await page.waitForSelector("main.view h1");
  await page.waitForFunction(
    () =>
      !document.querySelector(".old, .skeleton") &&
      !/^(…|reading)/.test(document.querySelector("main.view h1").textContent),
    undefined,
    { timeout: 60_000 },
  );
  await page.waitForTimeout(500);
}

/** The views of the page as [name, place]. */
async function allViews(page) {
  const links = await page.$$eval(".rail a", (list) => list.map((a) => a.getAttribute("href")));
  return links.map((href) => {
    const place = href.replace(/^#\//, "");
    return [place.replace(/\?.*/, ""), place];
  });
}

mkdirSync(out, { recursive: true });
const server = await serve(values.opscope, [trace]);
const browser = await launch();
try {
  const page = await browser.newPage({
    viewport: { width: Number(size[1]), height: Number(size[2]) },
    colorScheme: values.theme,
  });
  await page.goto(server.address);
  await settle(page);
  const places =
    wanted.length > 0 ? wanted.map((word) => word.split(/=(.*)/s, 2)) : await allViews(page);
  for (const [name, place] of places) {
    await page.goto("about:blank");
    await page.goto(`${server.address}#/${place}`);
    await settle(page);
    const path = join(out, `${name}.png`);
    await page.screenshot({ path });
    console.log(path);
  }
} finally {
  await browser.close();
  server.stop();
}
