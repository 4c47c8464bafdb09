// SPDX-License-Identifier: Apache-2.0
import { render } from "preact";
import { createRemoteApi } from "./api/remote.ts";
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

const root = document.getElementById("page");
const missing = missingFeatures(window);
if (root !== null && missing.length > 0) showMissing(root, missing);
else if (root !== null) {
  const page = createPageState(createRemoteApi(), window);
  page.start();
  render(
    <PageContext.Provider value={page}>
      <Shell />
    </PageContext.Provider>,
    root,
  );
}
