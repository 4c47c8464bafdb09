// SPDX-License-Identifier: Apache-2.0
// How much is missing or broken in the traces, on every view: a click tells all of it.

import { badgeOf } from "../model/findings.ts";
import { LATER, useTable } from "../state/answers.ts";
import { allTimeOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";
import { FRESH } from "../state/url.ts";

const ALL = { offset: 0, limit: 1000 };

export function Findings() {
  const page = usePage();
  // Of all of the time: what is selected changes nothing that is missing.
  const options = { ...allTimeOptions(page.place.value), merge: true as const };
  const { frame } = useTable("quality", options, ALL, LATER);
  const badge = frame === null ? null : badgeOf(frame);
  if (badge === null) return null;
  return (
    <button
      type="button"
      class={`plain findings ${badge.severity}`}
      title={`${badge.text}; a click tells them (g q)`}
      aria-label={badge.text}
      onClick={() => page.go({ ...FRESH, view: "quality" })}
    >
      ⚠ {badge.n}
    </button>
  );
}
