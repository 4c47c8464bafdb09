// SPDX-License-Identifier: Apache-2.0
// What is under the pointer: a range, or several that share a cell, with the longest of them.

import type { CellPacket } from "../api/packets.ts";
import { CELL, durationOf } from "../api/packets.ts";
import { format, formatTime } from "../model/units.ts";
import { useAsked } from "../state/asked.ts";
import { usePage } from "../state/session.ts";
import type { Fetcher } from "./fetcher.ts";
import type { Hit } from "./places.ts";

/** A merged cell is looked into with so many buckets. */
const PIXELS = 2000;
const MOST_NAMES = 5;

export interface Longest {
  readonly name: number;
  readonly ns: number;
}

/** The names with the longest ranges that stand alone in the lane of DEPTH in PACKET. */
export function longestOf(packet: CellPacket, depth: number, most = MOST_NAMES): Longest[] {
  const lane = packet.lanes.find((one) => one.depth === depth);
  const found = new Map<number, number>();
  for (let i = lane?.first ?? 0, end = i + (lane?.count ?? 0); i < end; i++) {
    const at = i * CELL.words;
    if ((packet.words[at + CELL.rest]! & 0xffff) !== 1) continue;
    const ns = durationOf(packet, i) ?? packet.words[at + CELL.length]! * packet.head.unit;
    const name = packet.words[at + CELL.name]!;
    if (ns > (found.get(name) ?? -1)) found.set(name, ns);
  }
  return [...found]
    .map(([name, ns]) => ({ name, ns }))
    .sort((a, b) => b.ns - a.ns)
    .slice(0, most);
}

/** The longest ranges of HIT, if it is merged; none until they are there. */
function useLongest(run: string, hit: Hit, fingerprint: string): readonly Longest[] {
  const { api } = usePage();
  const { track } = hit.row;
  const window = { from: hit.start, to: Math.max(hit.end, hit.start + 1) };
  const key = hit.count > 1 ? ["inside", run, track.id, hit.depth, window.from, window.to] : null;
  const question = { fingerprint, window, pixels: PIXELS, isExact: true, request: 0 };
  const { value, isOld } = useAsked(key, (signal) =>
    api.cells(run, [[track.id, hit.depth + 1]], question, signal),
  );
  return value === null || isOld ? [] : longestOf(value, hit.depth);
}

/** How long the range of HIT is, as its event says; "…" until that is there. */
function useTime(run: string, hit: Hit, fingerprint: string): string {
  const { api } = usePage();
  const isAsked = hit.count === 1 && hit.ns === null;
  const { value, problem } = useAsked(isAsked ? ["event", run, hit.event] : null, (signal) =>
    api.event(run, hit.event, fingerprint, signal),
  );
  if (hit.count > 1) return formatTime(hit.end - hit.start);
  if (hit.ns !== null) return formatTime(hit.ns);
  if (value?.event === hit.event) return formatTime(value.dur_ns ?? 0);
  // The page may be alone, without all events.
  return problem === null ? "…" : `about ${formatTime(hit.end - hit.start)}`;
}

interface PopoverProps {
  readonly run: string;
  readonly hit: Hit;
  readonly at: { readonly x: number; readonly y: number };
  readonly fetcher: Fetcher;
}

export function Popover({ run, hit, at, fetcher }: PopoverProps) {
  const longest = useLongest(run, hit, fetcher.fingerprint);
  const nameOf = (name: number) => fetcher.named(name)?.[1] ?? "…";
  const time = useTime(run, hit, fetcher.fingerprint);
  return (
    <div class="tl-popover" style={{ left: `${at.x + 12}px`, top: `${at.y + 12}px` }}>
      <strong>{nameOf(hit.name)}</strong>
      <span>
        {hit.count === 1
          ? time
          : `${format(hit.count, null)} ranges in ${time}, ${Math.round(hit.busy * 100)}\u00a0% of it busy; the longest has this name`}
      </span>
      {longest.length > 0 && (
        <table>
          <tbody>
            {longest.map(({ name, ns }) => (
              <tr key={name}>
                <td>{nameOf(name)}</td>
                <td class="number">{formatTime(ns)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
