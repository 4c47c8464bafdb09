// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef } from "preact/hooks";
import { type ListedKeys, shownKeys } from "../model/key_list.ts";
import { usePage } from "../state/session.ts";
import { KEY_LISTS } from "./key_lists.ts";

function Lines({ title, list }: { title: string; list: readonly ListedKeys[] }) {
  return (
    <>
      <h2>{title}</h2>
      <table class="plain-table">
        <tbody>
          {list.map(({ keys, does }) => (
            <tr key={keys.join()}>
              <th scope="row">
                <kbd>{shownKeys(keys)}</kbd>
              </th>
              <td>{does}</td>
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
      {KEY_LISTS.map(([title, list]) => (
        <Lines key={title} title={title} list={list} />
      ))}
    </dialog>
  );
}
