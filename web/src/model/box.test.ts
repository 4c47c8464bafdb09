// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { dragBox, gripAt } from "./box.ts";

test("edges, middle and outside of the box are told apart", () => {
  assert.deepEqual(
    [98, 104, 150, 203, 300].map((x) => gripAt(x, 100, 200)),
    ["left", "left", "move", "right", "jump"],
  );
  assert.equal(gripAt(102, 100, 104), "move");
});

test("the box follows what is dragged, and never turns round", () => {
  const box = { from: 100, to: 200 };
  assert.deepEqual(dragBox("move", box, 10.4), { from: 110, to: 210 });
  assert.deepEqual(dragBox("left", box, 500), { from: 199, to: 200 });
  assert.deepEqual(dragBox("right", box, -500), { from: 100, to: 101 });
  assert.deepEqual(dragBox("jump", box, 1000), { from: 950, to: 1050 });
});
