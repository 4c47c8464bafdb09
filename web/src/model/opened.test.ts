// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { openedOf, selOfOpened } from "./opened.ts";

test("a row that is open is in the address, whatever its name and shape are", () => {
  for (const opened of [
    { name: "aten::mm" },
    { name: "aten::mm", shape: "[[8, 3], [3, 8]]" },
    { name: "a:b: c", shape: "100 %: [[1]]" },
    { name: "", shape: "[]" },
  ])
    assert.deepEqual(openedOf("operator", selOfOpened("operator", opened)), opened);
  assert.equal(selOfOpened("kernel", { name: "gemm" }), "name:kernel:gemm");
});

test("what opens no row of this kind opens none", () => {
  for (const sel of ["", "ev:3", "name:kernel:gemm", "shape:[]", "shape:%zz:mm", "name:operator"])
    assert.equal(openedOf("operator", sel), undefined);
  assert.equal(openedOf("kernel", "shape:[]:mm"), undefined);
});
