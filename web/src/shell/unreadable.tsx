// SPDX-License-Identifier: Apache-2.0
// In the place of a view whose run could not be read: why, and the runs that there are beside it.

import { useEffect } from "preact/hooks";
import { usePage } from "../state/session.ts";
import { FRESH, WHOLE_RUN } from "../state/url.ts";

/** A run that failed is read again only if somebody asks. */
const AGAIN_MS = 6000;

export function Unreadable() {
  const page = usePage();
  const run = page.run.value;
  useEffect(() => {
    const ask = () => page.api.table("info", { run }, { offset: 0, limit: 0 }).catch(() => {});
    const timer = window.setInterval(ask, AGAIN_MS);
    return () => window.clearInterval(timer);
  }, [page, run]);
  const others = (page.session.value?.runs ?? []).filter(({ name }) => name !== run);
  return (
    <>
      <h1>{run === "" ? "Nothing could be read." : `${run} could not be read.`}</h1>
      <div class="problem" role="alert">
        <p>{page.loading.value.message}</p>
        <p>When the files change, the page shows them.</p>
      </div>
      {others.length > 0 && (
        <>
          <h2>Other runs</h2>
          <ul>
            {others.map(({ name, message }) => (
              <li key={name}>
                <button
                  type="button"
                  class="plain"
                  onClick={() => page.go({ ...FRESH, ...WHOLE_RUN, run: name })}
                >
                  {name}
                </button>{" "}
                <span class="muted">{message}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
