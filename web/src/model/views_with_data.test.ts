// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { frameOf } from "../api/cols_fixture.ts";
import { firstView, viewsWithData } from "./views_with_data.ts";

const headlines = (hasSteps: boolean, hasOperators: boolean) =>
  frameOf([
    { name: "view", type: "string", values: ["overview", "trace", "operators"] },
    { name: "has_data", type: "boolean", values: [hasSteps, true, hasOperators] },
  ]);

test("the page begins where it has something to say", () => {
  const first = (...has: [boolean, boolean]) => firstView(viewsWithData(headlines(...has)));
  assert.equal(first(true, true), "overview");
  assert.equal(first(false, true), "operators");
  assert.equal(first(false, false), "trace");
  assert.equal(firstView(new Map()), "overview");
});
