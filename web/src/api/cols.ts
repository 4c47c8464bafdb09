// SPDX-License-Identifier: Apache-2.0
// Rows of a table as the server sends them (format=cols, src/api/cols.h): the arrays of the body
// are viewed in place; nothing is parsed but the head.

import type { Question } from "./question.ts";
import type { ColumnOf, NumberOf, TableName } from "./tables.ts";

export type ColumnType = "string" | "integer" | "number" | "boolean";

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  readonly unit: string | null;
  readonly help: string;
}

interface HeadColumn extends Column {
  readonly array: "BigInt64Array" | "Float64Array" | "Uint8Array" | "Uint32Array";
  readonly at: number;
  readonly missing: number | null;
  readonly sum?: string | null;
  readonly labels?: Readonly<Record<string, string>>;
}

interface Head {
  readonly table: string;
  readonly fingerprint: string;
  readonly command: string | null;
  readonly rows: number;
  readonly offset: number;
  readonly n: number;
  readonly notes: readonly string[];
  readonly columns: readonly HeadColumn[];
  readonly questions?: readonly (Question | null)[];
  readonly words: { n: number; offsets: number; bytes: number; n_bytes: number };
}

/** A value of a cell; null: it is missing. */
export type Value = string | number | bigint | boolean | null;

const decoder = new TextDecoder();

/** Rows [offset, offset + n) of an answer of `rows` rows of table T. Without T it is one of any table:
 * what is known only at run time is looked up by find(). */
export class Frame<out T extends TableName = TableName> {
  readonly table: T;
  readonly fingerprint: string;
  readonly command: string | null;
  readonly rows: number;
  readonly offset: number;
  readonly n: number;
  readonly notes: readonly string[];
  readonly columns: readonly Column[];
  private readonly questions: readonly (Question | null)[];
  private readonly sums: (string | null)[];
  private readonly labels: (ReadonlyMap<string, string> | null)[];
  private readonly arrays: ArrayLike<number | bigint>[];
  private readonly missing: (Uint8Array | null)[];
  private readonly words: (string | undefined)[];
  private readonly offsets: Uint32Array;
  private readonly bytes: Uint8Array;
  private readonly indexes = new Map<string, number>();

  /** Throws an Error if BODY is no such answer. */
  constructor(body: ArrayBuffer) {
    if (body.byteLength < 16 || decoder.decode(new Uint8Array(body, 0, 8)) !== "osccols1")
      throw new Error("the answer is not a table");
    const view = new DataView(body);
    const start = view.getUint32(12, true);
    const head = JSON.parse(
      decoder.decode(new Uint8Array(body, 16, view.getUint32(8, true))),
    ) as Head;
    this.table = head.table as T;
    this.fingerprint = head.fingerprint;
    this.command = head.command;
    this.rows = head.rows;
    this.offset = head.offset;
    this.n = head.n;
    this.notes = head.notes;
    this.columns = head.columns;
    this.questions = head.questions ?? [];
    this.sums = head.columns.map((c) => c.sum ?? null);
    this.labels = head.columns.map((c) =>
      c.labels === undefined ? null : new Map(Object.entries(c.labels)),
    );
    this.arrays = head.columns.map((c) => arrayOf(body, c, start, head.n));
    this.missing = head.columns.map((c) =>
      c.missing === null ? null : new Uint8Array(body, start + c.missing, head.n),
    );
    this.words = new Array<string | undefined>(head.words.n);
    this.offsets = new Uint32Array(body, start + head.words.offsets, head.words.n + 1);
    this.bytes = new Uint8Array(body, start + head.words.bytes, head.words.n_bytes);
    for (const [i, c] of head.columns.entries()) this.indexes.set(c.name, i);
  }

  /** What MAKE makes of each row. */
  map<R>(make: (row: number) => R): R[] {
    return Array.from({ length: this.n }, (_, row) => make(row));
  }

  /** The attributes of an element that shows the value of ROW in the column NAME. */
  shown(row: number, name: ColumnOf<T>): Record<string, string> {
    const value = this.value(row, this.index(name));
    return value === null ? {} : { "data-v": String(value), "data-r": String(row), "data-c": name };
  }

  /** The index of column NAME; -1: the answer does not have it, as no row needs it. */
  index(name: ColumnOf<T>): number {
    return this.find(name);
  }

  /** The same of a NAME that is known only at run time, of which there may be no column. */
  find(name: string): number {
    return this.indexes.get(name) ?? -1;
  }

  /** Whether it is of TABLE. */
  isOf<U extends TableName>(table: U): this is Frame<U> {
    return (this.table as TableName) === table;
  }

  /** The question for the rows that are the evidence of ROW; null: it has none. */
  question(row: number): Question | null {
    return this.questions[row] ?? null;
  }

  /** The exact value of ROW (from 0 in this frame) in COLUMN. */
  value(row: number, column: number): Value {
    const c = this.columns[column];
    const raw = this.arrays[column]?.[row];
    if (c === undefined || raw === undefined || this.missing[column]?.[row] === 1) return null;
    if (c.type === "string") return this.word(Number(raw));
    if (c.type === "boolean") return raw === 1;
    return raw;
  }

  /** The same as a number, which may be rounded; null: it is missing, or is a text. */
  number(row: number, column: number): number | null {
    const v = this.value(row, column);
    return typeof v === "bigint" || typeof v === "number" ? Number(v) : null;
  }

  /** The value of ROW in the column NAME as text; "": it is missing. */
  text(row: number, name: ColumnOf<T>): string {
    return this.textAt(row, this.index(name));
  }

  /** The same of COLUMN. */
  textAt(row: number, column: number): string {
    const v = this.value(row, column);
    return v === null ? "" : String(v);
  }

  /** What TEXT of COLUMN is called: names of functions are short, and differ from all others. */
  label(text: string, column: number): string {
    return this.labels[column]?.get(text) ?? text;
  }

  /** The number of ROW in the column NAME; null: it is missing. */
  at(row: number, name: NumberOf<T>): number | null {
    return this.number(row, this.find(name));
  }

  /** The sum of column INDEX over all rows of the answer; null: it was not asked for, or the
   * server has not made all rows. */
  sum(index: number): number | bigint | null {
    const sum = this.sums[index] ?? null;
    if (sum === null) return null;
    return this.columns[index]!.type === "integer" ? BigInt(sum) : Number(sum);
  }

  private word(i: number): string {
    let w = this.words[i];
    if (w === undefined) {
      w = decoder.decode(this.bytes.subarray(this.offsets[i], this.offsets[i + 1]));
      this.words[i] = w;
    }
    return w;
  }
}

function arrayOf(body: ArrayBuffer, c: HeadColumn, start: number, n: number) {
  const at = start + c.at;
  switch (c.array) {
    case "BigInt64Array":
      return new BigInt64Array(body, at, n);
    case "Float64Array":
      return new Float64Array(body, at, n);
    case "Uint8Array":
      return new Uint8Array(body, at, n);
    case "Uint32Array":
      return new Uint32Array(body, at, n);
  }
}
