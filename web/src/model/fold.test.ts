// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatFold, isOpen, parseFold, toggle, whereOfFold } from "./fold.ts";

const branches = new Map([
  ["a", 0],
  ["a/b", 1],
  ["a/b/c", 2],
]);

test("the address has levels and places, and comes back", () => {
  for (const text of ["", "2", "\na/b", "2\na/b\na/b/c"])
    assert.equal(formatFold(parseFold(text)), text);
  assert.deepEqual(parseFold("x\na"), { levels: null, toggled: ["a"] });
});

test("all is open, unless levels or a click shut it", () => {
  assert.ok(isOpen(parseFold(""), "a/b", 1));
  assert.ok(!isOpen(parseFold("\na/b"), "a/b", 1));
  assert.ok(!isOpen(parseFold("1"), "a", 0));
  assert.ok(isOpen(parseFold("1\na"), "a", 0));
  assert.equal(formatFold(toggle(parseFold("1\na\na/b"), "a")), "1");
  assert.equal(formatFold(toggle(parseFold(""), "a/b")), "\na/b");
});

test("rows are left out by an expression", () => {
  assert.equal(whereOfFold(parseFold(""), branches), "");
  assert.equal(
    whereOfFold(parseFold("\na/b"), branches),
    "substr(path, 1, length('a/b') + 1) <> 'a/b/'",
  );
  assert.equal(whereOfFold(parseFold("1"), branches), "(depth < 1)");
  assert.equal(
    whereOfFold(parseFold("1\na\na/b"), branches),
    "(depth < 1 or substr(path, 1, length(path) - length(name) - 1) in ('a', 'a/b'))",
  );
  assert.equal(whereOfFold(parseFold("\nelsewhere"), branches), "");
});
