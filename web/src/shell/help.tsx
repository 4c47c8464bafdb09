// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef } from "preact/hooks";
import { usePage } from "../state/session.ts";
import { TIMELINE_KEYS } from "../timeline/input.ts";
import { KEYS } from "./keys.ts";
import { PART_KEYS } from "./part_keys.ts";

interface Line {
  readonly keys: string;
  readonly does: string;
}

function Lines({ title, keys }: { title: string; keys: readonly Line[] }) {
  return (
    <>
      <h2>{title}</h2>
      <table class="plain-table">
        <tbody>
          {keys.map((key) => (
            <tr key={key.keys}>
              <th scope="row">
                <kbd>{key.keys}</kbd>
              </th>
              <td>{key.does}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

/** The keys of the page. */
export function Help() {
  const page = usePage();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-label="Keys" onClose={() => (page.helpIsOpen.value = false)}>
      <Lines title="Keys" keys={KEYS} />
      <Lines title="In the timeline" keys={TIMELINE_KEYS} />
      {PART_KEYS.map((part) => (
        <Lines key={part.title} {...part} />
      ))}
    </dialog>
  );
}
