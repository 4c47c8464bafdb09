// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { frameOf } from "../api/cols_fixture.ts";
import { emptyColumns } from "./columns.ts";

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
