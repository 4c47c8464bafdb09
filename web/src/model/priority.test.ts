// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { first } from "./priority.ts";

test("the last that is put first is first, and goes where it is taken again", () => {
  assert.equal(first("", "runtime"), "runtime");
  assert.equal(first("runtime", "memcpy"), "memcpy,runtime");
  assert.equal(first("memcpy,runtime", "runtime"), "memcpy");
  assert.equal(first("memcpy", "memcpy"), "");
});
