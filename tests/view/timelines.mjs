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

/** Where the pixels are of which a canvas of the timeline, or of the flame graph, has too many or too
 * few, if any; that of a timeline is as wide as there is room. */
export const misfit = (page) =>
  page.evaluate(() => {
    const ratio = window.devicePixelRatio;
    const around = document.querySelector(".tl-body")?.getBoundingClientRect();
    const canvases = [
      ...document.querySelectorAll(".tl-canvases canvas, canvas.tl-ruler, .flame-canvases canvas"),
    ];
    if (canvases.length === 0) return "there is no canvas";
    for (const canvas of canvases) {
      const box = canvas.getBoundingClientRect();
      const isOwn = Math.abs(canvas.width - box.width * ratio) < 0.1;
      const isWide = around === undefined || Math.abs(box.right - around.right) <= 1 + 1 / ratio;
      if (!isOwn || !isWide || Math.abs(canvas.height - box.height * ratio) >= 0.1)
        return `${canvas.width} x ${canvas.height} for ${box.width} x ${box.height}, ends at ${box.right}`;
    }
    return "";
  });

/** How far pictures A and B of one thing are apart, of 255: the most that a square of 8 pixels is,
 * on average; B has SCALE pixels for one of A. */
export const apart = (page, a, b, scale) =>
  page.evaluate(
    async ([urls, times]) => {
      const SQUARE = 8;
      const means = await Promise.all(
        urls.map(async (src, i) => {
          const image = Object.assign(new Image(), { src });
          await image.decode();
          const factor = SQUARE * (i === 0 ? 1 : times);
          const [width, height] = [image.width, image.height].map((n) => Math.floor(n / factor));
          const canvas = Object.assign(document.createElement("canvas"), {
            width: image.width,
            height: image.height,
          });
          const context = canvas.getContext("2d");
          context.drawImage(image, 0, 0);
          const { data } = context.getImageData(0, 0, image.width, image.height);
          const sums = new Float64Array(width * height * 3);
          for (let y = 0; y < height * factor; y++)
            for (let x = 0; x < width * factor; x++)
              for (let k = 0; k < 3; k++)
                sums[(Math.floor(y / factor) * width + Math.floor(x / factor)) * 3 + k] +=
                  data[(y * image.width + x) * 4 + k] / factor ** 2;
          return sums;
        }),
      );
      if (means[0].length !== means[1].length) return 255;
      return means[0].reduce((most, v, i) => Math.max(most, Math.abs(v - means[1][i])), 0);
    },
    [[a, b].map((bytes) => `data:image/png;base64,${bytes.toString("base64")}`), scale],
  );
