// SPDX-License-Identifier: Apache-2.0
// What is chosen of memory, as the address has it: sel=at:NS is a time, sel=block:NS:NS when a block
// was allocated and released, sel=block:NS:NS:NS a block of those that are alive at the last time.

import type { TextsOf } from "../api/tables.ts";

export interface ChosenBlock {
  /** The time at which rows are alive, in ns; "": rows are of all times. */
  readonly at: string;
  /** When the block was allocated and released, as far as that is known. */
  readonly marks: readonly number[];
}

export function parseBlock(sel: string): ChosenBlock {
  const at = /^at:(-?\d+)$/.exec(sel)?.[1];
  if (at !== undefined) return { at, marks: [] };
  const [, alloc, free, time] = /^block:(-?\d*):(-?\d*)(?::(-?\d+))?$/.exec(sel) ?? [];
  const marks = [alloc, free].flatMap((ns) => (ns ? [Number(ns)] : []));
  return { at: time ?? "", marks };
}

export function formatTimeOf(at: string): string {
  return at === "" ? "" : `at:${at}`;
}

/** The block of a row, with the values of its columns, of those that are alive at AT. */
export function formatBlock(row: TextsOf<"memory_events">, at: string): string {
  const block = `block:${row.alloc_ns ?? ""}:${row.free_ns ?? ""}`;
  return at === "" ? block : `${block}:${at}`;
}
