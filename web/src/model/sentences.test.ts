// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { frameOf } from "../api/cols_fixture.ts";
import {
  diffSentence,
  kernelSentence,
  lateSentence,
  memorySentence,
  operatorSentence,
  stepSentence,
} from "./sentences.ts";

const plain = (text: string) => text.replace(/[\u00a0\u202f]/g, " ");

test("the step and its largest part", () => {
  const overview = frameOf([
    { name: "category", type: "string", values: ["step", "kernel", "dataloader"] },
    { name: "avg_ns", type: "number", values: [10e6, 4e6, 6e6] },
    { name: "ratio", type: "number", values: [1, 0.4, 0.6] },
  ]);
  assert.equal(plain(stepSentence(overview)), "10.000 ms a step; 60.0 % of it is dataloader.");
  assert.equal(stepSentence(frameOf([])), "No step was measured.");
});

test("operators without device work are told by host time", () => {
  const operators = (device: readonly bigint[]) =>
    frameOf([
      { name: "name", type: "string", values: ["a", "b"] },
      { name: "device_self_ns", type: "integer", values: device },
      { name: "host_self_ns", type: "integer", values: [1n, 3n] },
    ]);
  assert.match(plain(operatorSentence(operators([0n, 0n]))), /^b takes 75\.0 % of the host/);
  assert.match(plain(operatorSentence(operators([9n, 1n]))), /^a takes 90\.0 % of the device/);
});

test("unknown tensor cores are not none", () => {
  const kernels = (cores: readonly (boolean | null)[]) =>
    frameOf([
      { name: "total_ns", type: "integer", values: [3000n, 1000n] },
      { name: "tensor_cores", type: "boolean", values: cores },
    ]);
  assert.match(plain(kernelSentence(kernels([true, false]))), /75\.0 % of kernel time uses/);
  assert.match(kernelSentence(kernels([false, null])), /no kernel is known to use/);
  assert.match(kernelSentence(kernels([null, null])), /nothing is known of tensor cores/);
});

test("a change says whether it is noise", () => {
  const steps = (significant: boolean | null) =>
    frameOf([
      { name: "base_calls", type: "integer", values: [6n] },
      { name: "new_calls", type: "integer", values: [5n] },
      { name: "mean_base_ns", type: "number", values: [100e6] },
      { name: "mean_new_ns", type: "number", values: [80e6] },
      { name: "delta_ratio", type: "number", values: [-0.2] },
      { name: "significant", type: "boolean", values: [significant] },
    ]);
  assert.equal(
    plain(diffSentence(steps(true))),
    "100.000 ms → 80.000 ms a step (−20.0 %), beyond noise (6 and 5 steps).",
  );
  assert.match(diffSentence(steps(false)), /which may be noise/);
  assert.match(diffSentence(steps(null)), /nothing says/);
  assert.match(diffSentence(frameOf([])), /no steps/);
});

test("nobody is late, and no peak is known, if no row says so", () => {
  assert.match(lateSentence(frameOf([])), /^No rank makes/);
  assert.equal(memorySentence(frameOf([])), "No peak of memory is known.");
});
