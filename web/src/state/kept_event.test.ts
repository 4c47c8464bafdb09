// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventDetail, Timeline } from "../api/api.ts";
import { isOfNote, isSame, numbersOf } from "./kept_event.ts";

const EVENT = {
  ...{
    fingerprint: "f",
    event: 7,
    rank: 1,
    span: 1,
    id: 7,
    name: "aten::mm",
    folded: "aten::mm",
    kind: "operator",
  },
  ...{ category: "cpu_op", track: 0, start_ns: 100, dur_ns: 20, self_ns: 20 },
  ...{ args: { a: 1 }, links: [] },
} satisfies EventDetail;
const of = (change: Partial<EventDetail>, base: string | null = "1000") => ({
  event: { ...EVENT, ...change },
  base,
});

test("an event is the same if the file grew", () => {
  assert.ok(isSame(of({}), of({})));
  assert.ok(isSame(of({}), of({ event: 90 })), "its number may be another one");
  assert.ok(isSame(of({ dur_ns: null, args: {} }), of({})), "it may have ended");
  assert.ok(isSame(of({}), of({ start_ns: 350 }, "750")), "an earlier trace moves the origin");
});

test("it is another one if the file was replaced", () => {
  for (const change of [
    { name: "aten::add" },
    { kind: "kernel" },
    { start_ns: 101 },
    { dur_ns: 21 },
    { rank: 0 },
    { id: 8 },
    { args: { a: 2 } },
  ])
    assert.ok(!isSame(of({}), of(change)), JSON.stringify(change));
  assert.ok(!isSame(of({}), of({}, "2000")), "another day");
});

test("an event is looked for by its number and its rank", () => {
  const traces = [
    { rank: 0, first_event: 0 },
    { rank: 1, first_event: 50 },
  ];
  assert.deepEqual(numbersOf(of({}), { traces } as unknown as Timeline), [7, 57]);
});

test("a note knows its event by its time", () => {
  const note = { at: 100, dur: 20, event: 7, text: "" };
  assert.ok(isOfNote(note, EVENT));
  assert.ok(!isOfNote({ ...note, at: 99 }, EVENT));
  assert.ok(!isOfNote({ ...note, dur: 0 }, EVENT));
});
