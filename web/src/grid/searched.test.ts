// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { whereOfAny } from "../model/expr.ts";
import { groupingOfOperators, searchedColumns } from "./searched.ts";

const text = (name: string, group_by: string | null = null) => ({ name, type: "string", group_by });
const kernels = [
  { name: "calls", type: "integer", group_by: null },
  text("name"),
  text("cause", "cause"),
  text("operator", "op"),
  text("grid"),
];

test("kernels are searched by operator, too, where rows have one", () => {
  assert.deepEqual(searchedColumns(kernels, ""), ["name"]);
  assert.deepEqual(searchedColumns(kernels, "op"), ["name", "operator"]);
  assert.deepEqual(searchedColumns(kernels, "cause,op"), ["name", "operator"]);
  assert.equal(groupingOfOperators(kernels, ""), "op");
  assert.equal(groupingOfOperators(kernels, "op"), "");
});

test("allocations are searched by whose they are, not by process", () => {
  const blocks = [text("process"), text("operator"), text("module")];
  assert.deepEqual(searchedColumns(blocks, ""), ["operator", "module"]);
  const alive = [text("process"), text("operator", "op"), text("module", "module")];
  assert.deepEqual(searchedColumns(alive, ""), ["operator"]);
  assert.deepEqual(searchedColumns(alive, "module"), ["module"]);
  assert.deepEqual(searchedColumns(alive, "size"), ["process"]);
  assert.deepEqual(searchedColumns([], ""), []);
});

test("a filter is about any of its columns, an expression about what it says", () => {
  assert.equal(whereOfAny(["name"], "mm"), "name like '%mm%'");
  assert.equal(
    whereOfAny(["name", "operator"], "/^a/"),
    "name regexp '^a' or operator regexp '^a'",
  );
  assert.equal(whereOfAny(["name", "operator"], "=calls > 3"), "(calls > 3)");
});
