// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { foldKernel, shorten } from "./names.ts";

test("long names keep both ends", () => {
  assert.equal(shorten("aten::mm"), "aten::mm");
  const name = `begin${"x".repeat(100)}end`;
  const short = shorten(name, 20);
  assert.equal(short.length, 20);
  assert.ok(short.startsWith("begin") && short.endsWith("end") && short.includes("…"));
  assert.equal(shorten("a\n b"), "a b");
});

test("a signature loses what it returns and takes", () => {
  assert.equal(foldKernel("void a::b<int, f(char)>(int, long)"), "a::b<int, f(char)>");
  assert.equal(
    foldKernel("void (anonymous namespace)::k<1>(float*)"),
    "(anonymous namespace)::k<1>",
  );
  assert.equal(foldKernel("void a<&b::operator->>(int)"), "a<&b::operator->>");
  assert.equal(foldKernel("void unclosed<<(int)"), "unclosed<<(int)");
  assert.equal(foldKernel("volta_sgemm_64x64_nt"), "volta_sgemm_64x64_nt");
  assert.equal(foldKernel("Memcpy DtoD (Device -> Device)"), "Memcpy DtoD (Device -> Device)");
});
