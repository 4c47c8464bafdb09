// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { splitWords } from "../api/shell_words.ts";
import { placeOfCommand, placeOfQuestion } from "./command.ts";
import { formatMore, moreOptions, namesOf, withoutOption } from "./more_options.ts";
import type { OpenFiles } from "./operands.ts";
import { FRESH, type Place } from "./url.ts";

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
      process: "",
      steps: "",
      thread: "",
      sort: "dur_ns",
      where: "kind = 'memcpy' and step > 1",
      t: { from: 1500000, to: 2000000 },
    },
  );
});

test("what a command does not select is not selected", () => {
  const place = placeOfCommand("opscope table overview --merge --columns category,avg_ns a");
  assert.equal(place?.merge, "on");
  assert.equal(place?.cols, "category,avg_ns");
  assert.equal(place?.steps, "");
  assert.equal(place?.t, null);
});

test("options that no view has are kept", () => {
  const opts = (text: string) => formatMore(placeOfCommand(`opscope table ${text} a`)?.opts ?? {});
  assert.equal(opts("averages --no-python"), "--no-python");
  assert.equal(opts("events --limit=5 --device cuda:0"), "--limit 5 --device cuda:0");
  assert.equal(opts("durations --name 'a b'"), "--name 'a b'");
  assert.equal(opts("steps --from 1ms"), "--from 1ms");
  assert.equal(opts("steps --to 1ms"), "--to 1ms");
  assert.equal(opts("steps --from 1ms --to 2ms"), "");
  assert.equal(placeOfCommand("opscope table events -n 3 -s dur_ns a")?.sort, "dur_ns");
  assert.deepEqual(namesOf(moreOptions("--name 'a b' --no-python --rm x")), [
    { name: "name", text: "--name 'a b'" },
    { name: "no-python", text: "--no-python" },
  ]);
  assert.deepEqual(withoutOption({ limit: "5", name: "a b" }, "limit"), { name: "a b" });
});

const RUN = { name: "r", state: "ready", operands: "/d/r", options: " --max-memory 2G", paths: [] };
const FILES: OpenFiles = {
  runs: [RUN as never, { ...RUN, name: "q", operands: "/d/q" } as never],
  run: "r",
  answer: {
    run: "r",
    runs: {
      columns: ["rank", "span", "file"].map((name) => ({ name })),
      rows: [
        [0, 1, "/d/r/0.json"],
        [1, 1, "/d/r/1.json"],
        [1, 2, "/d/r/2.json"],
      ],
    },
  },
  traces: [
    { rank: 0, span: 1, from_ns: 0 },
    { rank: 1, span: 1, from_ns: 70 },
    { rank: 1, span: 2, from_ns: 90 },
  ] as never,
  momentsOf: () => ["start_ns"],
};

test("a command of some files leads to their ranks and spans, at their times", () => {
  const of = (words: string) => placeOfCommand(`opscope table events ${words}`, FILES);
  const where = (place: Partial<Place> | null) => [place?.run, place?.rank, place?.span];
  assert.deepEqual(where(of("/d/r")), [undefined, "", ""]);
  assert.deepEqual(where(of("/d/q")), ["q", "", ""]);
  assert.deepEqual(where(of("/d/r/0.json")), [undefined, "0", ""]);
  assert.deepEqual(where(of("/d/r/2.json")), [undefined, "1", "2"]);
  assert.deepEqual(where(of("/d/r/1.json /d/r/2.json")), [undefined, "1", ""]);
  assert.equal(of("/d/else.json"), null);
  assert.deepEqual(of("--max-memory 2G /d/r")?.opts, {});
  assert.deepEqual(of("--max-memory 3G /d/r"), null);
  const late = of(`--where "start_ns < 5 and name = 'start_ns'" --from 10 --to 20 /d/r/2.json`);
  assert.equal(late?.where, "(start_ns - 90) < 5 and name = 'start_ns'");
  assert.deepEqual(late?.t, { from: 100, to: 110 });
  assert.deepEqual(of("--at 10 /d/r/1.json")?.opts, { at: "80ns" });
});

test("what no place shows has none", () => {
  for (const text of [
    "opscope info a",
    "opscope table",
    "opscope table steps --format csv a",
    "opscope table steps --from soon a",
    "opscope table steps --unknown 3 a",
    "opscope table steps --where 'a",
    "rm -r a",
  ])
    assert.equal(placeOfCommand(text), null);
});

test("a question has the place of its command", () => {
  const options = {
    ...{ run: "a", rank: "1", merge: true as const, sort: "-dur_ns", "group-by": "kind" },
    ...{ from: "10ns", to: "30ns", where: "kind = 'x y'", limit: "5", "all-steps": true as const },
  };
  const command =
    "opscope table ranges --rank 1 --merge --sort -dur_ns --group-by kind --from 10ns --to 30ns " +
    "--where \"kind = 'x y'\" --limit 5 --all-steps a";
  const place = placeOfQuestion({ table: "ranges", options });
  assert.deepEqual(place, { span: "", ...placeOfCommand(command) });
  assert.deepEqual(place?.t, { from: 10, to: 30 });
  assert.equal(placeOfQuestion({ table: "info", options: { fp: "9" } })?.rank, "");
  assert.equal(placeOfQuestion({ table: "diff_steps", options: { base: "b" } }), null);
});
