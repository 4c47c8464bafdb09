// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiProblem, Session } from "../api/api.ts";
import { unknownOf } from "./unknown.ts";
import { HOME } from "./url.ts";

const VIEWS = [{ name: "overview" }, { name: "trace" }];
const SESSION = { run: "a", runs: [{ name: "a" }, { name: "b" }] } as unknown as Session;

const problem = (message: string, status = 400): ApiProblem => ({
  ...{ status, code: "bad_request", message, what_to_do: null, command: null },
});

test("what an address names and is not there is said in one sentence, with the way back", () => {
  const told = (changes: Partial<typeof HOME>, is: ApiProblem | null = null) =>
    unknownOf({ ...HOME, ...changes }, SESSION, VIEWS, is);
  assert.equal(told({}), null);
  assert.equal(told({ run: "b", steps: "3" }), null);
  assert.equal(told({ view: "nosuch" })?.text, "There is no view 'nosuch'.");
  const run = told({ run: "nope" });
  assert.equal(run?.text, "There is no run 'nope' here.");
  assert.deepEqual(
    run?.ways.map(({ title, changes }) => [title, changes.run]),
    [
      ["a", ""],
      ["b", "b"],
    ],
  );
  const steps = told({ steps: "99" }, problem("--steps: there is no '99' in the trace"));
  assert.equal(steps?.text, "There is no step '99' in what is selected.");
  assert.deepEqual(steps?.ways[0]?.changes, { steps: "" });
  const rank = told({ rank: "7" }, problem("no trace is left; the input has rank 0", 404));
  assert.equal(rank?.text, "There is no rank '7' here: the input has rank 0.");
  assert.equal(told({ rank: "7" }, problem("the server is busy", 503)), null);
  const none = told({ rank: "x" }, problem("--rank: 'x' is not a list of numbers"));
  assert.equal(none?.text, "There is no rank 'x' here.");
  assert.equal(told({ steps: "1-1" }, problem("these rows are not in this file", 404)), null);
});
