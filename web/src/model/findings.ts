// SPDX-License-Identifier: Apache-2.0
// The badge of findings: how many, and how bad the worst is.

import type { Frame } from "../api/cols.ts";

export interface Badge {
  readonly n: number;
  /** Hints alone are quiet; an error says that something is broken or missing. */
  readonly severity: "info" | "warning" | "error";
  readonly text: string;
}

const WORST = {
  info: "hints only",
  warning: "warnings",
  error: "errors: something is broken or missing",
};

/** The badge for FRAME, which is of the table `quality`; null: nothing was found. */
export function badgeOf(frame: Pick<Frame<"quality">, "n" | "text">): Badge | null {
  const found = Array.from({ length: frame.n }, (_, row) => frame.text(row, "severity"));
  if (found.length === 0) return null;
  const severity = found.includes("error")
    ? "error"
    : found.includes("warning")
      ? "warning"
      : "info";
  const count = found.length === 1 ? "1 finding" : `${found.length} findings`;
  return { n: found.length, severity, text: `${count}: ${WORST[severity]}` };
}
