// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { splitWords } from "../api/shell_words.ts";
import { placeOfCommand } from "./command.ts";
import { FRESH } from "./url.ts";

test("words are those of a shell", () => {
  assert.deepEqual(splitWords(`a  'b c' d"e\\"f"g h\\ i ''`), ["a", "b c", `de"fg`, "h i", ""]);
  assert.equal(splitWords("a 'b"), null);
});

test("a command has a place", () => {
  assert.deepEqual(
    placeOfCommand(
      `opscope table events --sort dur_ns --where "kind = 'memcpy' and step > 1" --from 1.5ms --to=2000000 a b`,
    ),
    {
      ...FRESH,
      view: "tables",
      table: "events",
      steps: "",
      thread: "",
      sort: "dur_ns",
      where: "kind = 'memcpy' and step > 1",
      t: "1500000+500000",
    },
  );
});

test("what a command does not select is not selected", () => {
  const place = placeOfCommand("opscope table overview --merge --columns category,avg_ns a");
  assert.equal(place?.merge, "on");
  assert.equal(place?.cols, "category,avg_ns");
  assert.equal(place?.steps, "");
  assert.equal(place?.t, "");
  assert.equal(placeOfCommand("opscope table averages --no-python a"), null);
});

test("what no place shows has none", () => {
  for (const text of [
    "opscope info a",
    "opscope table",
    "opscope table steps --from 1ms a",
    "opscope table steps --unknown 3 a",
    "opscope table steps --where 'a",
    "rm -r a",
  ])
    assert.equal(placeOfCommand(text), null);
});
