// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { WindowHistory } from "./window_history.ts";

test("windows are gone back to, and forward, until another one is looked at", () => {
  const history = new WindowHistory();
  assert.equal(history.go(-1), null);
  for (const window of ["", "2+1", "2+1", "3+1"]) history.rest(window);
  assert.equal(history.go(1), null);
  assert.equal(history.go(-1), "2+1");
  history.rest("2+1"); // it rests where it was sent
  assert.equal(history.go(-1), "");
  assert.equal(history.go(-1), null);
  assert.equal(history.go(1), "2+1");
  history.rest("7+1");
  assert.equal(history.go(1), null);
  assert.equal(history.go(-1), "2+1");
});

test("a window that cannot be shown again as it was is no step on the way", () => {
  const history = new WindowHistory();
  for (const window of ["", "2+1", "3+1"]) history.rest(window);
  assert.equal(history.go(-1), "2+1");
  history.arrive("2+2");
  history.rest("2+2");
  assert.equal(history.go(-1), "");
  assert.equal(history.go(1), "2+2");
});
