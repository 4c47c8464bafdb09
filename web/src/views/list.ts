// SPDX-License-Identifier: Apache-2.0
// The views of the page, in the order of the rail. A view is a component and one line here.

import type { ComponentType } from "preact";
import { Diff } from "./diff.tsx";
import { Distributed } from "./distributed.tsx";
import { Flame } from "./flame.tsx";
import { Kernels } from "./kernels.tsx";
import { Memory } from "./memory.tsx";
import { Modules } from "./modules.tsx";
import { Operators } from "./operators.tsx";
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
  { name: "operators", title: "Operators", key: "o", component: Operators },
  { name: "kernels", title: "Kernels", key: "k", component: Kernels },
  { name: "modules", title: "Modules", key: "n", component: Modules },
  { name: "memory", title: "Memory", key: "m", component: Memory },
  { name: "flame", title: "Flame", key: "f", component: Flame },
  { name: "distributed", title: "Distributed", key: "r", component: Distributed },
  { name: "diff", title: "Diff", key: "d", component: Diff },
  { name: "quality", title: "Quality", key: "q", component: Quality },
  { name: "tables", title: "Tables", key: "a", component: Tables },
];
