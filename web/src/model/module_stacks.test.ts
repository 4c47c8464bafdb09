// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { frameOf } from "../api/cols_fixture.ts";
import { moduleTimes, stacksOfModules } from "./module_stacks.ts";

const FRAME = frameOf([
  { name: "name", type: "string", values: ["a", "b", "c", "b", "d"] },
  { name: "depth", type: "integer", values: [0n, 1n, 2n, 1n, 0n] },
  { name: "host_total_ns", type: "integer", unit: "ns", values: [10n, 4n, 5n, 3n, 2n] },
  { name: "device_total_ns", type: "integer", unit: "ns", values: [0n, 0n, 0n, 0n, 0n] },
]);

test("modules become stacks by their depth", () => {
  const stacks = stacksOfModules(FRAME, "host_total_ns");
  assert.deepEqual(stacks.caller, [-1, 0, 1, 0, -1]);
  assert.deepEqual(stacks.total_of, [10, 5, 5, 3, 2], "b is as wide as c, which it calls");
  assert.deepEqual(stacks.self, [2, 0, 5, 3, 2]);
  assert.equal(stacks.total, 12);
});

test("times that no module has are not offered", () => {
  assert.deepEqual(
    moduleTimes(FRAME).map((t) => t.name),
    ["host_total_ns"],
  );
});
