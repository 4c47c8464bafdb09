// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { formatMore, moreOptions, namesOf, withoutOption } from "./more_options.ts";
import { placeOfQuestion } from "./question_place.ts";
import { FRESH } from "./url.ts";

test("a question has a place", () => {
  const options = {
    ...{ run: "a", rank: "1", sort: "dur_ns", where: "kind = 'memcpy' and step > 1" },
    ...{ from: "1500000", to: "2000000ns" },
  };
  assert.deepEqual(placeOfQuestion({ table: "events", options }), {
    ...FRESH,
    view: "tables",
    table: "events",
    rank: "1",
    span: "",
    process: "",
    steps: "",
    thread: "",
    sort: "dur_ns",
    where: "kind = 'memcpy' and step > 1",
    t: { from: 1500000, to: 2000000 },
    opts: {},
  });
});

test("what a question does not select is not selected", () => {
  const options = { merge: true, columns: "category,avg_ns", "all-steps": true } as const;
  const place = placeOfQuestion({ table: "overview", options });
  assert.equal(place?.merge, "on");
  assert.equal(place?.cols, "category,avg_ns");
  assert.equal(place?.kept, "all");
  assert.equal(place?.steps, "");
  assert.equal(place?.t, null);
  assert.equal(placeOfQuestion({ table: "info", options: { fp: "9" } })?.rank, "");
});

test("options that no view has are kept", () => {
  const opts = (table: string, options: Record<string, string | true>) =>
    formatMore(placeOfQuestion({ table, options })?.opts ?? {});
  assert.equal(opts("averages", { "no-python": true }), "no-python");
  assert.equal(opts("events", { limit: "5", device: "cuda:0" }), "limit:5,device:cuda%3A0");
  assert.equal(opts("durations", { name: "a, b" }), "name:a%2C%20b");
  assert.equal(opts("steps", { from: "1ms", to: "2ns" }), "from:1ms,to:2ns");
  assert.equal(opts("steps", { from: "1ns", to: "2ns" }), "");
  const more = moreOptions("name:a%2C%20b,no-python,rm:x,limit,top-level:1,at:%");
  assert.deepEqual(more, { name: "a, b", "no-python": true });
  assert.deepEqual(namesOf(more), [
    { name: "name", text: "--name 'a, b'" },
    { name: "no-python", text: "--no-python" },
  ]);
  assert.deepEqual(withoutOption({ limit: "5", name: "a b" }, "limit"), { name: "a b" });
});

test("what no place shows has none", () => {
  assert.equal(placeOfQuestion({ table: "diff_steps", options: { base: "b" } }), null);
  assert.equal(placeOfQuestion({ table: "steps", options: { format: "csv" } }), null);
});
