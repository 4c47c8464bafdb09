// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { hasIds, withoutIds } from "./link_ids.ts";
import { HOME } from "./url.ts";

test("events of other traces are left out, names and times stay", () => {
  const place = {
    ...HOME,
    fp: "1",
    sel: "ev:3",
    q: "mm",
    w: { from: 1, to: 3 },
    notes: "5+2@3~look~~9~here",
  };
  assert.ok(hasIds(place));
  const left = withoutIds(place);
  assert.deepEqual(left, { ...HOME, q: "mm", w: { from: 1, to: 3 }, notes: "5+2~look~~9~here" });
  assert.ok(!hasIds(left));
});

test("what is no id stays", () => {
  for (const sel of ["", "step:7", "at:100", "name:operator:aten::mm", "block:5:9"]) {
    const place = { ...HOME, fp: "1", sel, notes: "9~here" };
    assert.ok(!hasIds(place));
    assert.deepEqual(withoutIds(place), { ...place, fp: "" });
  }
});
