// SPDX-License-Identifier: Apache-2.0
// The views of the page, in the order of the rail. A view is a component and one line here.

import type { ComponentType } from "preact";
import { Overview } from "./overview.tsx";
import { Quality } from "./quality.tsx";
import { Tables } from "./tables.tsx";
import { Trace } from "./trace.tsx";

export interface View {
  readonly name: string;
  readonly title: string;
  /** Behind `g`. */
  readonly key: string;
  readonly component: ComponentType;
}

export const VIEWS: readonly View[] = [
  { name: "overview", title: "Overview", key: "v", component: Overview },
  { name: "trace", title: "Trace", key: "t", component: Trace },
  { name: "quality", title: "Quality", key: "q", component: Quality },
  { name: "tables", title: "Tables", key: "a", component: Tables },
];
