// SPDX-License-Identifier: Apache-2.0
// Mostly for the compiler: each line below that it must refuse fails the check of types if it does not.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Frame } from "./cols.ts";
import { frameOf } from "./cols_fixture.ts";
import { tableNamed } from "./tables.ts";

const values = [
  { name: "category", type: "string", values: ["kernel"] },
  { name: "avg_ns", type: "integer", values: [7n] },
] as const;

test("columns that a table does not have do not compile", () => {
  const frame: Frame<"overview"> = frameOf(values);
  assert.equal(frame.at(0, "avg_ns"), 7);
  assert.equal(frame.text(0, "category"), "kernel");
  // @ts-expect-error: there is no such column
  assert.equal(frame.at(0, "avg_nss"), null);
  // @ts-expect-error: it is a text
  assert.equal(frame.at(0, "category"), null);
  // @ts-expect-error: it is one of another table
  assert.equal(frame.text(0, "input_shape"), "");
});

test("of one of several tables only common columns are read, and one is not another", () => {
  const one: Frame<"overview" | "operators"> = frameOf(values) as Frame<"overview">;
  assert.equal(one.text(0, "rank"), "");
  // @ts-expect-error: operators have none
  assert.equal(one.at(0, "avg_ns"), 7);
  // @ts-expect-error: it may be of the other one
  const other: Frame<"operators"> = one;
  assert.equal(other, one);
});

test("what is known at run time is looked up as such", () => {
  const frame: Frame = frameOf(values);
  assert.equal(frame.number(0, frame.find("avg_ns")), 7);
  assert.equal(frame.find("avg_nss"), -1);
  // @ts-expect-error: of any table this is not known
  assert.equal(frame.at(0, "avg_ns"), 7);
  assert.equal(tableNamed("later"), "later");
});
