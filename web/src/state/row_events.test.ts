// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventsOf, isOneEvent, timeOf } from "./row_events.ts";

type Values = Record<string, string>;
const of = (table: string, values: Values, column = "") => eventsOf({ table, values, column });

test("a row leads to its events", () => {
  assert.equal(of("operators", { name: "aten::a'b" }), "name = 'aten::a''b' AND kind = 'operator'");
  assert.equal(of("kernels", { name: "k" }), "name = 'k'");
  assert.equal(of("ranges", { name: "x", kind: "scope" }), "name = 'x' AND kind = 'scope'");
  assert.equal(
    of("ranges", { name: "ProfilerStep*", kind: "step" }),
    "(name = 'ProfilerStep*' OR name regexp '^ProfilerStep#') AND kind = 'step'",
  );
  assert.equal(
    of("ranges", { name: "step", kind: "step" }),
    "(name = 'step' OR name regexp '^ProfilerStep#') AND kind = 'step'",
  );
  assert.equal(of("ranges", { kind: "scope", step: "3" }), "kind = 'scope' AND step = 3");
  assert.equal(of("modules", { name: "L_0" }), "name in ('nn.Module: L_0', 'L_0')");
  assert.equal(
    of("events", { id: "7", start_ns: "5", rank: "1" }),
    "start_ns = 5 AND id = 7 AND rank = 1",
  );
  assert.equal(of("memory_events", {}), "");
  assert.equal(of("info", { key: "a" }), "");
});

test("sums lead to all that they count", () => {
  const cases: [string, Values, string][] = [
    ["memory", { name: "mm", device: "cuda:0" }, "name = 'mm' AND kind = 'operator'"],
    ["memory_events", { alloc_ns: "9" }, "start_ns = 9 AND kind = 'alloc'"],
    ["memory_live", { oldest_ns: "9", rank: "2" }, "start_ns = 9 AND rank = 2 AND kind = 'alloc'"],
    ["memory_peaks", { peak_ns: "8" }, "start_ns = 8 AND kind in ('alloc', 'free')"],
    ["overview", { category: "memcpy" }, "kind = 'memcpy'"],
    ["overview", { category: "other" }, ""],
    ["collectives", { name: "gloo:barrier", rank: "1" }, "name = 'gloo:barrier' AND rank = 1"],
    ["devices", { device: "cuda:0", rank: "0" }, "device = 'cuda:0' AND rank = 0"],
    ["threads", { process: "1", thread: "2" }, "process = '1' AND thread = '2'"],
    [
      "step_explain",
      { name: "m", kind: "kernel", step: "7" },
      "name = 'm' AND kind = 'kernel' AND step = 7",
    ],
    ["ranks", { rank: "3" }, "kind = 'step' AND rank = 3"],
    [
      "durations",
      { name: "m", kind: "kernel", from_ns: "4", to_ns: "8" },
      "name = 'm' AND kind = 'kernel' AND dur_ns >= 4 AND dur_ns < 8",
    ],
  ];
  for (const [table, values, where] of cases) assert.equal(of(table, values), where, table);
  assert.match(of("overview", { category: "kernel" }), /^kind = 'kernel' AND NOT lower\(name\)/);
  assert.match(of("rank_wait", { rank: "1" }), /kind = 'communication'.* AND rank = 1$/);
});

test("a part of a step leads to its events in it, the step to its time", () => {
  const values = { start_ns: "100", total_ns: "50", rank: "1" };
  const part = { table: "steps", values, column: "memcpy_ns" };
  assert.equal(
    eventsOf(part),
    "kind = 'memcpy' AND start_ns >= 100 AND start_ns < 150 AND rank = 1",
  );
  assert.equal(timeOf(part), null);
  assert.deepEqual(timeOf({ ...part, column: "total_ns" }), { from: 100, to: 150 });
  assert.deepEqual(timeOf({ table: "utilization", values: { start_ns: "7", dur_ns: "2" } }), {
    from: 7,
    to: 9,
  });
  assert.deepEqual(timeOf({ table: "quality", values: { first_ns: "7" } }), { from: 7, to: 8 });
  assert.equal(timeOf({ table: "quality", values: {} }), null);
  assert.equal(timeOf({ table: "operators", values: { name: "x" } }), null);
});

test("what is one event has no others to mark", () => {
  assert.equal(isOneEvent({ table: "events", values: {} }), true);
  assert.equal(isOneEvent({ table: "kernels", values: {} }), false);
});
