// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Linked } from "../api/api.ts";
import { tagOf } from "./arrows.ts";

const selected = { event: 1, track: 0, from: 1000, to: 2000, links: [] };
const link: Linked = {
  relation: "launched_by",
  event: 2,
  name: "cudaLaunchKernel",
  track: 0,
  start_ns: 400,
  dur_ns: 10,
};

test("a tag says in which direction and how far the other end is", () => {
  assert.equal(tagOf(link, selected), "← launched by: \u2212600\u00a0ns");
  assert.match(
    tagOf({ ...link, relation: "launched", start_ns: 4200 }, selected),
    /^→ launched: \+3\.200/,
  );
});
