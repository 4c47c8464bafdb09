// SPDX-License-Identifier: Apache-2.0
// Colours of ranges. The hue says the kind; the hash of the name picks one of five steps of
// lightness, so that neighbours differ and a name has the same colour everywhere.

/** Five steps of lightness for each kind of cell, as pixels of an ImageData (0xAABBGGRR). */
export interface Palette {
  /** By kind * STEPS + step. */
  readonly shades: Uint32Array;
  /** Black or white, the one that is better to read on it; by the same index. */
  readonly texts: readonly string[];
  readonly ground: number;
  /** Of the median step below another one. */
  readonly ghost: number;
  /** Of lines behind the cells. */
  readonly grid: number;
}

export const STEPS = 5;
const KINDS = 256;
const STEP = 0.02;

/** The custom property that has the colour of a kind; others have that of "other". */
const TOKENS: Readonly<Record<string, string>> = {
  kernel: "kernel",
  memcpy: "memcpy",
  alloc: "memcpy",
  free: "memcpy",
  memset: "memset",
  communication: "communication",
  runtime: "runtime",
  driver: "runtime",
  sync: "runtime",
  dataloader: "dataloader",
  operator: "cpu_exec",
  optimizer: "optimizer",
  module: "module",
  python: "python",
  annotation: "label",
  step: "label",
  scope: "label",
  oom: "oom",
};

type Rgb = readonly [number, number, number];

function toLinear(c: number): number {
  const s = c / 255;
  return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
}

function toByte(l: number): number {
  const s = l <= 0.0031308 ? 12.92 * l : 1.055 * l ** (1 / 2.4) - 0.055;
  return Math.round(Math.min(1, Math.max(0, s)) * 255);
}

export function parseHex(text: string): Rgb {
  const v = Number.parseInt(text.trim().slice(1), 16);
  return Number.isNaN(v) ? [128, 128, 128] : [(v >> 16) & 255, (v >> 8) & 255, v & 255];
}

/** RGB with its OKLab lightness changed by DELTA (Björn Ottosson, A perceptual color space). */
export function lighten(rgb: Rgb, delta: number): Rgb {
  const [r, g, b] = [toLinear(rgb[0]), toLinear(rgb[1]), toLinear(rgb[2])];
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b) + delta;
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b) + delta;
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b) + delta;
  const [l3, m3, s3] = [l ** 3, m ** 3, s ** 3];
  return [
    toByte(4.0767416621 * l3 - 3.3077115913 * m3 + 0.2309699292 * s3),
    toByte(-1.2684380046 * l3 + 2.6097574011 * m3 - 0.3413193965 * s3),
    toByte(-0.0041960863 * l3 - 0.7034186147 * m3 + 1.707614701 * s3),
  ];
}

/** The relative luminance of WCAG. */
export function luminance([r, g, b]: Rgb): number {
  return 0.2126 * toLinear(r) + 0.7152 * toLinear(g) + 0.0722 * toLinear(b);
}

/** RGB as a pixel of an ImageData. */
export function pixelOf([r, g, b]: Rgb): number {
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

/** Black or white, the one that is better to read on PIXEL. */
export function textOn(pixel: number): string {
  const rgb: Rgb = [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255];
  return luminance(rgb) > 0.179 ? "#000000" : "#ffffff";
}

/** FNV-1a of the UTF-16 units of NAME. */
export function hashOf(name: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) h = Math.imul(h ^ name.charCodeAt(i), 0x01000193);
  return h >>> 0;
}

/** The step of lightness of NAME. */
export function stepOf(name: string): number {
  return hashOf(name) % STEPS;
}

/** The palette of KINDS, whose words are those of the server, with the tokens of the theme. */
export function makePalette(kinds: readonly string[], token: (name: string) => string): Palette {
  const shades = new Uint32Array(KINDS * STEPS);
  const texts = new Array<string>(KINDS * STEPS);
  const ground = parseHex(token("bg"));
  const away = luminance(ground) > 0.5 ? -STEP : STEP;
  for (let kind = 0; kind < KINDS; kind++) {
    const word = kind === KINDS - 1 ? "communication" : (kinds[kind] ?? "");
    const base = parseHex(token(TOKENS[word] ?? "other"));
    for (let step = 0; step < STEPS; step++) {
      const rgb = lighten(base, away * step);
      shades[kind * STEPS + step] = pixelOf(rgb);
      texts[kind * STEPS + step] = textOn(pixelOf(rgb));
    }
  }
  const ghost = pixelOf(parseHex(token("text-2")));
  const grid = blend(pixelOf(parseHex(token("hairline"))), pixelOf(ground), 128);
  return { shades, texts, ground: pixelOf(ground), ghost, grid };
}

/** COLOUR over GROUND, both pixels, with SHARE of 255 of it. */
export function blend(colour: number, ground: number, share: number): number {
  const a = share + 1;
  const b = 256 - a;
  const rb = ((((colour & 0xff00ff) * a + (ground & 0xff00ff) * b) >>> 8) & 0xff00ff) >>> 0;
  const g = ((((colour & 0xff00) * a + (ground & 0xff00) * b) >>> 8) & 0xff00) >>> 0;
  return (0xff000000 | rb | g) >>> 0;
}
