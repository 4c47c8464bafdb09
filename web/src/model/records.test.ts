// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { pickRows } from "./records.ts";

test("records of CSV may have lines in them", () => {
  const text = 'a,b\n1,"x\ny"\n2,"he said ""no"""\n3,z\n';
  assert.equal(pickRows(text, "csv", new Set([0, 2])), 'a,b\n1,"x\ny"\n3,z\n');
  assert.equal(pickRows(text, "csv", new Set([0, 1, 2])), text);
});

test("Markdown keeps its head and what is below", () => {
  const text = "| a |\n| --- |\n| 1 |\n| 2 |\n\nTrace: x\n";
  assert.equal(pickRows(text, "md", new Set([1])), "| a |\n| --- |\n| 2 |\n\nTrace: x\n");
});

test("JSON stays JSON", () => {
  const text = '{"table": "t",\n "rows": [\n  ["a", 1],\n  ["]}", 2],\n  ["c]}", [3]]]}\n';
  assert.equal(pickRows(text, "json", new Set([0, 1, 2])), text);
  const some = pickRows(text, "json", new Set([1]));
  assert.deepEqual(JSON.parse(some).rows, [["]}", 2]]);
  assert.deepEqual(JSON.parse(pickRows(text, "json", new Set([2]))).rows, [["c]}", [3]]]);
});
