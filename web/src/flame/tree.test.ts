// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import type { FlameStacks } from "../api/api.ts";
import { CELL } from "../api/packets.ts";
import {
  frameAt,
  frameBeside,
  isSmall,
  kindOf,
  layOutFlame,
  packFlame,
  pathOf,
  WHOLE,
} from "./tree.ts";

/** main 10 (self 1) calls a 3 and b 6 (self 2), which calls a 4. */
const STACKS: FlameStacks = {
  total: 12,
  matched: 7,
  stacks: 5,
  command: "",
  text: "",
  caller: [-1, 0, 0, 2, -1],
  name: [0, 1, 2, 1, 3],
  names: ["main", "a", "b", "rest"],
  self: [1, 3, 2, 4, 2],
  total_of: [10, 3, 6, 4, 2],
  matches: [0, 1, 0, 1, 0],
};

test("frames stand below their callers, the largest first", () => {
  const tree = layOutFlame(STACKS, "merged");
  assert.deepEqual(tree.lanes, [[0, 4], [2, 1], [3]]);
  assert.deepEqual(tree.start, [0, 6, 0, 0, 10]);
  assert.deepEqual(tree.depth, [0, 1, 1, 2, 0]);
  assert.deepEqual(pathOf(tree, 3), ["main", "b", "a"]);
});

test("in order, frames stand as they were first called", () => {
  const tree = layOutFlame(STACKS, "ordered");
  assert.deepEqual(tree.lanes, [[0, 4], [1, 2], [3]]);
  assert.deepEqual(tree.start, [0, 0, 3, 3, 10]);
});

test("what is at a place is found, and nothing beside it", () => {
  const tree = layOutFlame(STACKS, "merged");
  assert.equal(frameAt(tree, 0, 9.9), 0);
  assert.equal(frameAt(tree, 0, 10), 4);
  assert.equal(frameAt(tree, 1, 6), 1);
  assert.equal(frameAt(tree, 1, 9), -1);
  assert.equal(frameAt(tree, 2, 4), -1);
  assert.equal(frameAt(tree, 7, 0), -1);
});

test("keys go to callers, callees and neighbours", () => {
  const tree = layOutFlame(STACKS, "merged");
  assert.equal(frameBeside(tree, -1, "ArrowDown"), 0);
  assert.equal(frameBeside(tree, 0, "ArrowDown"), 2);
  assert.equal(frameBeside(tree, 2, "ArrowRight"), 1);
  assert.equal(frameBeside(tree, 1, "ArrowRight"), 1);
  assert.equal(frameBeside(tree, 3, "ArrowUp"), 2);
  assert.equal(frameBeside(tree, 0, "ArrowUp"), 0);
  assert.equal(frameBeside(tree, 0, "End"), 4);
});

test("cells are as wide as values, and what does not match is pale", () => {
  const tree = layOutFlame(STACKS, "merged");
  const { packet, lanes, steps } = packFlame(tree, "op");
  assert.equal(packet.n, 5);
  assert.deepEqual(
    lanes.map((lane) => [lane.first, lane.count]),
    [
      [0, 2],
      [2, 2],
      [4, 1],
    ],
  );
  const widths = Array.from({ length: 5 }, (_, i) => packet.words[i * CELL.words + CELL.length]!);
  assert.deepEqual(
    widths.map((w) => Math.round((w / WHOLE) * 12)),
    [10, 2, 6, 3, 4],
  );
  assert.ok(steps(1) >= 0 && steps(0) < 0 && steps(3) === steps(1));
});

test("frames that are too small stand together", () => {
  const small = { small_caller: [-1, 2], small_count: [7, 3], small_total: [5, 1] };
  const tree = layOutFlame({ ...STACKS, total: 17, ...small }, "merged");
  assert.deepEqual(pathOf(tree, 5), ["(7 smaller)"]);
  assert.deepEqual(pathOf(tree, 6), ["main", "b", "(3 smaller)"]);
  assert.deepEqual(tree.lanes[0], [0, 5, 4]);
  assert.ok(isSmall(tree, 5) && isSmall(tree, 6) && !isSmall(tree, 4));
});

test("kinds follow from names", () => {
  assert.equal(kindOf("op", "aten::mm"), "operator");
  assert.equal(kindOf("op", "rank_3_span_2"), "step");
  assert.equal(kindOf("op", "enumerate(DataLoader)#_It.__next__"), "dataloader");
  assert.equal(kindOf("module", "Linear_0"), "module");
  assert.equal(kindOf("python", "train.py(12):_step"), "python");
  assert.equal(kindOf("python", "nn.Module:_Linear_0"), "module");
  assert.equal(kindOf("python", "aten::mm"), "operator");
  assert.equal(kindOf("python", "nccl:all_reduce"), "communication");
});
