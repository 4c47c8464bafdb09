// SPDX-License-Identifier: Apache-2.0
// The frames of a flame graph as rows: what it draws, for those who read or hear it.

import { useMemo, useState } from "preact/hooks";
import type { FlameStacks } from "../api/api.ts";
import { type FlameOrder, isSmall, layOutFlame, nameOf, pathOf } from "./tree.ts";

const MOST = 100;

interface FlameRowsProps {
  readonly stacks: FlameStacks;
  readonly order: FlameOrder;
  readonly value: (value: number) => string;
  readonly share: (value: number) => string;
  readonly onOpen: (path: readonly string[]) => void;
}

/** All frames of TREE, each before those that it calls. */
function rowsOf(stacks: FlameStacks, order: FlameOrder) {
  const tree = layOutFlame(stacks, order);
  const rows: number[] = [];
  const stack = [...tree.roots].reverse();
  for (let frame = stack.pop(); frame !== undefined; frame = stack.pop()) {
    if (!isSmall(tree, frame)) rows.push(frame);
    stack.push(...[...tree.children[frame]!].reverse());
  }
  return { tree, rows };
}

export function FlameRows({ stacks, order, value, share, onOpen }: FlameRowsProps) {
  const [most, setMost] = useState(MOST);
  const { tree, rows } = useMemo(() => rowsOf(stacks, order), [stacks, order]);
  return (
    <>
      <table class="plain-table flame-rows" aria-label="Frames, each below the one that called it">
        <thead>
          <tr>
            <th scope="col">frame</th>
            <th scope="col" class="number">
              total
            </th>
            <th scope="col" class="number">
              share
            </th>
            <th scope="col" class="number">
              by itself
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, most).map((frame) => (
            <tr key={frame} data-path={pathOf(tree, frame).join(";")}>
              <td style={{ paddingLeft: `${Math.min(40, tree.depth[frame]!) * 12}px` }}>
                <button type="button" class="plain" onClick={() => onOpen(pathOf(tree, frame))}>
                  {nameOf(tree, frame)}
                </button>
              </td>
              <td class="number" data-total={String(tree.stacks.total_of[frame])}>
                {value(tree.stacks.total_of[frame]!)}
              </td>
              <td class="number">{share(tree.stacks.total_of[frame]!)}</td>
              <td class="number" data-self={String(tree.stacks.self[frame])}>
                {value(tree.stacks.self[frame]!)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > most && (
        <button type="button" onClick={() => setMost(most * 10)}>
          {rows.length - most} more
        </button>
      )}
    </>
  );
}
