// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { splitAnswers, textOf } from "./answers.ts";
import type { ApiError } from "./api.ts";
import { createEmbeddedApi } from "./embedded.ts";
import { optionWords, shellWord } from "./question.ts";
import { cutCells, readLevel } from "./tiles.ts";
import { likeTest, parseWhere } from "./where.ts";

function entry(key: string, text: string): number[] {
  const pad = (bytes: Uint8Array) => [...bytes, ...new Array((8 - (bytes.length % 8)) % 8).fill(0)];
  const [k, v] = [new TextEncoder().encode(key), new TextEncoder().encode(text)];
  return [k.length, 0, 0, 0, v.length, 0, 0, 0, ...pad(k), ...pad(v)];
}

test("entries are split at multiples of eight bytes", () => {
  const body = new Uint8Array([
    ...entry("a", "one"),
    ...entry("session?12", ""),
    ...entry("b", "eight by"),
  ]);
  const answers = splitAnswers(body.buffer);
  assert.deepEqual([...answers.keys()], ["a", "session?12", "b"]);
  assert.deepEqual([...answers.values()].map(textOf), ["one", "", "eight by"]);
});

test("LIKE has wildcards and ignores case of ASCII letters only", () => {
  assert.ok(likeTest("%Conv_d%")("aten::conv2d"));
  assert.ok(!likeTest("conv")("aten::conv"));
  assert.ok(likeTest("a.b(c)")("A.B(C)"));
  assert.ok(!likeTest("%é%")("É"));
  assert.ok(likeTest("%\n_%")("a\nb"));
  assert.ok(likeTest("%\\_b%", true)("A_B"));
  assert.ok(!likeTest("%\\_b%", true)("a-b"));
  assert.ok(likeTest("100\\% \\\\", true)("100% \\"));
});

test("filters of the page are read, and no others", () => {
  const terms = parseWhere("process = 'a''b' and device = 'cuda:0'");
  assert.deepEqual(
    terms?.map((any) => any.map((term) => term.column)),
    [["process"], ["device"]],
  );
  assert.ok(terms?.[0]?.[0]?.test("a'b"));
  assert.ok(!terms?.[0]?.[0]?.test(null));
  const escaped = parseWhere("name like '%add\\_%' escape '\\' and device = 'cpu'");
  assert.deepEqual([escaped?.length, escaped?.[0]?.[0]?.test("aten::add_")], [2, true]);
  assert.ok(!escaped?.[0]?.[0]?.test("aten::addmm"));
  const shape = (where: string) =>
    parseWhere(where)?.map((any) => any.map((term) => term.column).join("|"));
  const either = "name like '%x%' or operator like '%x%'";
  assert.deepEqual(shape(either), ["name|operator"]);
  assert.deepEqual(shape(`(depth < 3) and (${either})`), ["depth", "name|operator"]);
  assert.deepEqual(shape(`(${either}) and rank = '0'`), ["name|operator", "rank"]);
  for (const where of [`rank = '0' and ${either}`, `${either} and rank = '0'`, `(${either}`])
    assert.equal(parseWhere(where), null, where);
  for (const where of [
    "calls > 3",
    "name = 'a' or",
    "(name = 'a') or (b = 'c')",
    "name = 'a' and",
    "name = 'a",
    "",
  ])
    assert.equal(parseWhere(where), null, where);
});

test("options are words of a command line, quoted", () => {
  const words = optionWords({ where: "name like '%x%'", sort: "-calls", merge: true });
  const where = `'name like '\\''%x%'\\'''`;
  assert.equal(words, ` --where ${where} --sort -calls --merge`);
  assert.equal(shellWord("a/b-c"), "a/b-c");
});

test("what is not in the page is named with the options that the page was made with", async () => {
  const run = { name: "t.json", operands: "t.json", options: { steps: "3-3" }, fingerprint: "x" };
  const parts = {
    about: { rows: 5, quantum_ns: 1, levels: 1, is_complete: true },
    session: { opscope: "1", run: "t.json", runs: [run] },
    catalog: { tables: [{ name: "operators" }] },
  };
  const answers = new Map(
    Object.entries(parts).map(([key, v]) => [key, new TextEncoder().encode(JSON.stringify(v))]),
  );
  const api = createEmbeddedApi(answers);
  const told = (asked: Promise<unknown>) =>
    asked.then(
      () => null,
      (e: ApiError) => e.problem.command,
    );
  assert.equal(
    await told(api.table("operators", { sort: "-calls" }, { offset: 0, limit: 10 })),
    "opscope table operators --steps 3-3 --sort -calls t.json",
  );
  const flame = {
    stack: "op",
    metric: "calls",
    root: "",
    name: "",
    way: "callees",
    q: "",
  } as const;
  assert.equal(
    await told(api.flame("t.json", { ...flame, pixels: 9, selection: { rank: "1" } })),
    "opscope export --steps 3-3 --rank 1 --stack op --metric calls t.json -o stacks.folded",
  );
});

