// SPDX-License-Identifier: Apache-2.0
// Cells of lanes and samples of values as the server packs them (src/timeline/packet.h).

const HEADER_BYTES = 48;
const LANE_BYTES = 16;
const CELL_WORDS = 5;
const SAMPLE_WORDS = 4;
const DURATION_BYTES = 12;
const MAGIC_CELLS = 0x5443534f;
const MAGIC_VALUES = 0x5643534f;
const MAGIC_FLOWS = 0x4643534f;
const FLOW_WORDS = 7;

/** What both kinds of packets begin with. Times are ns from the origin, exact below 2^53. */
export interface PacketHead {
  readonly isExact: boolean;
  /** There were more cells than a packet may have. */
  readonly isCut: boolean;
  readonly t0: number;
  readonly width: number;
  /** Starts and lengths are in units of this many ns. */
  readonly unit: number;
  /** The width of a bucket of a snapped window, in ns. */
  readonly quantum: number;
  readonly request: number;
}

/** The cells of one lane: indexes [first, first + count) of the packet. */
export interface LaneCells {
  readonly track: number;
  readonly depth: number;
  readonly overlaps: boolean;
  readonly first: number;
  readonly count: number;
}

export interface CellPacket {
  readonly head: PacketHead;
  readonly lanes: readonly LaneCells[];
  readonly n: number;
  /** Five words a cell: start, length, event, name, count | busy << 16 | kind << 24. */
  readonly words: Uint32Array;
  /** The same bytes as signed numbers, for starts. */
  readonly signed: Int32Array;
  /** Of long events that have a cell of their own how long they are, in ns: cells are cut and
   * rounded. */
  readonly durations: ReadonlyMap<number, number>;
}

/** How long the event is that cell I of PACKET stands for; null: that is not known. */
export function durationOf(packet: CellPacket, i: number): number | null {
  const at = i * CELL_WORDS;
  const { words, head } = packet;
  if ((words[at + CELL.rest]! & 0xffff) !== 1) return null;
  const told = packet.durations.get(words[at + CELL.event]!);
  return told ?? (head.unit === 1 ? words[at + CELL.length]! : null);
}

export interface ValueSeries {
  readonly series: number;
  readonly first: number;
  readonly count: number;
}

export interface ValuePacket {
  readonly head: PacketHead;
  readonly series: readonly ValueSeries[];
  readonly n: number;
  /** Four words a sample; word 0 is its time in units, the others are in `floats`. */
  readonly signed: Int32Array;
  /** Words 1 to 3 of a sample: least, greatest and last value of its bucket, or, of how much of a
   * device is used, the mean. */
  readonly floats: Float32Array;
}

/** Arrows of a window: bundles, of which isCut says that there are more. */
export interface FlowPacket {
  readonly head: PacketHead;
  readonly n: number;
  /** Seven words a bundle: events, starts (signed), tracks, count | kind << 16. */
  readonly words: Uint32Array;
  readonly signed: Int32Array;
}

export const FLOW = {
  from: 0,
  to: 1,
  fromAt: 2,
  toAt: 3,
  fromTrack: 4,
  toTrack: 5,
  rest: 6,
  words: FLOW_WORDS,
} as const;
export const CELL = { start: 0, length: 1, event: 2, name: 3, rest: 4, words: CELL_WORDS } as const;
export const SAMPLE = { at: 0, least: 1, most: 2, value: 3, words: SAMPLE_WORDS } as const;

function headOf(view: DataView, magic: number): PacketHead {
  if (view.byteLength < HEADER_BYTES || view.getUint32(0, true) !== magic)
    throw new Error("the answer is not a packet of the timeline");
  if (view.getUint16(4, true) !== 1) throw new Error("the server is of another version");
  const flags = view.getUint16(6, true);
  return {
    isExact: (flags & 1) !== 0,
    isCut: (flags & 2) !== 0,
    t0: Number(view.getBigInt64(8, true)),
    unit: 2 ** view.getUint8(16),
    quantum: 2 ** view.getUint8(17),
    request: view.getUint32(28, true),
    width: Number(view.getBigInt64(32, true)),
  };
}

/** The table of durations at AT. */
function durationsIn(view: DataView, at: number): ReadonlyMap<number, number> {
  const durations = new Map<number, number>();
  for (let i = 0, n = view.getUint32(40, true); i < n; i++)
    durations.set(
      view.getUint32(at + i * DURATION_BYTES, true),
      Number(view.getBigUint64(at + i * DURATION_BYTES + 4, true)),
    );
  return durations;
}

/** Throws an Error if BODY is no packet of cells. */
export function decodeCells(body: ArrayBuffer): CellPacket {
  const view = new DataView(body);
  const head = headOf(view, MAGIC_CELLS);
  const nLanes = view.getUint32(20, true);
  const n = view.getUint32(24, true);
  const lanes: LaneCells[] = [];
  for (let i = 0; i < nLanes; i++) {
    const at = HEADER_BYTES + i * LANE_BYTES;
    lanes.push({
      track: view.getUint32(at, true),
      depth: view.getUint16(at + 4, true),
      overlaps: (view.getUint16(at + 6, true) & 1) !== 0,
      first: view.getUint32(at + 8, true),
      count: view.getUint32(at + 12, true),
    });
  }
  const start = HEADER_BYTES + nLanes * LANE_BYTES;
  return {
    head,
    lanes,
    n,
    words: new Uint32Array(body, start, n * CELL_WORDS),
    signed: new Int32Array(body, start, n * CELL_WORDS),
    durations: durationsIn(view, start + n * CELL_WORDS * 4),
  };
}

/** Throws an Error if BODY is no packet of values. */
export function decodeValues(body: ArrayBuffer): ValuePacket {
  const view = new DataView(body);
  const head = headOf(view, MAGIC_VALUES);
  const nSeries = view.getUint32(20, true);
  const n = view.getUint32(24, true);
  const series: ValueSeries[] = [];
  for (let i = 0; i < nSeries; i++) {
    const at = HEADER_BYTES + i * LANE_BYTES;
    series.push({
      series: view.getUint32(at, true),
      first: view.getUint32(at + 8, true),
      count: view.getUint32(at + 12, true),
    });
  }
  const start = HEADER_BYTES + nSeries * LANE_BYTES;
  return {
    head,
    series,
    n,
    signed: new Int32Array(body, start, n * SAMPLE_WORDS),
    floats: new Float32Array(body, start, n * SAMPLE_WORDS),
  };
}

/** Throws an Error if BODY is no packet of arrows. */
export function decodeFlows(body: ArrayBuffer): FlowPacket {
  const view = new DataView(body);
  const head = headOf(view, MAGIC_FLOWS);
  const n = view.getUint32(24, true);
  return {
    head,
    n,
    words: new Uint32Array(body, HEADER_BYTES, n * FLOW_WORDS),
    signed: new Int32Array(body, HEADER_BYTES, n * FLOW_WORDS),
  };
}
