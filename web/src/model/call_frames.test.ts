// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { editorLink, framesOf } from "./call_frames.ts";

test("frames have a place in a file, or none", () => {
  assert.deepEqual(
    framesOf("<built-in method mm>;torch/nn/a.py(12): forward;/b/c d.py(3): <module>;"),
    [
      { text: "<built-in method mm>", function: "<built-in method mm>", place: "", link: "" },
      {
        text: "torch/nn/a.py(12): forward",
        function: "forward",
        place: "torch/nn/a.py:12",
        link: "",
      },
      {
        text: "/b/c d.py(3): <module>",
        function: "<module>",
        place: "/b/c d.py:3",
        link: "vscode://file/b/c%20d.py:3",
      },
    ],
  );
  assert.deepEqual(framesOf(""), []);
  assert.equal(framesOf("b(c).py(3): <module>")[0]?.place, "b(c).py:3");
});

test("only an absolute path of this machine opens in an editor, and nothing in it escapes", () => {
  assert.equal(editorLink("/a/b.py", "7"), "vscode://file/a/b.py:7");
  assert.equal(editorLink("/a?x#y:z.py", "7"), "vscode://file/a%3Fx%23y%3Az.py:7");
  assert.equal(editorLink("C:\\src\\b.py", "7"), "vscode://file/C:/src/b.py:7");
  for (const file of ["b.py", "./b.py", "//host/b.py", "<frozen importlib>", "javascript:x"])
    assert.equal(editorLink(file, "7"), "");
});
