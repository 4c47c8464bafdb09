// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import type { RunsAnswer } from "../api/api.ts";
import { frameOf } from "../api/cols_fixture.ts";
import { findChoices, leftOut, processChoices, rankChoices, spanChoices } from "./choices.ts";

const ANSWER: RunsAnswer = {
  run: "a",
  runs: {
    columns: ["run", "worker", "rank", "span", "time", "file", "left_out"].map((name) => ({
      name,
    })),
    rows: [
      ["a", "w1", 10, 1, "2021-06-08 09:04:49", "/x/w1.json", null],
      ["a", "w0", 2, 2, "2021-06-08 10:00:00", "/x/w0.json", null],
      ["a", "w0", 2, 1, "2021-06-08 09:04:48", "/x/w0.json", null],
      ["b", "w9", 9, 7, null, "/x/w9.json", null],
      [null, null, null, null, null, "/x/notes.json", "it is no trace"],
    ],
  },
  notes: "w3.json: it is empty\n",
};

test("ranks and spans of a run, in order of their numbers, with their times", () => {
  assert.deepEqual(
    rankChoices(ANSWER, "a", []).map((c) => c.value),
    ["", "2", "10"],
  );
  const spans = spanChoices(ANSWER, "a");
  assert.deepEqual(
    spans.map((c) => c.value),
    ["", "1", "2"],
  );
  assert.equal(spans[1]!.about, "2021-06-08 09:04:48 UTC");
});

test("without a log directory the ranks are those of the traces", () => {
  assert.deepEqual(
    rankChoices(null, "x", ["0", "3"]).map((c) => c.title),
    ["all", "0", "3"],
  );
});

test("what was not taken is told with its reason", () => {
  assert.deepEqual(leftOut(ANSWER), ["notes.json: it is no trace", "w3.json: it is empty"]);
  assert.deepEqual(leftOut(null), []);
});

test("letters find choices by what stands beside them, too", () => {
  const found = findChoices(rankChoices(ANSWER, "a", []), "W1");
  assert.deepEqual(
    found.map((c) => c.value),
    ["10"],
  );
});

test("several processes with threads can be chosen, by number and name", () => {
  const tracks = (processes: string[]) =>
    frameOf([
      { name: "kind", type: "string", values: ["queue", ...processes.map(() => "thread")] },
      { name: "parent", type: "string", values: ["0", ...processes] },
      {
        name: "process_name",
        type: "string",
        values: ["cuda:0", ...processes.map(() => "python")],
      },
    ]);
  assert.deepEqual(
    processChoices(tracks(["11", "12", "11"])).map(({ value, about }) => [value, about]),
    [
      ["", ""],
      ["11", "python"],
      ["12", "python"],
    ],
  );
  assert.equal(processChoices(tracks(["11", "11"])).length, 1);
  assert.equal(processChoices(null).length, 1);
});
