// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { matcher } from "../model/pattern.ts";

test("a search is a text in any case, or an expression", () => {
  assert.ok(matcher("CONV")("aten::conv2d"));
  assert.ok(matcher("/^aten::(mm|bmm)$/")("aten::mm"));
  assert.ok(!matcher("/^aten::(mm|bmm)$/")("aten::addmm"));
  assert.ok(matcher("/(/")("a/(/b"));
});
