// SPDX-License-Identifier: Apache-2.0
// In the place of a view of which the address names what there is not: one sentence, and the way back.

import { useTable } from "../state/answers.ts";
import { mergedOptions } from "../state/options.ts";
import { usePage } from "../state/session.ts";
import { unknownOf } from "../state/unknown.ts";
import { VIEWS } from "../views/list.ts";

const NONE = { offset: 0, limit: 0 };

/** What the address names that there is not; null: nothing, as far as that is known. */
export function useUnknown() {
  const page = usePage();
  const place = page.place.value;
  const isPart = [place.rank, place.span, place.process, place.steps].some((word) => word !== "");
  const { problem } = useTable(isPart ? "overview" : null, mergedOptions(place), NONE);
  return unknownOf(place, page.session.value, VIEWS, isPart ? problem : null);
}

export function Unknown({ is }: { is: NonNullable<ReturnType<typeof unknownOf>> }) {
  const page = usePage();
  return (
    <>
      <h1>{is.text}</h1>
      <p class="ways">
        {is.ways.map(({ title, changes }) => (
          <button key={title} type="button" class="plain way" onClick={() => page.go(changes)}>
            {title}
          </button>
        ))}
      </p>
    </>
  );
}
