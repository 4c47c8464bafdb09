// SPDX-License-Identifier: Apache-2.0
// Frames of stacks, laid out as lanes: each below the one that called it, as wide as its value.

import type { FlameStacks } from "../api/api.ts";
import { CELL, type CellPacket, type LaneCells } from "../api/packets.ts";
import { stepOf } from "../model/colour.ts";

/** Largest first, or in the order in which they were first called. */
export type FlameOrder = "merged" | "ordered";

export interface FlameTree {
  readonly stacks: FlameStacks;
  readonly depth: readonly number[];
  /** Where a frame begins, in the unit of its value. */
  readonly start: readonly number[];
  readonly children: ReadonlyArray<readonly number[]>;
  /** The outermost frames. */
  readonly roots: readonly number[];
  /** The frames of each depth, from left to right. */
  readonly lanes: ReadonlyArray<readonly number[]>;
}

/** The kinds that frames can have, as the palette knows them. */
export const FLAME_KINDS = [
  "operator",
  "module",
  "python",
  "dataloader",
  "optimizer",
  "step",
  "communication",
  "runtime",
] as const;
type FlameKind = (typeof FLAME_KINDS)[number];

/** What a frame is, of a stack of kind STACK: files have no more than its name. */
export function kindOf(stack: string, name: string): FlameKind {
  if (/^rank_\d+(_span_\d+)?$/.test(name)) return "step";
  if (/^enumerate\(Data(Loader|Pipe)\)/.test(name)) return "dataloader";
  if (/^Optimizer\./.test(name)) return "optimizer";
  if (/^ProfilerStep/.test(name)) return "step";
  if (/^(nccl|gloo|mpi|c10d)(:|_)/i.test(name)) return "communication";
  if (stack === "module" || name.startsWith("nn.Module:")) return "module";
  if (/^(cuda|hip|cu)[A-Z]/.test(name)) return "runtime";
  if (stack === "sample" || /\(\d+\):/.test(name) || name.startsWith("<built-in")) return "python";
  return "operator";
}

/** STACKS with one frame for those that are left out of each, "(N smaller)". */
function withSmall(stacks: FlameStacks): FlameStacks {
  const { small_caller = [], small_count = [], small_total = [] } = stacks;
  if (small_caller.length === 0) return stacks;
  const names = small_count.map((n) => `(${n} smaller)`);
  return {
    ...stacks,
    caller: [...stacks.caller, ...small_caller],
    name: [...stacks.name, ...names.map((_, i) => stacks.names.length + i)],
    names: [...stacks.names, ...names],
    self: [...stacks.self, ...small_total],
    total_of: [...stacks.total_of, ...small_total],
    ...(stacks.matches && { matches: [...stacks.matches, ...names.map(() => 0)] }),
  };
}

/** Whether FRAME of TREE stands for several that are not there. */
export function isSmall(tree: FlameTree, frame: number): boolean {
  return frame >= tree.stacks.caller.length - (tree.stacks.small_caller?.length ?? 0);
}

export function layOutFlame(from: FlameStacks, order: FlameOrder): FlameTree {
  const stacks = withSmall(from);
  const n = stacks.caller.length;
  const children: number[][] = Array.from({ length: n }, () => []);
  const roots: number[] = [];
  const depth: number[] = new Array(n).fill(0);
  const start: number[] = new Array(n).fill(0);
  for (let i = 0; i < n; i++) {
    const caller = stacks.caller[i]!;
    depth[i] = caller < 0 ? 0 : depth[caller]! + 1;
    (caller < 0 ? roots : children[caller]!).push(i);
  }
  const place = (list: number[], from: number) => {
    if (order === "merged") list.sort((a, b) => stacks.total_of[b]! - stacks.total_of[a]! || a - b);
    let at = from;
    for (const i of list) {
      start[i] = at;
      at += stacks.total_of[i]!;
    }
  };
  place(roots, 0);
  // Callers come before whom they call.
  for (let i = 0; i < n; i++) place(children[i]!, start[i]!);
  const lanes: number[][] = [];
  for (let i = 0; i < n; i++) {
    while (lanes.length <= depth[i]!) lanes.push([]);
    lanes[depth[i]!]!.push(i);
  }
  for (const lane of lanes) lane.sort((a, b) => start[a]! - start[b]!);
  return { stacks, depth, start, children, roots, lanes };
}

