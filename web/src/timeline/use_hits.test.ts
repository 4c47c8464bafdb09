// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_HITS, thin } from "./use_hits.ts";

test("hits of one pixel have one mark, and what has none is told", () => {
  assert.deepEqual(thin({ starts: [0, 3, 9, 10, 25], total: 5 }, 10), {
    at: [0, 10, 25],
    total: 5,
    unmarkedFrom: null,
  });
  assert.deepEqual(thin({ starts: [7, 8], total: 5 }, 1), {
    at: [7, 8],
    total: 5,
    unmarkedFrom: 8,
  });
  assert.deepEqual(thin(NO_HITS, 1), { at: [], total: 0, unmarkedFrom: null });
});
