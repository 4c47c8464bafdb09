// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Api, ApiError, type CellQuestion } from "../api/api.ts";
import { matcher } from "../model/pattern.ts";
import { Viewport } from "../model/viewport.ts";
import { Fetcher } from "./fetcher.ts";

test("a search is a text in any case, or an expression", () => {
  assert.ok(matcher("CONV")("aten::conv2d"));
  assert.ok(matcher("/^aten::(mm|bmm)$/")("aten::mm"));
  assert.ok(!matcher("/^aten::(mm|bmm)$/")("aten::addmm"));
  assert.ok(matcher("/(/")("a/(/b"));
});

const timeline = { fingerprint: "print", names_per_page: 256 };
const viewport = Viewport.fit(0, 1000, 100);

/** A fetcher whose question was answered by an error of STATUS, and what it asked. */
async function failed(status: number): Promise<[Fetcher, CellQuestion]> {
  const problem = { status, code: "", message: "why", what_to_do: "", command: null };
  const asked: CellQuestion[] = [];
  const cells = (_run: string, _tracks: unknown, question: CellQuestion) => {
    asked.push(question);
    return Promise.reject(new ApiError(problem));
  };
  const fetcher = new Fetcher({ cells } as unknown as Api, "run", timeline, () => {});
  fetcher.show({ viewport, width: 100, ratio: 1, tracks: [[0, 1]], series: [] });
  await new Promise((done) => setTimeout(done, 0));
  fetcher.close();
  return [fetcher, asked[0]!];
}

test("files that have changed are no problem: their timeline is on its way", async () => {
  const [changed, question] = await failed(409);
  assert.equal(question.fingerprint, "print");
  assert.equal(changed.problem, "");
  assert.equal((await failed(400))[0].problem, "why");
});
