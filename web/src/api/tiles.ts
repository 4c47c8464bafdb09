// SPDX-License-Identifier: Apache-2.0
// The cells of the whole timeline at a few resolutions, as the page has them in its own file
// (src/page/levels.h), and windows of them as packets.

import {
  CELL,
  type CellPacket,
  decodeCells,
  type LaneCells,
  SAMPLE,
  type ValuePacket,
} from "./packets.ts";

const HEADER_BYTES = 48;
const LANE_BYTES = 16;

/** A resolution: tiles one after the other, all with the same unit. */
export type Level = readonly CellPacket[];

function readTile(bytes: Uint8Array): CellPacket {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const n = view.getUint32(24, true);
  const head = HEADER_BYTES + view.getUint32(20, true) * LANE_BYTES;
  const body = new Uint8Array(bytes.byteLength);
  body.set(bytes.subarray(0, head));
  const words = new Uint32Array(body.buffer, head, n * CELL.words);
  for (let w = 0; w < CELL.words; w++) {
    const isDelta = w === CELL.start || w === CELL.event;
    const at = head + w * 4 * n;
    let before = 0;
    for (let i = 0; i < n; i++) {
      let v = 0;
      for (let b = 3; b >= 0; b--) v = (v << 8) | bytes[at + b * n + i]!;
      v = (v + before) >>> 0;
      words[i * CELL.words + w] = v;
      before = isDelta ? v : 0;
    }
  }
  const rest = head + n * CELL.words * 4;
  body.set(bytes.subarray(rest), rest);
  return decodeCells(body.buffer);
}

export function readLevel(bytes: Uint8Array): Level {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const tiles: CellPacket[] = [];
  for (let at = 0; at + 8 <= bytes.byteLength; ) {
    const n = view.getUint32(at, true);
    tiles.push(readTile(bytes.subarray(at + 8, at + 8 + n)));
    at += 8 + Math.ceil(n / 8) * 8;
  }
  return tiles;
}

interface Part {
  readonly tile: CellPacket;
  readonly from: number;
  readonly to: number;
}

/** The cells of LANE in TILE that begin before END (a time) and end after START. */
function partOf(tile: CellPacket, lane: LaneCells, start: number, end: number): Part {
  const { t0, unit } = tile.head;
  const at = (i: number) => t0 + tile.signed[i * CELL.words + CELL.start]! * unit;
  const endOf = (i: number) => at(i) + tile.words[i * CELL.words + CELL.length]! * unit;
  const firstWith = (isIt: (i: number) => boolean) => {
    let [low, high] = [lane.first, lane.first + lane.count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isIt(middle)) high = middle;
      else low = middle + 1;
    }
    return low;
  };
  // In a lane that overlaps, a long cell before these may be left out, as the server does.
  return {
    tile,
    from: firstWith((i) => endOf(i) >= start),
    to: firstWith((i) => at(i) > end),
  };
}

/** What LEVEL has of the lanes of TRACKS in the window. */
export function cutCells(
  level: Level,
  tracks: ReadonlyArray<readonly [id: number, lanes: number]>,
  window: { readonly from: number; readonly to: number },
  request: number,
): CellPacket {
  const wanted = new Map(tracks);
  const parts = new Map<string, { lane: LaneCells; parts: Part[] }>();
  const tiles = level.filter(
    ({ head }) => head.t0 <= window.to && head.t0 + head.width >= window.from,
  );
  for (const tile of tiles)
    for (const lane of tile.lanes) {
      if (lane.depth >= (wanted.get(lane.track) ?? 0)) continue;
      const key = `${lane.track}:${lane.depth}`;
      const found = parts.get(key) ?? { lane, parts: [] };
      parts.set(key, found);
      found.parts.push(partOf(tile, lane, window.from, window.to));
    }
  const first = tiles[0]?.head ?? level[0]!.head;
  let n = 0;
  for (const { parts: list } of parts.values()) for (const part of list) n += part.to - part.from;
  const words = new Uint32Array(Math.max(0, n) * CELL.words);
  const lanes: LaneCells[] = [];
  let k = 0;
  for (const { lane, parts: list } of parts.values()) {
    const start = k;
    let last = -1;
    for (const { tile, from, to } of list) {
      const shift = (tile.head.t0 - first.t0) / first.unit;
      for (let i = from; i < to; i++) {
        const event = tile.words[i * CELL.words + CELL.event]!;
        // A range that reaches over the end of a tile is in both.
        if (event === last) continue;
        last = event;
        words.set(tile.words.subarray(i * CELL.words, (i + 1) * CELL.words), k * CELL.words);
        words[k * CELL.words] = (words[k * CELL.words]! + shift) >>> 0;
        k++;
      }
    }
    lanes.push({ ...lane, first: start, count: k - start });
  }
  const t0 = first.t0;
  return {
    head: { ...first, isExact: false, t0, width: Math.max(window.to - t0, 0), request },
    lanes,
    n: k,
    words,
    signed: new Int32Array(words.buffer),
    durations: new Map(tiles.flatMap(({ durations }) => [...durations])),
  };
}

/** What ALL has of SERIES in the window, with one sample before it. */
export function cutValues(
  all: ValuePacket,
  series: readonly number[],
  window: { readonly from: number; readonly to: number },
): ValuePacket {
  const { t0, unit } = all.head;
  const at = (i: number) => t0 + all.signed[i * SAMPLE.words + SAMPLE.at]! * unit;
  const cut = all.series
    .filter((one) => series.includes(one.series))
    .map((one) => {
      let first = one.first;
      let end = one.first + one.count;
      while (first + 1 < end && at(first + 1) < window.from) first++;
      while (end - 1 > first && at(end - 1) > window.to) end--;
      return { ...one, first, count: end - first };
    });
  return { ...all, series: cut };
}
