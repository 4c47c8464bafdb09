// SPDX-License-Identifier: Apache-2.0
// Windows of 500 rows of a long table, the twenty used last; asked when they come into sight.

import type { Api, ApiProblem, Options } from "../api/api.ts";
import { ApiError } from "../api/api.ts";
import type { Frame, Value } from "../api/cols.ts";
import type { TableName } from "../api/tables.ts";

export const WINDOW_ROWS = 500;
const KEPT = 20;

export class Windows {
  private readonly api: Api;
  private readonly name: TableName;
  private readonly options: Options;
  private readonly changed: () => void;
  private readonly frames = new Map<number, Frame>();
  private readonly asked = new Map<number, AbortController>();
  problem: ApiProblem | null = null;
  /** The window that came last: for columns, notes, and the number of rows. */
  latest: Frame | null = null;
  /** The first window, which has the sums of all rows. */
  first: Frame | null = null;

  /** CHANGED is called when rows have come, or a question has failed. */
  constructor(api: Api, name: TableName, options: Options, changed: () => void) {
    this.api = api;
    this.name = name;
    this.options = options;
    this.changed = changed;
  }

  /** Ask for the rows [from, to) that are not there. */
  want(from: number, to: number): void {
    const first = Math.floor(Math.max(0, from) / WINDOW_ROWS);
    const last = Math.floor(Math.max(0, to - 1) / WINDOW_ROWS);
    for (const [i, abort] of this.asked) if (i < first || i > last) abort.abort();
    for (let i = first; i <= last; i++)
      if (!this.frames.has(i) && !this.asked.has(i)) void this.ask(i);
  }

  /** The value of ROW in COLUMN; undefined: the row is not there yet. */
  value(row: number, column: number): Value | undefined {
    const frame = this.frameOf(row);
    return frame === undefined || row - frame.offset >= frame.n
      ? undefined
      : frame.value(row - frame.offset, column);
  }

  /** The window that ROW is in. */
  frameOf(row: number): Frame | undefined {
    return this.frames.get(Math.floor(row / WINDOW_ROWS));
  }

  close(): void {
    for (const abort of this.asked.values()) abort.abort();
  }

  private async ask(i: number): Promise<void> {
    const abort = new AbortController();
    this.asked.set(i, abort);
    try {
      const part = { offset: i * WINDOW_ROWS, limit: WINDOW_ROWS };
      const rows = i === 0 ? { ...part, sums: true as const } : part;
      const frame = await this.api.table(this.name, this.options, rows, abort.signal);
      this.frames.delete(i);
      this.frames.set(i, frame);
      for (const old of this.frames.keys()) {
        if (this.frames.size <= KEPT) break;
        this.frames.delete(old);
      }
      this.latest = frame;
      if (i === 0) this.first = frame;
      this.problem = null;
    } catch (cause) {
      if (abort.signal.aborted) return;
      this.problem =
        cause instanceof ApiError
          ? cause.problem
          : { status: 0, code: "page", message: String(cause), what_to_do: null, command: null };
    } finally {
      this.asked.delete(i);
    }
    this.changed();
  }
}
