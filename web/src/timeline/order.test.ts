// SPDX-License-Identifier: Apache-2.0
import { deepEqual } from "node:assert/strict";
import { test } from "node:test";
import type { Track } from "../api/api.ts";
import { formatOrder, parseOrder, sortTracks, withMove } from "./order.ts";

const track = (thread: string, sort: "thread" | "queue") => ({ thread, sort }) as Track;
const TRACKS = [track("t10", "thread"), track("t9", "thread"), track("q", "queue")];
const BUSY = new Map([
  ["t9", 50],
  ["q", 7],
]);

function sorted(words: string): string[] {
  const name = (one: Track) => one.thread;
  return sortTracks(TRACKS, parseOrder(words, BUSY), name, name).map(name);
}

test("tracks are as given, by busy time or by name, and as they were moved", () => {
  deepEqual(sorted(""), ["q", "t10", "t9"]);
  deepEqual(sorted("busy"), ["t9", "q", "t10"]);
  deepEqual(sorted("name"), ["q", "t9", "t10"]);
  deepEqual(sorted("busy,t10<q"), ["t9", "t10", "q"]);
  deepEqual(sorted("t9<q,gone<q,q<gone"), ["t9", "q", "t10"]);
});

test("an order comes back from the address", () => {
  const { word, moves } = parseOrder("name,a<b", BUSY);
  deepEqual(formatOrder({ word, moves }), "name,a<b");
  deepEqual(formatOrder({ word, moves: withMove(moves, "a", "c") }), "name,a<c");
  deepEqual(withMove(moves, "x", "x"), moves);
});
