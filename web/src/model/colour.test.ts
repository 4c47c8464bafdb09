// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { blend, lighten, luminance, makePalette, parseHex, STEPS, stepOf } from "./colour.ts";

test("texts can be read on every shade", () => {
  for (const ground of ["#ffffff", "#101317"]) {
    const palette = makePalette(["", "kernel", "operator"], (name) =>
      name === "bg" ? ground : name === "kernel" ? "#294488" : "#78ab7b",
    );
    for (let i = 0; i < 3 * STEPS; i++) {
      const p = palette.shades[i]!;
      const light = luminance([p & 255, (p >> 8) & 255, (p >> 16) & 255]);
      const text = palette.texts[i] === "#ffffff" ? 1 : 0;
      const contrast = (Math.max(light, text) + 0.05) / (Math.min(light, text) + 0.05);
      assert.ok(contrast >= 4.5, `${i}: ${contrast}`);
    }
  }
});

test("the lightness changes and the hue stays", () => {
  assert.deepEqual(lighten(parseHex("#294488"), 0), [0x29, 0x44, 0x88]);
  assert.ok(luminance(lighten(parseHex("#294488"), 0.1)) > luminance(parseHex("#294488")));
});

test("names have steps that do not change", () => {
  assert.equal(stepOf("aten::conv2d"), stepOf("aten::conv2d"));
  const seen = new Set(Array.from({ length: 100 }, (_, i) => stepOf(`op${i}`)));
  assert.equal(seen.size, STEPS);
});

test("pixels blend channel by channel", () => {
  assert.equal(blend(0xff112233, 0xffffffff, 255), 0xff112233);
  assert.equal(blend(0xff000000, 0xffffffff, 127), 0xff7f7f7f);
});
