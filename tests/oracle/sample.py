# SPDX-License-Identifier: Apache-2.0
"""The part of the real traces that a run compares.

./check compares a share of them, another one at each commit: CHECK_SHARE is the share in percent,
CHECK_SEED chooses. Without CHECK_SHARE, as by hand and in ./check full, it is all of them.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path


def of(paths: Iterable[Path]) -> list[Path]:
    """Those of PATHS that this run compares, in their order."""
    share = float(os.environ.get("CHECK_SHARE", "100"))
    seed = os.environ.get("CHECK_SEED", "1")
    return [path for path in paths if number(seed, path) < share]


def number(seed: str, path: Path) -> float:
    """A number from 0 to below 100 for the file at PATH, wherever the checkout is."""
    words = f"{seed} {path.parent.name}/{path.name}"
    return int.from_bytes(hashlib.sha256(words.encode()).digest()[:4], "big") * 100 / 2**32
