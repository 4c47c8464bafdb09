// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { signal } from "@preact/signals";
import type { PageState } from "./session.ts";
import { TimeWindow } from "./time_window.ts";
import { HOME, type Place, parsePlace } from "./url.ts";
import { WindowHistory } from "./window_history.ts";
import { linkWindow } from "./window_link.ts";

const REST_MS = 300;
const rest = () => new Promise((done) => setTimeout(done, REST_MS));

function linked(fragment: string) {
  const place = signal<Place>({ ...HOME, ...parsePlace(fragment) });
  const go = (changes: Partial<Place>) => {
    place.value = { ...place.value, ...changes };
  };
  const page = { place, go } as unknown as PageState;
  const whole = { from: 0, to: 1_000_000 };
  const window = new TimeWindow(whole, whole, place.value.w);
  const history = new WindowHistory();
  const end = linkWindow(page, window, history);
  window.resize(1000);
  return { place, go, window, history, end };
}

test("the address follows the window when it rests, and not before", async () => {
  const { place, window, history, end } = linked("#/trace");
  window.zoom(0, 10);
  assert.equal(place.value.w, null);
  await rest();
  assert.deepEqual(place.value.w, { from: 0, to: 100_000 });
  window.pan(100);
  await rest();
  assert.deepEqual(place.value.w, { from: 10_000, to: 110_000 });
  assert.equal(history.go(-1), "0+100000");
  assert.equal(history.go(-1), "");
  end();
});

test("the window follows an address that says something new, and nothing else", async () => {
  const { place, go, window, end } = linked("#/trace?w=100+200");
  assert.deepEqual(window.window, { from: 100, to: 300 });
  go({ w: { from: 5000, to: 6000 } });
  assert.deepEqual(window.window, { from: 5000, to: 6000 });
  // While it moves the address is behind: other changes there do not take it back.
  window.pan(1000);
  const panned = window.window;
  go({ q: "conv" });
  assert.deepEqual(window.window, panned);
  await rest();
  assert.deepEqual(place.value.w, panned);
  go({ w: null });
  assert.equal(window.window, null);
  end();
  go({ w: { from: 1, to: 1000 } });
  assert.equal(window.window, null);
});

test("an address that no window fits gets the one that is shown", async () => {
  const { place, window, end } = linked("#/trace?w=-9000000+100");
  await rest();
  assert.deepEqual(place.value.w, window.window);
  assert.ok(window.window!.to > 0);
  end();
});
