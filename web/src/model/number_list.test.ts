// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { hasNumber, whereIn } from "./number_list.ts";

test("a list has its numbers and ranges, an empty one all", () => {
  const found = (list: string) => [0, 1, 2, 3, 7, 10].filter((n) => hasNumber(list, n));
  assert.deepEqual(found("0-2,7"), [0, 1, 2, 7]);
  assert.deepEqual(found("1"), [1]);
  assert.deepEqual(found(""), [0, 1, 2, 3, 7, 10]);
  assert.deepEqual(found("nine"), []);
});

test("a list is an expression over a column", () => {
  assert.equal(whereIn("rank", "0-2,7"), "rank between 0 and 2 or rank = 7");
  assert.equal(whereIn("rank", ""), "");
});
