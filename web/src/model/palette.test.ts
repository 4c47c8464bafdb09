// SPDX-License-Identifier: Apache-2.0
// The colours of the page: what is read has contrast, and categories are told apart by people who
// see colours otherwise, too (Machado, Oliveira and Fernandes 2009, severity 1).
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

type Triple = readonly [number, number, number];
type Matrix = readonly [Triple, Triple, Triple];

const SIGHTS: Readonly<Record<string, Matrix>> = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protan: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deutan: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritan: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};
const TO_LMS: Matrix = [
  [0.4122214708, 0.5363325363, 0.0514459929],
  [0.2119034982, 0.6806995451, 0.1073969566],
  [0.0883024619, 0.2817188376, 0.6299787005],
];
const TO_LAB: Matrix = [
  [0.2104542553, 0.793617785, -0.0040720468],
  [1.9779984951, -2.428592205, 0.4505937099],
  [0.0259040371, 0.7827717662, -0.808675766],
];
const CATEGORIES = "kernel memcpy memset communication runtime dataloader cpu_exec other".split(
  " ",
);
const LEAST = { light: 7.0, dark: 8.8 } as const;

function times(m: Matrix, [x, y, z]: Triple): Triple {
  const [a, b, c] = m.map((row) => row[0] * x + row[1] * y + row[2] * z);
  return [a!, b!, c!];
}

/** A colour #rrggbb as light. */
function lightOf(text: string): Triple {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const v = Number.parseInt(text.slice(at, at + 2), 16) / 255;
    return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  });
  return [r!, g!, b!];
}

function contrast(a: Triple, b: Triple): number {
  const [x, y] = [a, b].map(([r, g, c]) => 0.2126 * r + 0.7152 * g + 0.0722 * c + 0.05);
  return Math.max(x!, y!) / Math.min(x!, y!);
}

/** OKLab of what SIGHT sees of LIGHT. */
function seen(light: Triple, sight: Matrix): Triple {
  const [r, g, b] = times(sight, light).map((v) => Math.min(1, Math.max(0, v)));
  const [l, m, s] = times(TO_LMS, [r!, g!, b!]).map(Math.cbrt);
  return times(TO_LAB, [l!, m!, s!]);
}

/** {token: light} of each theme. */
function themes(): Record<"light" | "dark", Record<string, Triple>> {
  const css = readFileSync("src/style/tokens.css", "utf8");
  const [light, dark] = [...css.matchAll(/:root[^{]*\{([^}]*)\}/g)].map((block) =>
    Object.fromEntries(
      [...block[1]!.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map((m) => [m[1]!, lightOf(m[2]!)]),
    ),
  );
  return { light: light!, dark: dark! };
}

test("texts have 4.5 : 1 on every ground, categories 3 : 1 on the page", () => {
  for (const [theme, tokens] of Object.entries(themes())) {
    for (const text of ["text", "text-2", "text-3", "link", "error", "warning", "slower", "faster"])
      for (const ground of ["bg", "surface", "raised"]) {
        const c = contrast(tokens[text]!, tokens[ground]!);
        assert.ok(c >= 4.5, `${theme}: ${text} on ${ground}: ${c}`);
      }
    for (const name of CATEGORIES) {
      const c = contrast(tokens[name]!, tokens.bg!);
      assert.ok(c >= 3, `${theme}: ${name}: ${c}`);
    }
  }
});

test("categories are told apart by every sight", () => {
  const all = themes();
  for (const theme of ["light", "dark"] as const)
    for (const [sight, matrix] of Object.entries(SIGHTS))
      for (const [i, a] of CATEGORIES.entries())
        for (const b of CATEGORIES.slice(i + 1)) {
          const [x, y] = [seen(all[theme][a]!, matrix), seen(all[theme][b]!, matrix)];
          const apart = 100 * Math.hypot(...x.map((v, k) => v - y[k]!));
          // The limits have one digit, and so are rounded.
          assert.ok(apart >= LEAST[theme] - 0.05, `${theme}, ${sight}: ${a} and ${b}: ${apart}`);
        }
});
