// SPDX-License-Identifier: Apache-2.0
// Ranks by steps as pixels: the more, the darker. The worst cell has a ring; arrows go, Enter opens.

import { useEffect, useRef, useState } from "preact/hooks";
import { blend, parseHex } from "../model/colour.ts";
import { watchSize } from "../model/device_pixels.ts";
import { cellBeside, type HeatMap } from "../model/heat.ts";
import { takeKey } from "../model/key_list.ts";
import { formatTime } from "../model/units.ts";
import { usePage } from "../state/session.ts";
import { HEAT_KEYS, type HeatCursor } from "./heat_keys.ts";
import { token } from "./token.ts";

const LEAST_ROW = 12;
const MOST_ROW = 22;
const HEIGHT = 440;

interface Cell {
  readonly row: number;
  readonly step: number;
}

interface HeatMapProps {
  readonly map: HeatMap;
  readonly label: string;
  readonly onOpen: (cell: Cell) => void;
}

export function rowHeight(map: HeatMap): number {
  return Math.max(LEAST_ROW, Math.min(MOST_ROW, Math.floor(HEIGHT / map.rows.length)));
}

function pixelOf(name: string): number {
  const [r, g, b] = parseHex(token(name));
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

/** Paint MAP on CONTEXT of WIDTH x HEIGHT device pixels. */
function paintHeat(context: CanvasRenderingContext2D, map: HeatMap, width: number, height: number) {
  const image = context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  const [ground, full, line] = [pixelOf("surface"), pixelOf("slower"), pixelOf("bg")];
  for (const [r, row] of map.rows.entries()) {
    const top = Math.round((r * height) / map.rows.length);
    const bottom = Math.round(((r + 1) * height) / map.rows.length);
    for (const [s, value] of row.values.entries()) {
      const left = Math.round((s * width) / map.steps.length);
      const right = Math.round(((s + 1) * width) / map.steps.length);
      const share = map.most > 0 ? Math.round(Math.sqrt(value / map.most) * 255) : 0;
      const edge = right - left > 6 ? right - 1 : right;
      pixels.fill(blend(full, ground, share), top * width + left, top * width + edge);
      pixels.fill(line, top * width + edge, top * width + right);
    }
    for (let y = top + 1; y < bottom - 1; y++)
      pixels.copyWithin(y * width, top * width, (top + 1) * width);
    pixels.fill(line, (bottom - 1) * width, bottom * width);
  }
  context.putImageData(image, 0, 0);
}

function ring(context: CanvasRenderingContext2D, map: HeatMap, cell: Cell, dash: number[]) {
  const { width, height } = context.canvas;
  const [w, h] = [width / map.steps.length, height / map.rows.length];
  const box = [cell.step * w + 1, cell.row * h + 1, Math.max(3, w - 2), h - 2] as const;
  for (const [colour, line] of [
    ["bg", 4],
    ["text", 2],
  ] as const) {
    context.setLineDash(colour === "bg" ? [] : dash);
    context.strokeStyle = token(colour);
    context.lineWidth = line;
    context.strokeRect(...box);
  }
}

/** What CELL of MAP says. */
export function heatSentence(map: HeatMap, cell: Cell): string {
  const row = map.rows[cell.row];
  if (row === undefined) return "";
  const value = row.values[cell.step] ?? 0;
  const step = map.steps[cell.step] ?? "";
  const where = step === "" ? "outside of steps" : `in step ${step}`;
  const each = row.members > 1 ? "on average " : "";
  return `${row.label}, ${where}: ${each}${formatTime(value)}`;
}

function useMap({ map }: HeatMapProps, at: Cell | null) {
  const page = usePage();
  const canvas = useRef<HTMLCanvasElement>(null);
  const [{ width, ratio }, setSize] = useState({ width: 0, ratio: 1 });
  const height = rowHeight(map) * map.rows.length;
  useEffect(() => {
    const box = canvas.current!.parentElement!;
    return watchSize(box, (of) => setSize({ width: box.clientWidth, ratio: of }));
  }, []);
  useEffect(() => {
    const element = canvas.current!;
    const context = element.getContext("2d");
    element.width = Math.round(width * ratio);
    element.height = Math.round(height * ratio);
    if (context === null || element.width === 0 || element.height === 0) return;
    paintHeat(context, map, element.width, element.height);
    if (map.worst !== null) ring(context, map, map.worst, []);
    if (at !== null) ring(context, map, at, [4, 3]);
  }, [map, width, ratio, height, at, page.theme.value]);
  return { canvas, height };
}

export function HeatMapChart(props: HeatMapProps) {
  const { map } = props;
  const [at, setAt] = useState<Cell | null>(null);
  const { canvas, height } = useMap(props, at);
  useEffect(() => setAt(null), [map]);
  const cellOf = (event: MouseEvent): Cell => {
    const box = canvas.current!.getBoundingClientRect();
    const part = (v: number, size: number, n: number) =>
      Math.min(n - 1, Math.max(0, Math.floor((v / size) * n)));
    return {
      row: part(event.clientY - box.top, box.height, map.rows.length),
      step: part(event.clientX - box.left, box.width, map.steps.length),
    };
  };
  const here = at ?? map.worst ?? { row: 0, step: 0 };
  const cursor: HeatCursor = {
    go: (key) => setAt(at === null ? here : cellBeside(map, at, key)),
    open: () => props.onOpen(here),
  };
  return (
    <div
      class="heat"
      role="application"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: an application takes the keys
      tabIndex={0}
      aria-label={`${props.label}; arrows go from cell to cell, Enter opens one`}
      onKeyDown={(event) => takeKey(HEAT_KEYS, cursor, event)}
    >
      <canvas
        ref={canvas}
        style={{ width: "100%", height: `${height}px` }}
        title={at === null ? undefined : heatSentence(map, at)}
        onPointerMove={(event) => setAt(cellOf(event))}
        onClick={(event) => props.onOpen(cellOf(event))}
      />
      <output class="unseen">{at !== null && heatSentence(map, at)}</output>
    </div>
  );
}
