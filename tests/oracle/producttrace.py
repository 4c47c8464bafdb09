# SPDX-License-Identifier: Apache-2.0
"""Small random traces of products of matrices on devices, for the rules of `advice` about them.

    python3 tests/oracle/producttrace.py SEED > trace.json

The same seed gives the same bytes.
"""

from __future__ import annotations

import json
import random
import sys

OPS = ("aten::mm", "aten::mm", "aten::bmm", "aten::addmm", "aten::add")
TYPES = ("float", "float", "c10::Half", "c10::BFloat16", "double", "", "Scalar", "TensorList")
SHAPES = ([8, 16], [8, 8], [12, 8], [4, 7], [7], [], [[2, 3]], [3, 8, 8], 8, [8, "8"])
KERNELS = ("ampere_sgemm_128x64_nn", "ampere_fp16_s16816gemm_fp16_64x64", "my_kernel")


class Generator:
    """One trace."""

    def __init__(self, seed: int):
        self.random = random.Random(f"products {seed}")
        self.events: list[dict] = []
        self.at = 1000
        self.correlation = 0
        self.kernels = KERNELS[: self.random.choice((1, 3, 3))]

    def add(self, category: str, name: str, length: int, args: dict, track: tuple) -> None:
        """An event of LENGTH ns."""
        self.events.append(
            {
                "ph": "X",
                "cat": category,
                "name": name,
                "pid": track[0],
                "tid": track[1],
                "ts": self.at / 1000,
                "dur": length / 1000,
                "args": args,
            }
        )

    def inputs(self) -> dict:
        """Types and sizes of inputs."""
        pick = self.random.choice
        n = pick((1, 2, 3, 3))
        args: dict = {}
        if pick((1, 1, 1, 0)):
            args["Input type"] = [pick(TYPES) for _ in range(n)]
        if pick((1, 1, 1, 0)):
            args[pick(("Input Dims", "Input Dims", "Input dims"))] = [
                pick(SHAPES) for _ in range(n)
            ]
        return args

    def product(self) -> None:
        """An operator, the call in it, and its kernel."""
        pick = self.random.choice
        self.correlation += 1
        which = {"correlation": self.correlation}
        self.add("cpu_op", pick(OPS), 40, self.inputs(), (1, 1))
        self.at += 2
        self.add("cuda_runtime", "cudaLaunchKernel", 5, which, (1, 1))
        self.at += pick((10, 30, 200))
        device = {**which, "device": pick((0, 0, 1)), "stream": 7}
        self.add("kernel", pick(self.kernels), pick((0, 3, 30, 300)), device, (0, 7))
        self.at += pick((30, 100))

    def trace(self) -> dict:
        """All of it, in steps or not."""
        for number in range(self.random.choice((0, 1, 3))):
            start = self.at
            for _ in range(self.random.randrange(1, 5)):
                self.product()
            end, self.at = self.at, start
            self.add("user_annotation", f"ProfilerStep#{number}", end - start, {}, (1, 1))
            self.at = end + self.random.choice((0, 5000))
        for _ in range(self.random.randrange(4)):
            self.product()
        return {
            "schemaVersion": 1,
            "deviceProperties": [
                {"id": 0, "name": "A", "computeMajor": 8, "computeMinor": 0},
                {"id": 1, "name": "V", "computeMajor": 7, "computeMinor": 0},
            ],
            "traceEvents": self.events,
        }


def data(seed: int) -> bytes:
    """The bytes of the trace of SEED."""
    return json.dumps(Generator(seed).trace()).encode()


if __name__ == "__main__":
    sys.stdout.buffer.write(data(int(sys.argv[1])))
