// SPDX-License-Identifier: Apache-2.0
// The page as one file: what it may ask is in the file itself.
import { readAnswers } from "./api/answers.ts";
import { createEmbeddedApi } from "./api/embedded.ts";
import { show } from "./show.tsx";

async function start(root: HTMLElement, data: HTMLElement): Promise<void> {
  try {
    const answers = await readAnswers(data.textContent ?? "");
    data.remove();
    show(root, () => createEmbeddedApi(answers));
  } catch (cause) {
    root.textContent = `The data of this page cannot be read: ${String(cause)}`;
  }
}

const root = document.getElementById("page");
const data = document.getElementById("data");
if (root !== null && data !== null) void start(root, data);
