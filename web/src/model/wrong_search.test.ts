// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiProblem, CatalogTable, Question } from "../api/api.ts";
import { adviceOn, wrongSearch } from "./wrong_search.ts";

const column = (name: string, group_by: string | null = null) => ({ name, group_by });
const TABLE = {
  name: "ranges",
  columns: [column("name"), column("thread", "thread"), column("total_ns")],
} as unknown as CatalogTable;

const RANGES: Question = { table: "ranges", options: { where: "x" } };
const problem = (message: string, code = "bad_request", question = RANGES): ApiProblem => ({
  ...{ status: 400, code, message, what_to_do: "as the server says", command: "", question },
});

test("of a wrong expression the columns are told, of a wrong pattern that", () => {
  const advice = (message: string, question = RANGES) =>
    adviceOn(problem(message, "bad_request", question), [TABLE]) ?? "";
  const wrong = "--where '(x >)': near: syntax error";
  assert.match(advice(wrong), /ranges are name, total_ns; /);
  const grouped = { table: "ranges", options: { "group-by": "kind,thread", where: "x" } };
  assert.match(advice(wrong, grouped), / name, thread, total_ns; /);
  assert.equal(advice(wrong, { table: "other", options: {} }), "as the server says");
  for (const where of ["--where 'name regexp 'a['': ", ""])
    assert.match(advice(`${where}the pattern /a[/ is wrong: a [ is not closed`), /the pattern/);
  assert.equal(advice("--steps: there is no '9'"), "as the server says");
});

test("a search is wrong if the server cannot read it, not if it does not answer", () => {
  assert.equal(wrongSearch(null), null);
  assert.equal(wrongSearch(problem("--where '(x >)': no")), "--where '(x >)': no");
  assert.equal(wrongSearch(problem("the answer took too long", "too_slow")), null);
  assert.equal(wrongSearch(problem("--steps: there is no '9'")), null);
});
