// SPDX-License-Identifier: Apache-2.0
// Rows of an answer (cols.ts) in another order, or only some of them: as another answer.

import { Frame, type Value } from "./cols.ts";
import type { Question } from "./question.ts";

interface HeadColumn {
  name: string;
  array: "BigInt64Array" | "Float64Array" | "Uint8Array" | "Uint32Array";
  at: number;
  missing: number | null;
  sum?: string | null;
}

export interface Head {
  command: string | null;
  rows: number;
  offset: number;
  n: number;
  notes: string[];
  made?: number;
  questions?: (Question | null)[];
  columns: HeadColumn[];
  words: { n: number; offsets: number; bytes: number; n_bytes: number };
}

const FRONT_BYTES = 16;
const WIDTHS = { BigInt64Array: 8, Float64Array: 8, Uint8Array: 1, Uint32Array: 4 } as const;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** An answer as it is in the file. */
export class Stored {
  readonly head: Head;
  readonly frame: Frame;
  /** Where the rows were before they were sorted, in their rank and span. */
  readonly made: Uint32Array;
  private readonly body: ArrayBuffer;
  private readonly start: number;

  constructor(body: ArrayBuffer) {
    const view = new DataView(body);
    this.body = body;
    this.start = view.getUint32(12, true);
    this.head = JSON.parse(
      decoder.decode(new Uint8Array(body, FRONT_BYTES, view.getUint32(8, true))),
    ) as Head;
    this.frame = new Frame(body);
    const { made, n } = this.head;
    this.made =
      made === undefined
        ? Uint32Array.from({ length: n }, (_, row) => row)
        : new Uint32Array(body, this.start + made, n);
  }

  /** The ROWS of it, in that order, of an answer with ALL rows that COMMAND prints. */
  pick(rows: readonly number[], changes: Partial<Head>): Frame {
    const data = this.body.slice(this.start);
    const from = new Uint8Array(this.body, this.start);
    const to = new Uint8Array(data);
    for (const column of this.head.columns) {
      gather(from, to, column.at, WIDTHS[column.array], rows);
      if (column.missing !== null) gather(from, to, column.missing, 1, rows);
    }
    const { questions } = this.head;
    const picked = questions && { questions: rows.map((row) => questions[row]!) };
    return new Frame(join({ ...this.head, ...picked, ...changes, n: rows.length }, data));
  }
}

function gather(
  from: Uint8Array,
  to: Uint8Array,
  at: number,
  width: number,
  rows: readonly number[],
): void {
  for (const [i, row] of rows.entries())
    for (let b = 0; b < width; b++) to[at + i * width + b] = from[at + row * width + b]!;
}

function join(head: Head, data: ArrayBuffer): ArrayBuffer {
  const text = encoder.encode(JSON.stringify(head));
  const start = Math.ceil((FRONT_BYTES + text.length) / 8) * 8;
  const bytes = new Uint8Array(start + data.byteLength);
  bytes.set(encoder.encode("osccols1"));
  bytes.set(text, FRONT_BYTES);
  bytes.set(new Uint8Array(data), start);
  const view = new DataView(bytes.buffer);
  view.setUint32(8, text.length, true);
  view.setUint32(12, start, true);
  return bytes.buffer;
}

function compareBytes(a: string, b: string): number {
  const [x, y] = [encoder.encode(a), encoder.encode(b)];
  for (let i = 0; i < x.length && i < y.length; i++) if (x[i] !== y[i]) return x[i]! - y[i]!;
  return x.length - y.length;
}

function compareValues(a: Value, b: Value): number {
  if (typeof a === "string" && typeof b === "string") return compareBytes(a, b);
  return a! < b! ? -1 : a! > b! ? 1 : 0;
}

/** ROWS of STORED as the command sorts them: missing ones last, equal ones as they were made;
 * each rank and span, which BLOCK tells, on its own. */
export function sortRows(
  stored: Stored,
  rows: readonly number[],
  column: number,
  isUp: boolean,
  block: (row: number) => string,
): number[] {
  const blocks = new Map<string, number>();
  const keys = rows.map((row) => {
    const word = block(row);
    if (!blocks.has(word)) blocks.set(word, blocks.size);
    const value = stored.frame.value(row, column);
    const isThere = value !== null && !Number.isNaN(value as number);
    return { row, block: blocks.get(word)!, value: isThere ? value : null };
  });
  keys.sort((a, b) => {
    if (a.block !== b.block) return a.block - b.block;
    if ((a.value === null) !== (b.value === null)) return a.value === null ? 1 : -1;
    const order = a.value === null ? 0 : compareValues(a.value, b.value);
    if (order !== 0) return isUp ? order : -order;
    return stored.made[a.row]! - stored.made[b.row]!;
  });
  return keys.map((key) => key.row);
}
