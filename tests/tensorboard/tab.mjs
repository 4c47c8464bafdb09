// SPDX-License-Identifier: Apache-2.0
// Open TensorBoard at URL, and print what its frame shows: {values, text, problems}.
//
//     node tab.mjs URL CHROMIUM [PICTURE]
import { launch } from "../../tools/chromium.mjs";

const [url, executablePath, picture] = process.argv.slice(2);
const browser = await launch(executablePath);
const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
const problems = [];
const origin = new URL(url).origin;
const isOurs = (address) => address.startsWith(`${origin}/data/plugin/opscope/`);
page.on("console", (message) => {
  if (message.type() === "error" && isOurs(message.location().url)) problems.push(message.text());
});
page.on("pageerror", (error) => problems.push(String(error)));
page.on("response", (response) => {
  if (isOurs(response.url()) && response.status() >= 400)
    problems.push(`${response.status()} ${response.url()}`);
});
page.on("request", (request) => {
  if (request.frame().url().includes("/plugin/opscope/") && !request.url().startsWith(origin)
    && !request.url().startsWith("data:")) problems.push(`asks ${request.url()}`);
});
await page.goto(url);
let frame;
for (let i = 0; i < 300 && frame === undefined; i++) {
  frame = page.frames().find((f) => f.url().startsWith(`${origin}/data/plugin/opscope/index.html`));
  await page.waitForTimeout(100);
}
if (frame === undefined) throw new Error(`no frame: ${page.frames().map((f) => f.url())}`);
await frame.waitForSelector("[data-v]", { timeout: 30000 });
await page.waitForTimeout(500);
const values = await frame.$$eval("[data-v]", (cells) => cells.map((c) => c.dataset.v));
const text = await frame.evaluate(() => document.body.innerText);
if (picture) await page.screenshot({ path: picture });
await browser.close();
console.log(JSON.stringify({ values, text, problems }));
