// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Track } from "../api/api.ts";
import { packetOf } from "../api/packets_fixture.ts";
import { Viewport } from "../model/viewport.ts";
import type { GroupRow, TrackRow } from "./layout.ts";
import { hitIn, lanePlaces, lanesOf, paintedLanes } from "./places.ts";
import { longestOf } from "./popover.tsx";

const track = { id: 3, lanes: 4 } as Track;
const open: TrackRow = {
  ...{ kind: "track", key: "t", title: "t", indent: 0, y: 100, height: 76 },
  ...{ track, lanes: 4, deeper: 0, isFolded: false, packed: "", frames: 0 },
};
const folded: TrackRow = { ...open, height: 22, isFolded: true };
const group: GroupRow = {
  ...{ kind: "group", key: "p", title: "p", indent: 0, y: 0, height: 22, isFolded: true },
  ...{ sparse: 0, tracks: [{ id: 5 } as Track, track] },
};

/** Lane 0: event 10 [0, 100); lane 1: 11 [0, 9), 12 to 14 merged [20, 40). Name is event + 100. */
const packet = packetOf(
  [
    [[0, 100, 10, 110, 1 | (255 << 16)]],
    [
      [0, 9, 11, 111, 1 | (255 << 16)],
      [20, 20, 12, 112, 3 | (51 << 16)],
    ],
  ],
  100,
  3,
);
const view = new Viewport(0, 0, 1);

test("lanes are below each other; of a folded track the next ones are lines", () => {
  const boxes = (row: TrackRow | GroupRow) => lanePlaces([row]).map((p) => [p.top, p.height]);
  assert.deepEqual(boxes(open), [
    [102, 16],
    [120, 16],
    [138, 16],
    [156, 16],
  ]);
  assert.deepEqual(boxes(folded), [
    [102, 10],
    [112, 3],
    [115, 3],
    [118, 3],
  ]);
  assert.deepEqual(boxes(group), [
    [2, 3],
    [5, 3],
  ]);
  for (const [top, height] of [...boxes(folded), ...boxes({ ...group, y: 100 })])
    assert.ok(top! + height! <= 100 + 22);
});

test("a folded group shows one lane of each of its tracks", () => {
  assert.deepEqual(lanesOf([group, folded]), [
    [5, 1],
    [3, 1],
    [3, 4],
  ]);
  assert.deepEqual(
    paintedLanes(packet, lanePlaces([group]), 0, 2).map(({ y, height, lane }) => [
      y,
      height,
      lane.depth,
    ]),
    [[10, 6, 0]],
  );
});

test("what is under the pointer, folded or not, and how busy a merged cell is", () => {
  assert.equal(hitIn(packet, open, view, 5, 103)?.event, 10);
  assert.equal(hitIn(packet, open, view, 5, 122)?.event, 11);
  assert.equal(hitIn(packet, folded, view, 5, 103)?.event, 10);
  const merged = hitIn(packet, folded, view, 25, 113);
  assert.deepEqual([merged?.event, merged?.count, merged?.busy], [12, 3, 0.2]);
  assert.equal(hitIn(packet, group, view, 5, 3), null);
  assert.equal(hitIn(packet, open, view, 60, 122), null);
});

test("the longest names are of ranges that stand alone", () => {
  assert.deepEqual(longestOf(packet, 1), [{ name: 111, ns: 9 }]);
  assert.deepEqual(longestOf(packet, 0), [{ name: 110, ns: 100 }]);
  assert.deepEqual(longestOf(packet, 2), []);
});
