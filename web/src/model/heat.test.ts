// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { frameOf } from "../api/cols_fixture.ts";
import { cellBeside, heatOf } from "./heat.ts";

/** CELLS: rank, step, wait. */
function frame(cells: ReadonlyArray<readonly [number, string, number]>) {
  return frameOf([
    { name: "rank", type: "integer", values: cells.map(([rank]) => BigInt(rank)) },
    { name: "step", type: "string", values: cells.map(([, step]) => step) },
    { name: "waited_ns", type: "integer", unit: "ns", values: cells.map(([, , ns]) => BigInt(ns)) },
  ]);
}

test("ranks by steps, in the order that is wanted", () => {
  const cells = [
    [1, "10", 5],
    [0, "9", 1],
    [1, "9", 2],
    [2, "10", 9],
  ] as const;
  const late = heatOf(frame(cells), "waited_ns", "late");
  assert.deepEqual(late.steps, ["9", "10"]);
  assert.deepEqual(
    late.rows.map((r) => [r.label, ...r.values]),
    [
      ["rank 2", 0, 9],
      ["rank 1", 2, 5],
      ["rank 0", 1, 0],
    ],
  );
  assert.deepEqual(late.worst, { row: 0, step: 1 });
  assert.equal(late.most, 9);
  const rank = heatOf(frame(cells), "waited_ns", "rank");
  assert.deepEqual(
    rank.rows.map((r) => r.rank),
    ["0", "1", "2"],
  );
  assert.deepEqual(rank.worst, { row: 2, step: 1 });
  assert.equal(heatOf(frame(cells), "waited_ns", "alike").rows[0]?.rank, "2");
});

test("of 4,096 ranks those that are alike share a row, and the late one has its own", () => {
  const cells: [number, string, number][] = [];
  for (let rank = 0; rank < 4096; rank++)
    for (const step of ["1", "2", "3"])
      cells.push([rank, step, rank === 1234 && step === "2" ? 5000 : (rank * 7) % 50]);
  const map = heatOf(frame(cells), "waited_ns", "late");
  assert.ok(map.rows.length <= 64);
  assert.equal(map.ranks, 4096);
  assert.equal(map.rows[map.worst!.row]!.label, "rank 1234");
  assert.equal(
    map.rows.reduce((n, row) => n + row.members, 0),
    4096,
  );
});

test("ranks of which none is like another still fit", () => {
  const cells: [number, string, number][] = [];
  for (let rank = 0; rank < 500; rank++)
    for (let step = 0; step < 8; step++)
      cells.push([rank, String(step), (rank * 7919 + step * 104729) % 10007]);
  const map = heatOf(frame(cells), "waited_ns", "rank");
  assert.ok(map.rows.length <= 64);
  assert.equal(
    map.rows.reduce((n, row) => n + row.members, 0),
    500,
  );
});

test("nobody waits: there is no worst cell", () => {
  assert.equal(heatOf(frame([[0, "1", 0]]), "waited_ns", "late").worst, null);
  assert.equal(heatOf(frame([]), "waited_ns", "late").rows.length, 0);
});

test("keys stay within the map", () => {
  const map = heatOf(
    frame([
      [0, "1", 1],
      [1, "2", 2],
    ]),
    "waited_ns",
    "rank",
  );
  assert.deepEqual(cellBeside(map, { row: 0, step: 0 }, "ArrowDown"), { row: 1, step: 0 });
  assert.deepEqual(cellBeside(map, { row: 1, step: 1 }, "ArrowRight"), { row: 1, step: 1 });
});
