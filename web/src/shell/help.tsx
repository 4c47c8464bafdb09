// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef } from "preact/hooks";
import { usePage } from "../state/session.ts";
import { KEYS } from "./keys.ts";

/** The keys of the page. */
export function Help() {
  const page = usePage();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-label="Keys" onClose={() => (page.helpIsOpen.value = false)}>
      <h2>Keys</h2>
      <table class="plain-table">
        <tbody>
          {KEYS.map((key) => (
            <tr key={key.keys}>
              <th scope="row">
                <kbd>{key.keys}</kbd>
              </th>
              <td>{key.does}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </dialog>
  );
}
