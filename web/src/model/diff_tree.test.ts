// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { frameOf } from "../api/cols_fixture.ts";
import { accumulated, aroundOf, columnsOf, insideOf } from "./diff_tree.ts";

test("a level of the tree is an expression", () => {
  assert.match(insideOf("", 0), /^depth = 0 and \(coalesce/);
  assert.equal(insideOf("a'b", 2), "depth = 3 and substr(path, 1, length('a''b') + 1) = 'a''b/'");
  assert.equal(aroundOf("a"), "path = 'a' or substr('a', 1, length(path) + 1) = path || '/'");
});

test("changes add up, and are per step where there are steps", () => {
  const frame = frameOf([
    { name: "new_name", type: "string", values: ["x", "y"] },
    { name: "base_name", type: "string", values: ["x", "y"] },
    { name: "mean_delta_ns", type: "number", values: [null, -3] },
    { name: "base_ns", type: "integer", values: [10n, 20n] },
    { name: "new_ns", type: "integer", values: [15n, 14n] },
    { name: "delta_ns", type: "integer", values: [5n, -6n] },
    { name: "mean_delta_device_ns", type: "number", values: [null, null] },
  ]);
  assert.equal(columnsOf(frame, false).delta, "mean_delta_ns");
  assert.equal(columnsOf(frame, true).delta, "delta_device_ns");
  assert.deepEqual(accumulated(frame, { base: "base_ns", new: "new_ns", delta: "delta_ns" }), [
    { name: "x", delta: 5, sum: 5, base: 10, new: 15 },
    { name: "y", delta: -6, sum: -1, base: 30, new: 29 },
  ]);
});
