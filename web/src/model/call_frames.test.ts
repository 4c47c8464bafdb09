// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { framesOf } from "./call_frames.ts";

test("frames have a place in a file, or none", () => {
  assert.deepEqual(
    framesOf("<built-in method mm>;torch/nn/a.py(12): forward;\nb(c).py(3): <module>;"),
    [
      { text: "<built-in method mm>", function: "<built-in method mm>", place: "" },
      { text: "torch/nn/a.py(12): forward", function: "forward", place: "torch/nn/a.py:12" },
      { text: "b(c).py(3): <module>", function: "<module>", place: "b(c).py:3" },
    ],
  );
  assert.deepEqual(framesOf(""), []);
});
