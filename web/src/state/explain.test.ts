// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Api, EventDetail, Options } from "../api/api.ts";
import type { Frame } from "../api/cols.ts";
import { explain, explainedStep, goToSibling, selectedEvent } from "./explain.ts";
import type { PageState } from "./session.ts";
import { HOME, type Place } from "./url.ts";

/** A page at PLACE whose server has one sibling: number 12, in step 3. */
function pageAt(place: Partial<Place>) {
  const asked: Options[] = [];
  const went: Partial<Place>[] = [];
  const notice = { value: "" };
  const frame = { n: 1, text: () => "3", at: () => 12 } as unknown as Frame;
  const api = {
    event: async (_: string, event: number, fingerprint: string) =>
      ({ fingerprint, event, id: 10, rank: 1, span: 2, start_ns: 5 }) as EventDetail,
    table: async (_: string, options: Options) => {
      asked.push(options);
      return frame;
    },
  } as unknown as Api;
  const go = (changes: Partial<Place>) => went.push(changes);
  const now = { place: { value: { ...HOME, ...place } }, run: { value: "r" } };
  const page = { api, ...now, fingerprint: { value: "f" }, notice, go };
  return { page: page as unknown as PageState, asked, went, notice };
}

test("the selection says what is explained", () => {
  assert.equal(explainedStep({ ...HOME, sel: "step:@7" }), "@7");
  assert.equal(explainedStep({ ...HOME, sel: "step:7' OR 1" }), "");
  assert.equal(selectedEvent({ ...HOME, sel: "ev:12" }), 12);
  assert.equal(selectedEvent({ ...HOME, sel: "step:7" }), null);
});

test("the first selected step is explained", async () => {
  const { page, went } = pageAt({ steps: "5-7" });
  await explain(page);
  assert.deepEqual(went, [{ sel: "step:5" }]);
});

test("the step of the selected event is explained", async () => {
  const { page, asked, went } = pageAt({ sel: "ev:110", steps: "5" });
  await explain(page);
  assert.deepEqual(asked, [{ fp: "f", rank: "1", span: "2", event: "10", where: "id = 10" }]);
  assert.deepEqual(went, [{ sel: "step:@3" }]);
});

test("without a selection that is said", async () => {
  const { page, went, notice } = pageAt({});
  await explain(page);
  assert.deepEqual(went, []);
  assert.match(notice.value, /select a step/);
});

test("siblings follow each other in time", async () => {
  const { page, asked, went } = pageAt({ sel: "ev:110" });
  await goToSibling(page, 1);
  await goToSibling(page, -1);
  assert.equal(asked[0]?.where, "start_ns > 5 OR (start_ns = 5 AND id > 10)");
  assert.equal(asked[0]?.sort, "start_ns:asc");
  assert.equal(asked[1]?.sort, "start_ns");
  assert.deepEqual(went, [{ sel: "ev:112" }, { sel: "ev:112" }]);
});
