// SPDX-License-Identifier: Apache-2.0
// Frames for unit tests, encoded as the server does (src/api/cols.h).

import { type ColumnType, Frame, type Value } from "./cols.ts";

export interface FixtureColumn {
  readonly name: string;
  readonly type: ColumnType;
  readonly unit?: string;
  readonly values: readonly Value[];
}

const ARRAYS = {
  string: "Uint32Array",
  integer: "BigInt64Array",
  number: "Float64Array",
  boolean: "Uint8Array",
} as const;

function arrayOf(column: FixtureColumn, words: string[]): ArrayBufferView {
  const { type, values } = column;
  switch (type) {
    case "integer":
      return BigInt64Array.from(values, (v) => BigInt(typeof v === "bigint" ? v : Number(v ?? 0)));
    case "number":
      return Float64Array.from(values, (v) => Number(v ?? 0));
    case "boolean":
      return Uint8Array.from(values, (v) => (v === true ? 1 : 0));
    case "string":
      return Uint32Array.from(values, (v) => (v === null ? 0 : words.push(String(v)) - 1));
  }
}

/** A frame with COLUMNS, which are equally long, as one of any table. */
export function frameOf(
  columns: readonly FixtureColumn[],
  notes: readonly string[] = [],
): Frame<never> {
  const parts: { at: number; bytes: Uint8Array }[] = [];
  let end = 0;
  const add = (view: ArrayBufferView): number => {
    const at = end;
    parts.push({ at, bytes: new Uint8Array(view.buffer, view.byteOffset, view.byteLength) });
    end += (view.byteLength + 7) & ~7;
    return at;
  };
  const words: string[] = [];
  const n = columns[0]?.values.length ?? 0;
  const heads = columns.map((c) => ({
    name: c.name,
    type: c.type,
    unit: c.unit ?? null,
    help: "",
    array: ARRAYS[c.type],
    at: add(arrayOf(c, words)),
    missing: add(Uint8Array.from(c.values, (v) => (v === null ? 1 : 0))),
  }));
  const encoded = words.map((w) => new TextEncoder().encode(w));
  const offsets = new Uint32Array(words.length + 1);
  for (const [i, bytes] of encoded.entries()) offsets[i + 1] = offsets[i]! + bytes.length;
  const all = new Uint8Array(offsets[words.length]!);
  for (const [i, bytes] of encoded.entries()) all.set(bytes, offsets[i]!);
  const where = { n: words.length, offsets: add(offsets), bytes: add(all), n_bytes: all.length };
  const head = { table: "t", fingerprint: "f", command: "c", rows: n, offset: 0, n, notes };
  const json = JSON.stringify({ ...head, columns: heads, words: where });
  const text = new TextEncoder().encode(json);
  const start = (16 + text.length + 7) & ~7;
  const body = new Uint8Array(start + end);
  body.set(new TextEncoder().encode("osccols1"));
  new DataView(body.buffer).setUint32(8, text.length, true);
  new DataView(body.buffer).setUint32(12, start, true);
  body.set(text, 16);
  for (const part of parts) body.set(part.bytes, start + part.at);
  return new Frame(body.buffer);
}
