// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventsOf } from "./row_here.ts";

test("a row leads to its events", () => {
  const of = (table: string, values: Record<string, string>) => eventsOf({ table, values });
  assert.equal(of("operators", { name: "aten::a'b" }), "name = 'aten::a''b' AND kind = 'operator'");
  assert.equal(of("ranges", { name: "x", kind: "scope" }), "name = 'x' AND kind = 'scope'");
  assert.equal(of("modules", { name: "L_0" }), "name in ('nn.Module: L_0', 'L_0')");
  assert.equal(
    of("events", { id: "7", start_ns: "5", rank: "1" }),
    "start_ns = 5 AND id = 7 AND rank = 1",
  );
  assert.equal(of("memory_events", { alloc_ns: "9" }), "start_ns = 9 AND kind = 'alloc'");
  assert.equal(of("memory_events", {}), "");
  assert.equal(of("overview", { category: "kernel" }), "");
});
