// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatNotes, keepNotes, keptNotes, parseNotes } from "./notes.ts";

test("notes come back from the address in order of time", () => {
  const words = formatNotes([
    { at: 700, text: "why?" },
    { at: 5, text: "a ~ b, 50 % & more" },
  ]);
  assert.equal(words, "5~a - b, 50 % & more~~700~why?");
  assert.deepEqual(parseNotes(words ?? ""), [
    { at: 5, text: "a - b, 50 % & more" },
    { at: 700, text: "why?" },
  ]);
});

test("what is no note is left out", () => {
  assert.deepEqual(parseNotes(""), []);
  assert.deepEqual(parseNotes("x~y~~-3~z~~9007199254740993~far~~4~"), [{ at: 4, text: "" }]);
});

test("notes that are too long for an address are refused", () => {
  assert.equal(formatNotes([{ at: 1, text: "n".repeat(3000) }]), null);
});

test("a browser that keeps nothing is no error", () => {
  const refuses = {
    get localStorage(): Storage {
      throw new Error("refused");
    },
  } as Window;
  keepNotes(refuses, "f", "1~a");
  assert.equal(keptNotes(refuses, "f"), "");
});
