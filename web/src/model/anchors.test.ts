// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { frameOf } from "../api/cols_fixture.ts";
import { clockAnchor, collectiveAnchor, stepAnchor } from "./anchors.ts";

const steps = (labels: string[], starts: bigint[]) =>
  frameOf([
    { name: "step", type: "integer", values: labels.map((_, i) => BigInt(i)) },
    { name: "label", type: "string", values: labels },
    { name: "start_ns", type: "integer", values: starts },
  ]);

test("two runs are laid side by side at a step that both have", () => {
  const run = steps(["5", "6", "7"], [1n, 20n, 30n]);
  const base = steps(["6", "7"], [100n, 200n]);
  assert.deepEqual(stepAnchor(run, base, "7"), { text: "step 7", run: 30, base: 200 });
  assert.deepEqual(stepAnchor(run, base, ""), { text: "step 6", run: 20, base: 100 });
  assert.equal(stepAnchor(run, steps(["9"], [0n]), ""), null);
});

test("or at the first collective of one name", () => {
  const calls = (names: string[], starts: bigint[]) =>
    frameOf([
      { name: "name", type: "string", values: names },
      { name: "start_ns", type: "integer", values: starts },
    ]);
  assert.deepEqual(
    collectiveAnchor(calls(["a", "b", "b"], [1n, 2n, 3n]), calls(["b", "b"], [7n, 8n])),
    { text: "the first b", run: 2, base: 7 },
  );
});

test("ranks of a run are laid by the common clock", () => {
  const ranks = frameOf([
    { name: "rank", type: "integer", values: [0n, 1n, 2n] },
    { name: "clock_offset_ns", type: "integer", values: [5n, -7n, null] },
  ]);
  assert.deepEqual(clockAnchor(ranks, "1 0"), { text: "the common clock", run: -7, base: 5 });
  assert.equal(clockAnchor(ranks, "1 2"), null);
  assert.equal(clockAnchor(ranks, "1 "), null);
});
