// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { frameOf } from "../api/cols_fixture.ts";
import { cameOf, clocksOf, medianOf, whereOfCall } from "./late_rank.ts";

const CLOCKS = clocksOf(
  frameOf([
    { name: "rank", type: "integer", values: [0n, 1n, 2n] },
    { name: "clock_offset_ns", type: "integer", values: [0n, 10_000n, null] },
    { name: "clock_error_ns", type: "integer", values: [100n, 5000n, null] },
  ]),
);

test("what communicates is asked by the clock of each rank", () => {
  const where = whereOfCall(CLOCKS, 50_000);
  assert.match(where, /\(rank = 0 AND start_ns <= 51000 AND start_ns \+ dur_ns > 50000\)/);
  assert.match(where, /\(rank = 1 AND start_ns <= 65000 AND start_ns \+ dur_ns > 60000\)/);
  assert.match(where, /\(rank = 2 AND start_ns <= 51000 /);
});

test("of each rank the last start counts, of the device before the host", () => {
  const events = frameOf([
    { name: "rank", type: "integer", values: [0n, 0n, 1n, 1n, 2n] },
    {
      ...{ name: "kind", type: "string" },
      values: ["communication", "kernel", "kernel", "kernel", "kernel"],
    },
    { name: "start_ns", type: "integer", values: [49_000n, 20_000n, 15_000n, 55_000n, 50_000n] },
  ]);
  const came = cameOf(events, CLOCKS);
  assert.deepEqual(
    came.map(({ rank, at, row }) => [rank, at, row]),
    [
      ["0", 20_000, 1],
      ["1", 45_000, 3],
      ["2", 50_000, 4],
    ],
  );
  assert.equal(medianOf(came, "2")?.rank, "0");
  assert.equal(medianOf(came, "0")?.rank, "1");
  assert.equal(medianOf(came.slice(0, 1), "0"), null);
});
