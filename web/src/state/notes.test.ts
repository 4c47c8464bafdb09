// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatNotes, keepNotes, keptNotes, parseNotes } from "./notes.ts";

test("notes come back from the address in order of time", () => {
  const words = formatNotes([
    { at: 700, dur: 0, event: null, text: "why?" },
    { at: 800, dur: 20, event: null, text: "a range" },
    { at: 900, dur: 0, event: 7, text: "an event" },
    { at: 5, dur: 0, event: null, text: "a ~ b, 50 % & more" },
  ]);
  assert.equal(words, "5~a - b, 50 % & more~~700~why?~~800+20~a range~~900+0@7~an event");
  assert.deepEqual(parseNotes(words ?? ""), [
    { at: 5, dur: 0, event: null, text: "a - b, 50 % & more" },
    { at: 700, dur: 0, event: null, text: "why?" },
    { at: 800, dur: 20, event: null, text: "a range" },
    { at: 900, dur: 0, event: 7, text: "an event" },
  ]);
});

test("what is no note is left out", () => {
  assert.deepEqual(parseNotes(""), []);
  const none = { at: 4, dur: 0, event: null, text: "" };
  assert.deepEqual(parseNotes("x~y~~-3~z~~3@1~w~~9007199254740993~far~~4~"), [none]);
});

test("notes that are too long for an address are refused", () => {
  assert.equal(formatNotes([{ at: 1, dur: 0, event: null, text: "n".repeat(3000) }]), null);
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
