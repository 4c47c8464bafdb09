// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { HEAT_KEYS } from "../chart/heat_keys.ts";
import { FLAME_KEYS } from "../flame/flame_keys.ts";
import { GRID_KEYS } from "../grid/grid_keys.ts";
import { PART_KEYS } from "../shell/part_keys.ts";
import { STRIP_KEYS } from "../shell/strip_keys.ts";
import { SEARCH_KEYS } from "../views/search_keys.ts";
import { type PartKey, runKey, shownKeys } from "./key_list.ts";

/** What LIST does by each key that it lists, one after the other. */
function deedsOf<On extends object>(list: readonly PartKey<On>[], values: Partial<On>): string[] {
  const deeds: string[] = [];
  const on = new Proxy(values, {
    get: (target, name) =>
      Reflect.get(target, name) ??
      ((...args: unknown[]) => {
        deeds.push(`${String(name)} ${args.join(" ")}`.trim());
        return name !== "fold";
      }),
  }) as On;
  for (const { keys } of list)
    for (const key of keys)
      assert.ok(runKey(list, on, { key, shiftKey: false }), `${key} is taken`);
  assert.equal(runKey(list, on, { key: "F9", shiftKey: false }), false);
  return deeds;
}

test("each listed key does something, and no other", () => {
  assert.deepEqual(deedsOf(GRID_KEYS, { row: 5, column: 2, rows: 90, columns: 4, jump: 10 }), [
    "goRow 4 false",
    "goRow 6 false",
    "goRow -5 false",
    "goRow 15 false",
    "goRow 0 false",
    "goRow 89 false",
    "fold false",
    "goColumn 1",
    "fold true",
    "goColumn 3",
    "toggle",
    "open",
    "sort",
    "explain",
  ]);
  assert.deepEqual(deedsOf(FLAME_KEYS, {}), [
    "go ArrowUp",
    "go ArrowDown",
    "go ArrowLeft",
    "go ArrowRight",
    "go Home",
    "go End",
    "open",
    "leave",
  ]);
  assert.deepEqual(deedsOf(STRIP_KEYS, { at: 3, n: 9 }), [
    "go 2 false",
    "go 4 false",
    "go 0 false",
    "go 8 false",
    "take",
  ]);
  assert.equal(deedsOf(HEAT_KEYS, {}).length, 5);
  assert.deepEqual(deedsOf(SEARCH_KEYS, {}), ["go 1"]);
});

test("a key that finds nothing to do is left to others", () => {
  const none = { take: () => false } as never;
  assert.equal(runKey(STRIP_KEYS, none, { key: "Enter", shiftKey: false }), false);
});

test("what `?` shows of parts is what they take", () => {
  assert.equal(shownKeys(["ArrowUp", " ", "s"]), "↑ Space s");
  const lists = [GRID_KEYS, FLAME_KEYS, STRIP_KEYS, HEAT_KEYS, SEARCH_KEYS];
  assert.equal(PART_KEYS.length, lists.length);
  for (const [i, list] of lists.entries()) {
    const shown = PART_KEYS[i]!.keys;
    assert.deepEqual(
      shown.map((one) => one.keys),
      list.map((one) => shownKeys(one.keys)),
    );
  }
});
