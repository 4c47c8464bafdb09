// SPDX-License-Identifier: Apache-2.0
// A link to where the page shows what a command prints.

import { usePage } from "../state/session.ts";
import { formatPlace } from "../state/url.ts";
import { usePlaceOf } from "../state/use_command.ts";

/** Nothing, if the page has no place for the rows of COMMAND. */
export function CommandLink({ command }: { command: string }) {
  const page = usePage();
  const place = usePlaceOf(command);
  if (place === null) return null;
  return (
    <a
      class="rows"
      href={formatPlace({ ...page.place.value, ...place })}
      title={command}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        page.go(place);
      }}
    >
      rows ›
    </a>
  );
}
