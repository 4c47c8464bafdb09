// SPDX-License-Identifier: Apache-2.0
// A chart as a picture: what stands in the page, as SVG with its colours in it, and below it from
// what it was made. PNG has two pixels for one of the page.

const NAMESPACE = "http://www.w3.org/2000/svg";
const MARGIN = 12;
const LINE = 16;
const SCALE = 2;
const STYLES = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "font-size",
  "text-anchor",
];

interface Place {
  readonly x: number;
  readonly y: number;
}

function make(name: string, values: Readonly<Record<string, string | number>>): SVGElement {
  const element = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(values)) element.setAttribute(key, String(value));
  return element;
}

function boxOf(element: Element, origin: Place) {
  const box = element.getBoundingClientRect();
  return { x: box.x - origin.x, y: box.y - origin.y, width: box.width, height: box.height };
}

/** A copy of SVG with the colours that style sheets give it. */
function copySvg(svg: SVGSVGElement, origin: Place): SVGElement {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const from = [svg, ...svg.querySelectorAll("*")];
  const to = [copy, ...copy.querySelectorAll("*")];
  for (const [i, element] of from.entries()) {
    const style = getComputedStyle(element);
    const target = to[i]!;
    target.removeAttribute("class");
    for (const name of STYLES) target.setAttribute(name, style.getPropertyValue(name));
    target.setAttribute("font-family", style.fontFamily);
  }
  for (const [key, value] of Object.entries(boxOf(svg, origin))) copy.setAttribute(key, `${value}`);
  return copy;
}

/** The texts of NODE, each where it stands. */
function textsOf(node: Text, origin: Place): SVGElement[] {
  const text = node.data.trim();
  const parent = node.parentElement;
  if (text === "" || parent === null) return [];
  const range = document.createRange();
  range.selectNodeContents(node);
  const box = range.getBoundingClientRect();
  if (box.width === 0) return [];
  const style = getComputedStyle(parent);
  const size = Number.parseFloat(style.fontSize);
  const element = make("text", {
    x: box.x - origin.x,
    y: box.y - origin.y + box.height / 2 + size * 0.35,
    fill: style.color,
    "font-size": size,
    "font-weight": style.fontWeight,
    "font-family": style.fontFamily,
  });
  element.textContent = text;
  return [element];
}

function partsOf(element: Element, origin: Place): SVGElement[] {
  const style = getComputedStyle(element);
  if (style.visibility === "hidden" || style.display === "none") return [];
  if (element.matches(".unseen, .section-tools, option")) return [];
  if (element instanceof SVGSVGElement) return [copySvg(element, origin)];
  const box = boxOf(element, origin);
  if (element instanceof HTMLCanvasElement)
    return [make("image", { ...box, href: element.toDataURL() })];
  const parts = contentsOf(element, style, box, origin);
  // What is scrolled out of sight is not in the picture.
  if (style.overflow === "visible" || box.width === 0 || box.height === 0) return parts;
  const { x, y, width, height } = box;
  const clipped = make("svg", { ...box, viewBox: `${x} ${y} ${width} ${height}` });
  clipped.append(...parts);
  return [clipped];
}

function contentsOf(
  element: Element,
  style: CSSStyleDeclaration,
  box: ReturnType<typeof boxOf>,
  origin: Place,
): SVGElement[] {
  const parts: SVGElement[] = [];
  const ground = style.backgroundColor;
  if (ground !== "rgba(0, 0, 0, 0)" && box.width > 0)
    parts.push(make("rect", { ...box, fill: ground }));
  for (const child of element.childNodes) {
    if (child instanceof Element) parts.push(...partsOf(child, origin));
    else if (child instanceof Text) parts.push(...textsOf(child, origin));
  }
  return parts;
}

export interface Picture {
  readonly text: string;
  readonly width: number;
  readonly height: number;
}

/** ELEMENT as SVG, with the lines of CAPTION below it. */
export function pictureOf(element: Element, caption: readonly string[]): Picture {
  const box = element.getBoundingClientRect();
  const origin = { x: box.x - MARGIN, y: box.y - MARGIN };
  const width = Math.ceil(box.width + 2 * MARGIN);
  const height = Math.ceil(box.height + 2 * MARGIN + caption.length * LINE);
  const style = getComputedStyle(document.body);
  const svg = make("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
  svg.append(make("rect", { width, height, fill: style.backgroundColor }));
  svg.append(...partsOf(element, origin));
  for (const [i, line] of caption.entries()) {
    const text = make("text", {
      x: MARGIN,
      y: box.height + 2 * MARGIN + (i + 0.5) * LINE,
      fill: style.color,
      "font-size": 11,
      "font-family": "monospace",
    });
    text.textContent = line;
    svg.append(text);
  }
  return { text: new XMLSerializer().serializeToString(svg), width, height };
}

/** PICTURE as PNG. */
export async function pngOf(picture: Picture): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(picture.text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = picture.width * SCALE;
  canvas.height = picture.height * SCALE;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, fail) =>
    canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("no picture"))), "image/png"),
  );
}

/** Let the browser save BLOB as NAME. */
export function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
