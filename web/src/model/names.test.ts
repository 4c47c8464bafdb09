// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  countedNames,
  countsSteps,
  fitScopes,
  labelsOf,
  partsOf,
  rowLabels,
  shorten,
} from "./names.ts";

test("steps count as one name", () => {
  assert.deepEqual(countedNames("step", "ProfilerStep#3"), ["ProfilerStep*", "step"]);
  assert.deepEqual(countedNames("annotation", "ProfilerStep#3"), ["ProfilerStep#3"]);
  assert.deepEqual(countedNames("step", "train 3"), ["train 3"]);
  assert.ok(countsSteps("step", "ProfilerStep*") && countsSteps("step", "step"));
  assert.ok(!countsSteps("scope", "step"));
});

test("long names keep both ends", () => {
  assert.equal(shorten("aten::mm"), "aten::mm");
  const name = `begin${"x".repeat(100)}end`;
  const short = shorten(name, 20);
  assert.equal(short.length, 20);
  assert.ok(short.startsWith("begin") && short.endsWith("end") && short.includes("…"));
  assert.equal(shorten("a\n b"), "a b");
});

test("a label has scopes, a name of its own, and what it is made with", () => {
  const parts = (label: string) => Object.values(partsOf(label));
  assert.deepEqual(parts("at::native::f<..., g<...>>"), ["at::native::", "f", "<..., g<...>>"]);
  assert.deepEqual(parts("aten::copy_"), ["aten::", "copy_", ""]);
  assert.deepEqual(parts("a::(anonymous namespace)::k<1>"), [
    "a::(anonymous namespace)::",
    "k",
    "<1>",
  ]);
  assert.deepEqual(parts("a<1>::b"), ["a<1>::", "b", ""]);
  assert.deepEqual(parts("f<...> #2"), ["", "f", "<...> #2"]);
  for (const text of ["Memcpy DtoD (Device -> Device)", "m.py(3): f", "", "a::", "::", "<module>"])
    assert.deepEqual(parts(text), ["", text, ""]);
});

test("scopes give way first, and only where they must", () => {
  const label = "at::native::vectorized_elementwise_kernel<..., CUDAFunctor_add<...>, ...>";
  const fit = (most: number) => fitScopes(label, (text) => text.length <= most);
  assert.equal(fit(label.length), label);
  assert.equal(fit(label.length - 1), label.slice("at::".length));
  assert.equal(fit(20), label.slice("at::native::".length));
  assert.ok(shorten(label, 44).startsWith("vectorized_elementwise_kernel<"));
  assert.equal(shorten("aten::_scaled_dot_product_flash_attention", 36).slice(0, 8), "_scaled_");
  assert.equal(labelsOf(["a::long_name", "b::long_name"], 9).length, 2);
  assert.equal(new Set(labelsOf(["a::long_name", "b::long_name"], 9)).size, 2);
});

test("different names look different when they are cut", () => {
  const tile = (size: string) =>
    `Cijk_Alik_Bljk_B_BS_BH_Bias_HA_S_SAV_UserArgs_${size}_MI16x16x1_SN_LDSB0_${"x".repeat(80)}_WG32`;
  const names = [
    tile("MT256x128x64"),
    tile("MT128x224x64"),
    "attn_fwd",
    `void at::native::elementwise_kernel<128, 4, (lambda(int)#1)>(${"int, ".repeat(20)}float)`,
    `void at::native::elementwise_kernel<128, 8, (lambda(int)#1)>(${"int, ".repeat(20)}float)`,
  ];
  const labels = labelsOf(names, 44);
  assert.equal(new Set(labels).size, names.length);
  for (const label of labels) assert.ok(label.length <= 44, label);
  assert.ok(labels[0]?.includes("MT256x128x64") && labels[1]?.includes("MT128x224x64"));
  assert.deepEqual(labelsOf(["a", "a"], 44), ["a", "a"]);
});

test("what differs in some only, or in what a function takes, tells names apart, too", () => {
  const long = (a: string, b: string) =>
    `kernel_${"k".repeat(60)}_${a}_${"m".repeat(60)}_${b}_end${"e".repeat(40)}`;
  const names = [long("a", "1"), long("a", "2"), long("b", "1"), `${"k".repeat(9)}`];
  assert.equal(new Set(labelsOf(names, 44)).size, 4);
  const overloads = ["void f<1>(int)", "void f<1>(long)"];
  assert.equal(new Set(labelsOf(overloads, 44)).size, 2);
  const prefix = `void g<${"1, ".repeat(40)}2>()`;
  assert.equal(new Set(labelsOf([prefix, prefix.replace("2>", "2, 3>")], 44)).size, 2);
});

test("rows of one name have beside it what tells them apart", () => {
  assert.deepEqual(rowLabels(["mm", "mm"], ["[[1]]", "[[2]]"]), ["mm [[1]]", "mm [[2]]"]);
  assert.deepEqual(rowLabels(["mm"], [""]), ["mm"]);
  const shape = (n: number) => `[[], [32, 256, ${n}, 14], [256, 256, 3, 3], [], [], [], [], []]`;
  const name = "aten::cudnn_convolution_backward_input";
  const labels = rowLabels([name, name, "mm"], [shape(14), shape(28), shape(14)]);
  assert.equal(new Set(labels).size, 3);
  for (const label of labels) assert.ok(label.length <= 50, label);
});