export function nameOf(tree: FlameTree, frame: number): string {
  return tree.stacks.names[tree.stacks.name[frame]!] ?? "";
}

/** The names from the outermost frame to FRAME. */
export function pathOf(tree: FlameTree, frame: number): string[] {
  const path: string[] = [];
  for (let i = frame; i >= 0; i = tree.stacks.caller[i]!) path.unshift(nameOf(tree, i));
  return path;
}

/** The frame of lane DEPTH that has VALUE within it; -1: none. */
export function frameAt(tree: FlameTree, depth: number, value: number): number {
  const lane = tree.lanes[depth] ?? [];
  let low = 0;
  let high = lane.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (tree.start[lane[middle]!]! <= value) low = middle + 1;
    else high = middle;
  }
  const frame = lane[low - 1];
  if (frame === undefined) return -1;
  return value < tree.start[frame]! + tree.stacks.total_of[frame]! ? frame : -1;
}

/** Where a key goes from FRAME: the caller, the first that it calls, the one beside it. */
export function frameBeside(tree: FlameTree, frame: number, key: string): number {
  if (frame < 0) return tree.lanes[0]?.[0] ?? -1;
  const lane = tree.lanes[tree.depth[frame]!]!;
  const at = lane.indexOf(frame);
  switch (key) {
    case "ArrowUp":
      return tree.stacks.caller[frame]! >= 0 ? tree.stacks.caller[frame]! : frame;
    case "ArrowDown":
      return tree.children[frame]![0] ?? frame;
    case "ArrowLeft":
      return lane[at - 1] ?? frame;
    case "ArrowRight":
      return lane[at + 1] ?? frame;
    case "Home":
      return lane[0]!;
    case "End":
      return lane[lane.length - 1]!;
    default:
      return frame;
  }
}

/** How wide all of a flame is in a packet, whatever its value is. */
export const WHOLE = 2 ** 30;

export interface FlamePacket {
  readonly packet: CellPacket;
  readonly lanes: readonly LaneCells[];
  /** The step of lightness of a name; ~step: it does not match what is searched. */
  readonly steps: (frame: number) => number;
}

/** TREE, of kind STACK, as cells for the painter; the name of a cell is its frame. */
export function packFlame(tree: FlameTree, stack: string): FlamePacket {
  const { stacks } = tree;
  const n = stacks.caller.length;
  const words = new Uint32Array(n * CELL.words);
  const signed = new Int32Array(words.buffer);
  const scale = WHOLE / Math.max(1, stacks.total);
  const lanes: LaneCells[] = [];
  const kinds = stacks.names.map((name) => FLAME_KINDS.indexOf(kindOf(stack, name)));
  const steps = stacks.names.map(stepOf);
  let at = 0;
  tree.lanes.forEach((lane, depth) => {
    lanes.push({ track: 0, depth, overlaps: false, first: at, count: lane.length });
    for (const frame of lane) {
      const from = Math.round(tree.start[frame]! * scale);
      const to = Math.round((tree.start[frame]! + stacks.total_of[frame]!) * scale);
      signed[at * CELL.words] = from;
      words[at * CELL.words + CELL.length] = to - from;
      words[at * CELL.words + CELL.event] = frame;
      words[at * CELL.words + CELL.name] = frame;
      words[at * CELL.words + CELL.rest] =
        ((kinds[stacks.name[frame]!]! << 24) | (255 << 16) | 1) >>> 0;
      at++;
    }
  });
  const packet: CellPacket = {
    head: { isExact: true, isCut: false, t0: 0, width: WHOLE, unit: 1, quantum: 1, request: 0 },
    lanes,
    n,
    words,
    signed,
    durations: new Map(),
  };
  return {
    packet,
    lanes,
    steps: (frame) => {
      const step = steps[stacks.name[frame]!] ?? 0;
      return stacks.matches === undefined || stacks.matches[frame] === 1 ? step : ~step;
    },
  };
}
