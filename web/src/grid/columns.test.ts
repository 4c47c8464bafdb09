// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { frameOf } from "../api/cols_fixture.ts";
import { emptyColumns, shareOf, showColumns } from "./columns.ts";

const operators = (selfNs: number) =>
  frameOf([
    { name: "name", type: "string", values: ["aten::mm", "aten::add"] },
    { name: "device", type: "string", values: ["cpu", "cpu"] },
    { name: "device_self_ns", type: "integer", unit: "ns", values: [0, selfNs] },
    { name: "device_total_ns", type: "integer", unit: "ns", values: [0, selfNs] },
    { name: "host_self_ns", type: "integer", unit: "ns", values: [0, 0] },
    { name: "tc_eligible", type: "boolean", values: [true, false] },
    { name: "tc_self_ratio", type: "number", unit: "ratio", values: [0, 0] },
  ]);

test("columns of devices are empty if no row has work of one", () => {
  const empty = ["device_self_ns", "device_total_ns", "tc_eligible", "tc_self_ratio"];
  assert.deepEqual([...emptyColumns(operators(0))], empty);
  assert.equal(emptyColumns(operators(1)).size, 0);
});

test("a table that counts no work of devices has no such columns", () => {
  const memory = frameOf([
    { name: "device", type: "string", values: ["cuda:0"] },
    { name: "self_device_bytes", type: "integer", unit: "bytes", values: [0] },
  ]);
  assert.equal(emptyColumns(memory).size, 0);
});

test("shares are parts of the whole, other values of the largest", () => {
  const frame = frameOf([
    { name: "busy_ratio", type: "number", unit: "ratio", values: [0.2, 0.4] },
    { name: "total_ns", type: "integer", unit: "ns", values: [20, 40] },
    { name: "change_ratio", type: "number", unit: "ratio", values: [2, 4] },
  ]);
  const [share, time, change] = showColumns(frame, undefined);
  assert.equal(shareOf(0.4, share!), 0.4);
  assert.equal(shareOf(20n, time!), 0.5);
  assert.equal(shareOf(2, change!), 0.5);
});

test("two columns of names leave room for numbers beside them", () => {
  const long = "x".repeat(80);
  const name = { name: "name", type: "string", values: [long] } as const;
  const [alone] = showColumns(frameOf([name]), undefined);
  const [left, right] = showColumns(frameOf([name, { ...name, name: "operator" }]), undefined);
  assert.ok(left!.width < alone!.width);
  assert.equal(left!.width, right!.width);
  assert.ok(left!.labels!.get(long)!.length < alone!.labels!.get(long)!.length);
});
