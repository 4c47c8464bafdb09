// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Track } from "../api/api.ts";
import type { Row } from "./layout.ts";
import { rowLike, scrollTo } from "./use_scrolled.ts";

const track = (id: number, trace: number, sort: string, thread: string) =>
  ({ id, trace, sort, thread, process: "1", of: "all", lanes: 1 }) as unknown as Track;
const row = (one: Track, y: number) =>
  ({ kind: "track", key: `t${one.id}`, track: one, y, height: 20 }) as unknown as Row;

test("a track is found in its timeline, and one like it in another", () => {
  const run = [row(track(1, 0, "thread", "10"), 0), row(track(2, 0, "queue", "84"), 20)];
  const base = [
    row(track(3, 1, "thread", "11"), 0),
    row(track(4, 1, "queue", "7"), 20),
    row(track(5, 1, "queue", "84"), 40),
  ];
  const queue = track(2, 0, "queue", "84");
  assert.equal(rowLike(run, queue, false), run[1]);
  assert.equal(rowLike(base, queue, false), undefined);
  assert.equal(rowLike(base, queue, true), base[2], "of the same name");
  assert.equal(rowLike(base, track(1, 0, "thread", "10"), true), base[0], "of the same sort");
});

test("only what is out of sight is scrolled to", () => {
  const far = row(track(1, 0, "thread", "10"), 500);
  assert.equal(scrollTo(far, 0, 300), 400);
  assert.equal(scrollTo(far, 490, 300), null);
  assert.equal(scrollTo(row(track(1, 0, "thread", "10"), 10), 490, 300), 0);
});
