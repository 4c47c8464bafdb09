// SPDX-License-Identifier: Apache-2.0
// A name whose own word stands out from its scopes and from what tells it from others.

import { partsOf } from "../model/names.ts";

export function NameText({ label }: { label: string }) {
  const { scopes, base, rest } = partsOf(label);
  if (scopes === "" && rest === "") return <>{label}</>;
  return (
    <>
      {scopes !== "" && <span class="muted">{scopes}</span>}
      {base}
      {rest !== "" && <span class="muted">{rest}</span>}
    </>
  );
}
