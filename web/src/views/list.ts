// SPDX-License-Identifier: Apache-2.0
// The views of the page, in the order of the rail. A view is a component and one line here.

import type { ComponentType } from "preact";
import { Kernels } from "./kernels.tsx";
import { Operators } from "./operators.tsx";
import { Overview } from "./overview.tsx";
import { Quality } from "./quality.tsx";
import { Tables } from "./tables.tsx";
import { Trace } from "./trace.tsx";

export interface View {
  readonly name: string;
  readonly title: string;
  /** In the narrow rail; else the title. */
  readonly short?: string;
  /** Behind `g`. */
  readonly key: string;
  readonly component: ComponentType;
}

export const VIEWS: readonly View[] = [
  { name: "overview", title: "Overview", short: "Over", key: "v", component: Overview },
  { name: "trace", title: "Trace", key: "t", component: Trace },
  { name: "operators", title: "Operators", short: "Ops", key: "o", component: Operators },
  { name: "kernels", title: "Kernels", short: "Kern", key: "k", component: Kernels },
  { name: "quality", title: "Quality", short: "Qual", key: "q", component: Quality },
  { name: "tables", title: "Tables", short: "Tab", key: "a", component: Tables },
];
