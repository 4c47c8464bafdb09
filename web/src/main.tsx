// SPDX-License-Identifier: Apache-2.0
import { createRemoteApi } from "./api/remote.ts";
import { show } from "./show.tsx";

const root = document.getElementById("page");
if (root !== null) show(root, createRemoteApi);
