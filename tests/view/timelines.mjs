// SPDX-License-Identifier: Apache-2.0
// What the tests of the timeline share: its page, its address, and whether it is drawn otherwise.
import { hashOf, settle, soon } from "./browser.mjs";

/** Open PLACE, which shows a timeline, and let it take the keys. */
export async function openTimeline(page, server, place) {
  await page.goto("about:blank");
  await page.goto(`${server.origin}/#/${place}`);
  await settle(page);
  await page.waitForSelector(".tl-head");
  await page.waitForTimeout(700);
  await page.focus(".tl");
}

/** Whether the address gets WORD soon. */
export const isAt = (page, word) => soon(page, async () => (await hashOf(page)).includes(word), 5);

/** The range KEY of the address, as [from, to]; null: none. */
export async function rangeOf(page, key = "w") {
  const [, from, width] = new RegExp(`[?&]${key}=(-?\\d+)\\+(\\d+)`).exec(await hashOf(page)) ?? [];
  return from === undefined ? null : [Number(from), Number(from) + Number(width)];
}

/** A number that changes with what the NTH timeline shows. */
export const picture = (page, nth = 0) =>
  page.evaluate((n) => {
    const canvas = document.querySelectorAll(".tl-canvases canvas:first-child")[n];
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let sum = 0;
    for (let i = 0; i < data.length; i += 4) sum = (sum * 31 + data[i] + 7 * data[i + 2]) >>> 0;
    return sum;
  }, nth);
