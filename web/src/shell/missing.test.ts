// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { missingFeatures } from "./missing.ts";

test("what a browser lacks is named", () => {
  const all = {
    ResizeObserver: 1,
    EventSource: 1,
    AbortController: 1,
    BigInt64Array: 1,
    ImageData: 1,
  };
  assert.deepEqual(missingFeatures(all), []);
  const { EventSource: _, ...old } = all;
  assert.deepEqual(missingFeatures(old), ["EventSource"]);
});
