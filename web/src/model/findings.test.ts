// SPDX-License-Identifier: Apache-2.0
import { deepEqual, equal } from "node:assert/strict";
import { test } from "node:test";
import { badgeOf } from "./findings.ts";

const frame = (...severities: string[]) => ({
  n: severities.length,
  text: (row: number) => severities[row]!,
});

test("the badge counts findings, and is as bad as the worst", () => {
  equal(badgeOf(frame()), null);
  deepEqual(badgeOf(frame("info")), { n: 1, severity: "info", text: "1 finding: hints only" });
  equal(badgeOf(frame("info", "warning"))?.severity, "warning");
  deepEqual(badgeOf(frame("info", "error", "warning")), {
    ...{ n: 3, severity: "error", text: "3 findings: errors: something is broken or missing" },
  });
});
