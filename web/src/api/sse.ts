// SPDX-License-Identifier: Apache-2.0
// The stream of news about a run, opened again for as long as somebody listens.

import type { Progress } from "./api.ts";

const FIRST_WAIT_S = 0.5;
const LONGEST_WAIT_S = 8;

type Data = Readonly<Record<string, unknown>>;

const NEWS: Readonly<Record<string, (data: Data) => Progress>> = {
  load: (d) => ({ kind: "load", done: Number(d.done_bytes), total: Number(d.total_bytes) }),
  ready: (d) => ({ kind: "ready", fingerprint: String(d.fingerprint) }),
  model: (d) => ({ kind: "model", fingerprint: String(d.fingerprint) }),
  failed: (d) => ({ kind: "failed", message: String(d.message) }),
  stale: (d) => ({ kind: "stale", message: String(d.message) }),
  idle: () => ({ kind: "idle" }),
};

/** One stream at ADDRESS; the result closes it. */
function open(address: string, hear: (news: Progress) => void, tell: Tell): () => void {
  const source = new EventSource(address);
  for (const [kind, make] of Object.entries(NEWS))
    source.addEventListener(kind, (event) => {
      hear(make(JSON.parse((event as MessageEvent<string>).data) as Data));
    });
  const lose = () => {
    source.close();
    tell.onLost();
  };
  source.addEventListener("bye", lose);
  source.onerror = lose;
  source.onopen = tell.onOpen;
  return () => source.close();
}

interface Tell {
  onOpen(): void;
  onLost(): void;
}

/**
 * Call HEAR with the news at ADDRESS until the result is called. A stream that breaks is opened
 * again after a time that grows; HEAR is told each second how long that is. While the page is
 * hidden there is no stream, because a browser has six connections for all pages of a server.
 */
export function follow(
  address: string,
  hear: (news: Progress) => void,
  window: Window,
): () => void {
  let close = () => {};
  let timer = 0;
  let wait = FIRST_WAIT_S;
  let isLost = false;

  const start = () => {
    close = open(address, hear, {
      onOpen: () => {
        wait = FIRST_WAIT_S;
        if (isLost) hear({ kind: "back" });
        isLost = false;
      },
      onLost: () => {
        isLost = true;
        countDown(wait);
        wait = Math.min(LONGEST_WAIT_S, 2 * wait);
      },
    });
  };
  const countDown = (seconds: number) => {
    if (seconds <= 0) return start();
    hear({ kind: "lost", seconds: Math.ceil(seconds) });
    const step = Math.min(1, seconds);
    timer = window.setTimeout(() => countDown(seconds - step), 1000 * step);
  };
  const stop = () => {
    window.clearTimeout(timer);
    close();
  };
  const look = () => {
    stop();
    if (!window.document.hidden) start();
  };
  window.document.addEventListener("visibilitychange", look);
  look();
  return () => {
    window.document.removeEventListener("visibilitychange", look);
    stop();
  };
}