test("what the page was made with is not asked for again", async () => {
  const options = { from: "5ns", to: "9ns", rank: "1" };
  const run = { name: "t.json", operands: "t.json", options, fingerprint: "x" };
  const parts = {
    about: { rows: 5, quantum_ns: 1, levels: 1, is_complete: true },
    session: { opscope: "1", run: "t.json", runs: [run] },
    catalog: { tables: [{ name: "operators" }] },
  };
  const answers = new Map(
    Object.entries(parts).map(([key, v]) => [key, new TextEncoder().encode(JSON.stringify(v))]),
  );
  const api = createEmbeddedApi(answers);
  const { fixed } = await api.session();
  assert.deepEqual(fixed, { rank: "1", span: "", steps: "", t: "5+4" });
  const asked = { from: "5ns", to: "9ns", rank: "1", sort: "-calls" };
  await assert.rejects(api.table("operators", asked, { offset: 0, limit: 9 }), (e: ApiError) => {
    const command = "opscope table operators --from 5ns --to 9ns --rank 1 --sort -calls t.json";
    assert.equal(e.problem.command, command);
    return true;
  });
});

/** A tile with one lane of CELLS [start, length, event] from T0 on, laid out as in levels.h. */
function tile(t0: number, cells: readonly (readonly [number, number, number])[]): Uint8Array {
  const n = cells.length;
  const all = 48 + 16 + 20 * n;
  const bytes = new Uint8Array(8 + Math.ceil(all / 8) * 8);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, all, true);
  view.setUint32(8, 0x5443534f, true);
  view.setUint16(12, 1, true);
  view.setBigInt64(16, BigInt(t0), true);
  view.setUint32(28, 1, true);
  view.setUint32(32, n, true);
  view.setBigInt64(40, 1000n, true);
  view.setUint32(8 + 48 + 12, n, true);
  const column = (w: number, values: readonly number[]) => {
    for (let b = 0; b < 4; b++)
      for (const [i, v] of values.entries())
        bytes[8 + 64 + w * 4 * n + b * n + i] = (v >>> (8 * b)) & 255;
  };
  const deltas = (values: readonly number[]) => values.map((v, i) => v - (values[i - 1] ?? 0));
  column(0, deltas(cells.map(([start]) => start)));
  column(
    1,
    cells.map(([, length]) => length),
  );
  column(2, deltas(cells.map(([, , event]) => event)));
  column(
    4,
    cells.map(() => 1),
  );
  return bytes;
}

test("a window is cut from tiles, and a range over their border is there once", () => {
  const tiles = [
    tile(0, [
      [10, 20, 5],
      [300, 5, 70000],
      [990, 40, 3],
    ]),
    tile(1000, [
      [-10, 40, 3],
      [100, 1, 9],
    ]),
  ];
  const level = readLevel(new Uint8Array(tiles.flatMap((t) => [...t])));
  const all = cutCells(level, [[0, 1]], { from: 0, to: 2000 }, 7);
  const eventsOf = (packet: typeof all) =>
    Array.from({ length: packet.n }, (_, i) => packet.words[i * 5 + 2]);
  assert.deepEqual(eventsOf(all), [5, 70000, 3, 9]);
  assert.equal(all.signed[3 * 5], 1100);
  assert.equal(all.head.request, 7);
  assert.deepEqual(eventsOf(cutCells(level, [[0, 1]], { from: 100, to: 400 }, 0)), [70000]);
  assert.deepEqual(cutCells(level, [], { from: 0, to: 2000 }, 0).lanes, []);
});

test("filters of trees are read, too", () => {
  const terms = parseWhere(
    "substr(path, 1, length('a''b') + 1) <> 'a''b/' and (depth < 2) and name = 'x'",
  );
  assert.deepEqual(
    terms?.map((any) => any.map((term) => term.column).join()),
    ["path", "depth", "name"],
  );
  assert.deepEqual(
    ["a'b", "a'b/c", "a'bc/d", null].map((path) => terms?.[0]?.[0]?.test(path)),
    [true, false, true, true],
  );
  assert.deepEqual(
    ["1", "2", null].map((depth) => terms?.[1]?.[0]?.test(depth)),
    [true, false, false],
  );
});
