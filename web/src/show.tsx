// SPDX-License-Identifier: Apache-2.0
import { render } from "preact";
import type { Api } from "./api/api.ts";
import { missingFeatures, showMissing } from "./shell/missing.ts";
import { Shell } from "./shell/shell.tsx";
import { createPageState, PageContext } from "./state/session.ts";
import "./style/tokens.css";
import "./style/page.css";
import "./style/charts.css";
import "./style/combobox.css";
import "./style/flame.css";
import "./style/grid.css";
import "./style/shell.css";
import "./style/timeline.css";
import "./style/views.css";
import "./style/overview.css";
import "./style/explain.css";

/** Show the page in ROOT; it asks what CREATE_API makes. */
export function show(root: HTMLElement, createApi: () => Api): void {
  const missing = missingFeatures(window);
  if (missing.length > 0) {
    showMissing(root, missing);
    return;
  }
  const page = createPageState(createApi(), window);
  page.start();
  render(
    <PageContext.Provider value={page}>
      <Shell />
    </PageContext.Provider>,
    root,
  );
}
