// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { WindowHistory } from "./history.ts";
import { Viewport } from "./viewport.ts";

const at = (t0: number) => new Viewport(t0, 0, 1);

test("windows are gone back to, and forward, until another one is looked at", () => {
  const history = new WindowHistory();
  assert.equal(history.go(-1), null);
  for (const t0 of [1, 2, 2, 3]) history.rest(at(t0));
  assert.equal(history.go(1), null);
  assert.equal(history.go(-1)?.t0, 2);
  history.rest(at(2)); // it rests where it was sent
  assert.equal(history.go(-1)?.t0, 1);
  assert.equal(history.go(-1), null);
  assert.equal(history.go(1)?.t0, 2);
  history.rest(at(7));
  assert.equal(history.go(1), null);
  assert.equal(history.go(-1)?.t0, 2);
});
