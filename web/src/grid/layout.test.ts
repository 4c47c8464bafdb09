// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ShownColumn } from "./columns.ts";
import {
  changed,
  columnsOption,
  formatCols,
  moved,
  parseCols,
  placeColumns,
  toggled,
  usualColumns,
} from "./layout.ts";

const columnOf = (name: string, width: number) =>
  ({ name, width, labels: null, relabel: () => null }) as unknown as ShownColumn;

test("columns in the address are read and written alike", () => {
  const text = "name!:240,calls,host_self_ns:90";
  assert.equal(formatCols(parseCols(text)), text);
  assert.equal(columnsOption(parseCols(text)), "name,calls,host_self_ns");
  assert.equal(columnsOption([]), null);
});

test("what is no column is left out, and widths have limits", () => {
  assert.equal(formatCols(parseCols("a,,<b>,a:5,c:1,d:9999")), "a,c:40,d:2000");
});

test("pinned columns come first, one beside the other", () => {
  const columns = [columnOf("a", 10), columnOf("b", 20), columnOf("c", 30)];
  const placed = placeColumns(columns, parseCols("a,b!:50,c!"));
  assert.deepEqual(
    placed.map((c) => [c.name, c.isPinned, c.left, c.width]),
    [
      ["b", true, 0, 50],
      ["c", true, 50, 30],
      ["a", false, 80, 10],
    ],
  );
});

test("columns move, change and go, but for the last one", () => {
  const wishes = parseCols("a,b,c");
  assert.equal(formatCols(moved(wishes, "c", -1)), "a,c,b");
  assert.equal(formatCols(moved(wishes, "a", -1)), "a,b,c");
  assert.equal(formatCols(changed(wishes, "b", { isPinned: true })), "a,b!,c");
  assert.equal(formatCols(toggled(wishes, "b")), "a,c");
  assert.equal(formatCols(toggled(wishes, "d")), "a,b,c,d");
  assert.equal(formatCols(toggled(parseCols("a"), "a")), "a");
});

test("some columns are not shown until they are chosen, and some come last", () => {
  const columns = ["path", "depth", "name", "calls", "device_ns"].map((name) => ({ name }));
  const usual = { hidden: ["depth"], last: ["path"] };
  const names = (empty: string[]) =>
    usualColumns(columns, usual, new Set(empty)).map((c) => c.name);
  assert.deepEqual(names([]), ["name", "calls", "device_ns", "path"]);
  assert.deepEqual(names(["device_ns"]), ["name", "calls", "path"]);
  assert.deepEqual(usualColumns(columns, {}, new Set()), columns);
});
