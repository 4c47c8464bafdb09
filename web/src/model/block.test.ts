// SPDX-License-Identifier: Apache-2.0
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { formatBlock, formatTimeOf, parseBlock } from "./block.ts";

test("a block is marked, also one of those that are alive at a time", () => {
  const row = { alloc_ns: "5", free_ns: "9" };
  equal(formatBlock(row, ""), "block:5:9");
  deepEqual(parseBlock("block:5:9"), { at: "", marks: [5, 9] });
  deepEqual(parseBlock(formatBlock(row, "7")), { at: "7", marks: [5, 9] });
  deepEqual(parseBlock(formatBlock({ alloc_ns: "-5" }, "7")), { at: "7", marks: [-5] });
  deepEqual(parseBlock("block::9"), { at: "", marks: [9] });
});

test("a time stays when its block is no longer marked", () => {
  deepEqual(parseBlock("at:7"), { at: "7", marks: [] });
  equal(formatTimeOf("7"), "at:7");
  equal(formatTimeOf(""), "");
  for (const sel of ["", "at:x", "block:1", "name:kernel:block:1:2", "block:a:b"])
    deepEqual(parseBlock(sel), { at: "", marks: [] });
});
