#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make a trace that looks like Kineto's, the same one each time.

usage: make_trace.py OUT BYTES [COPIES]

About BYTES of events, written COPIES times over (once): a run on two copies minus a run on one is
the cost of the events of one copy, without start and end.
"""

import random
import sys

OPERATORS = [
    "aten::" + n
    for n in (
        "conv2d convolution _convolution cudnn_convolution add_ batch_norm _batch_norm_impl_index "
        "cudnn_batch_norm empty_like empty relu_ clamp_min_ max_pool2d linear addmm t transpose "
        "as_strided view copy_ to _to_copy mul sum mean div zeros fill_ detach"
    ).split()
]
OPERATORS += [
    "autograd::engine::evaluate_function: %sBackward0" % n
    for n in "Convolution NativeBatchNorm Relu Addmm Mean Div".split()
]
KERNELS = [
    (
        "void cudnn::bn_fw_tr_1C11_kernel_NCHW<float, float, int, 512, true, 1, true>"
        "(cudnn::bnFwTrParams, float const*, float const*, %d)" % i
    )
    for i in range(24)
]


def operator(r, i, ts):
    args = '"External id": %d,"Record function id": %d, "Ev Idx": %d' % (i + 2, i, i)
    kind = r.random()
    if kind < 0.3:
        args += ', "Sequence number": %d, "Fwd thread id": %d' % (i // 3, r.randrange(2))
    elif kind < 0.5:
        dims = ", ".join(
            "[%d, %d, 7, 7]" % (r.choice((32, 64)), r.choice((64, 128, 256)))
            for _ in range(r.randrange(1, 4))
        )
        args += ', "Input Dims": [%s], "Input type": ["float", "float"]' % dims
    return (
        '  {\n    "ph": "X", "cat": "cpu_op", "name": "%s", "pid": 2910249, "tid": 29197%02d,\n'
        '    "ts": %d.%03d, "dur": %d.%03d,\n    "args": {\n      %s\n    }\n  }'
        % (
            r.choice(OPERATORS),
            r.randrange(4),
            ts,
            r.randrange(1000),
            r.randrange(400),
            r.randrange(1000),
            args,
        )
    )


def launch(r, i, ts):
    """The host call, what it launched, and the flow between them."""
    stream, dur = r.choice((7, 7, 7, 20)), r.randrange(5, 900)
    return (
        '  {\n    "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 2910249, '
        '"tid": 2910249,\n    "ts": %d.%03d, "dur": %d.%03d,\n    "args": {\n      "External id": %d, '
        '"cbid": 211, "correlation": %d\n    }\n  },\n'
        '  {\n    "ph": "s", "id": %d, "pid": 2910249, "tid": 2910249, "ts": %d.%03d,\n'
        '    "cat": "ac2g", "name": "ac2g"\n  },\n'
        '  {\n    "ph": "X", "cat": "kernel", "name": "%s", "pid": 0, "tid": %d,\n'
        '    "ts": %d.%03d, "dur": %d.%03d,\n    "args": {\n      "External id": %d,\n'
        '      "queued": 0, "device": 0, "context": 1,\n      "stream": %d, "correlation": %d,\n'
        '      "registers per thread": %d,\n      "shared memory": %d,\n'
        '      "blocks per SM": %.6f,\n      "warps per SM": %.6f,\n'
        '      "grid": [%d, 1, 1],\n      "block": [%d, 1, 1],\n'
        '      "est. achieved occupancy %%": %d\n    }\n  },\n'
        '  {\n    "ph": "f", "id": %d, "pid": 0, "tid": %d, "ts": %d.%03d,\n'
        '    "cat": "ac2g", "name": "ac2g", "bp": "e"\n  }'
        % (
            ts,
            r.randrange(1000),
            r.randrange(20),
            r.randrange(1000),
            i + 1,
            i,
            i,
            ts,
            r.randrange(1000),
            r.choice(KERNELS),
            stream,
            ts + dur,
            r.randrange(1000),
            dur,
            r.randrange(1000),
            i + 1,
            stream,
            i,
            r.choice((16, 32, 64)),
            r.choice((0, 1024, 49152)),
            r.random() * 20,
            r.random() * 60,
            r.choice((80, 160, 1024)),
            r.choice((128, 256)),
            r.randrange(101),
            i,
            stream,
            ts + dur,
            r.randrange(1000),
        )
    )


def main():
    copies = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    with open(sys.argv[1], "w") as out:
        out.write('{\n  "schemaVersion": 1,\n  "traceEvents": [\n')
        out.write(
            '  {\n    "name": "process_name", "ph": "M", "ts": 0, "pid": 2910249, "tid": 0,\n'
            '    "args": {\n      "name": "python"\n    }\n  }'
        )
        for _ in range(copies):
            r = random.Random(1)
            i, ts, written = 1, 1623143089861000, 0
            while written < int(sys.argv[2]):
                text = ",\n" + (operator if r.random() < 0.75 else launch)(r, i, ts)
                written += out.write(text)
                i, ts = i + 1, ts + r.randrange(60)
        out.write('\n  ],\n  "traceName": "made"\n}\n')


main()
