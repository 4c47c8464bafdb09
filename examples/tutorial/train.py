#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Train a small network to tell six kinds of pictures apart. It is slow: docs/tutorial.md finds why.

    python train.py [--steps N]

The pictures are made up, and stored as text, as a camera or a table might deliver them. Needs
PyTorch and NumPy.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIDE = 32
KINDS = 6
BATCH = 32


class Pictures(Dataset):
    """Pictures as lines of text: the kind, then the brightness of each point from 0 to 255."""

    def __init__(self, count: int) -> None:
        rng = np.random.default_rng(0)
        self.lines = []
        for _ in range(count):
            kind = int(rng.integers(KINDS))
            points = rng.integers(0, 128, (SIDE, SIDE))
            points[kind * 5 : kind * 5 + 5] += 100
            self.lines.append(f"{kind} " + " ".join(map(str, points.flat)))

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, index: int) -> tuple[np.ndarray, int]:
        kind, *points = self.lines[index].split()
        return self.decode(points), int(kind)

    def decode(self, points: list[str]) -> np.ndarray:
        """Numbers from -1 to 1."""
        picture = np.zeros((1, SIDE, SIDE))
        for y in range(SIDE):
            for x in range(SIDE):
                picture[0, y, x] = int(points[y * SIDE + x]) / 127.5 - 1
        return picture


def network() -> nn.Module:
    """Two convolutions and a classifier."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(32 * (SIDE // 4) ** 2, KINDS),
    ).double()  # NumPy's numbers are doubles


def count_right(scores: torch.Tensor, kinds: torch.Tensor) -> int:
    """How many of a batch the network names right."""
    right = 0
    for score, kind in zip(scores, kinds):
        if score.argmax().item() == kind.item():
            right += 1
    return right


def main() -> None:
    """Train, and print how fast it was."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=30)
    steps = parser.parse_args().steps
    torch.manual_seed(0)
    torch.set_num_threads(1)  # runs of a busy machine then differ less
    loader = DataLoader(Pictures(steps * BATCH), batch_size=BATCH)
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    right = 0
    start = time.perf_counter()
    for pictures, kinds in loader:
        optimizer.zero_grad()
        scores = model(pictures)
        nn.functional.cross_entropy(scores, kinds).backward()
        optimizer.step()
        right += count_right(scores, kinds)
    seconds = time.perf_counter() - start
    print(f"{steps * BATCH / seconds:.0f} pictures a second")
    print(f"{right} of {steps * BATCH} named right while training")


if __name__ == "__main__":
    main()
