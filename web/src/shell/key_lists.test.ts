// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { HEAT_KEYS } from "../chart/heat_keys.ts";
import { FLAME_KEYS } from "../flame/flame_keys.ts";
import { GRID_KEYS } from "../grid/grid_keys.ts";
import { bindingOf, type KeyBinding, runKey, shownKeys } from "../model/key_list.ts";
import { VIEWS } from "../views/list.ts";
import { SEARCH_KEYS } from "../views/search_keys.ts";
import { KEY_LISTS } from "./key_lists.ts";
import { STRIP_KEYS } from "./strip_keys.ts";

/** What LIST does by each key that it lists, one after the other. */
function deedsOf<On extends object>(
  list: readonly KeyBinding<On>[],
  values: Partial<On>,
): string[] {
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

test("capitals are Shift and a letter; what has a place on the keyboard is found by it", () => {
  const list: KeyBinding<object>[] = [
    { keys: ["w"], code: "KeyW", does: "zoom", run: () => {} },
    { keys: ["z", "Backspace"], does: "back", run: () => {} },
    { keys: ["Shift+Z", "Shift+Backspace"], does: "forward", run: () => {} },
    { keys: ["ArrowUp"], does: "up", run: () => {} },
  ];
  const does = (key: string, shiftKey: boolean, code = "") =>
    bindingOf(list, { key, shiftKey, code })?.does;
  assert.equal(does("z", false, "KeyZ"), "back");
  assert.equal(does("Z", true, "KeyZ"), "forward");
  assert.equal(does("Z", false, "KeyZ"), "forward");
  assert.equal(does("Backspace", true), "forward");
  assert.equal(does("ArrowUp", true), "up");
  // AZERTY: the letter z is at the place of w, and w elsewhere.
  assert.equal(does("z", false, "KeyW"), "zoom");
  assert.equal(does("w", false, "KeyZ"), undefined);
});

test("no list has a key twice", () => {
  for (const [title, list] of KEY_LISTS) {
    const all = list.flatMap(({ keys }) => keys);
    assert.equal(new Set(all).size, all.length, title);
  }
  assert.equal(shownKeys(["ArrowUp", " ", "s"]), "↑ Space s");
});

const manual = readFileSync(new URL("../../../docs/viewer.md", import.meta.url), "utf8");
/** What is no key, or part of one. */
const SPOKEN = ["⚠", "g", "Shift", "Enter", "Esc", "Backspace", "Space"];

test("docs/viewer.md has no key that there is not", () => {
  const known = new Set(KEY_LISTS.flatMap(([, list]) => list.flatMap(({ keys }) => keys)));
  const shown = new Set([...known].map((key) => shownKeys([key])));
  const said = [...manual.matchAll(/(?<!`)`([^`\n]+)`/g)].map((match) => match[1]!);
  const isKey = (text: string) => /^(\S|g .|Shift\+.|Ctrl\+.)$/.test(text);
  const found = said.filter(isKey);
  assert.ok(found.length > 40);
  assert.deepEqual(
    found.filter((key) => !shown.has(key) && !SPOKEN.includes(key)),
    [],
  );
});

test("docs/viewer.md has each view with its key", () => {
  const rows = [...manual.matchAll(/^\| `g (.)` \| (\w+) \|/gm)].map(([, key, title]) => [
    key,
    title,
  ]);
  assert.deepEqual(
    rows,
    VIEWS.map(({ key, title }) => [key, title]),
  );
});
