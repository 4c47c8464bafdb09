// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { idsLast } from "./args.ts";

test("ids of an event stand behind what it says", () => {
  const keys = ["External id", "grid", "correlation", "Ev Idx", "idle", "Python ids"];
  const found = idsLast(keys.map((key) => [key, 0] as const)).map(([key]) => key);
  assert.deepEqual(found, ["grid", "idle", "External id", "correlation", "Ev Idx", "Python ids"]);
});
