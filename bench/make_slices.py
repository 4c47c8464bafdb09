#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write a trace for the timeline: usage: make_slices.py OUT N TRACKS

N complete events of eight names on TRACKS threads, nested up to four deep, without arguments.
"""

import sys

NAMES = [
    "aten::add",
    "aten::mm",
    "aten::conv2d",
    "aten::copy_",
    "aten::relu",
    "aten::sum",
    "aten::view",
    "aten::linear",
]


def main():
    out, n, n_tracks = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    state, at = 1, [0] * n_tracks
    with open(out, "w", buffering=1 << 20) as file:
        file.write('{"traceEvents": [\n')
        for i in range(0, n, 4):
            state = state * 48271 % 2147483647
            thread, dur = i // 4 % n_tracks, 8 + state % 200
            start = at[thread]
            at[thread] += dur + state % 7
            for depth in range(4):
                name = NAMES[(state >> depth) % 8]
                file.write(
                    '{"ph":"X","cat":"cpu_op","name":"%s","pid":1,"tid":%d,"ts":%d,"dur":%d}%s\n'
                    % (
                        name,
                        thread + 1,
                        start + depth,
                        dur - 2 * depth,
                        "," if i + depth + 1 < n else "",
                    )
                )
        file.write("]}\n")


main()
