# SPDX-License-Identifier: Apache-2.0
"""The numbers of ROCm's devices: agents count the processors of the host first."""

from __future__ import annotations

HOST_TYPE = 0  # of memory records


def shift(agents: set[int], listed: set[int], memory: set[int]) -> int | None:
    """How many places the agents are behind the devices; None if that is not known."""
    fits = []
    for places in range(min(agents) + 1):
        devices = {agent - places for agent in agents}
        if listed and not devices <= listed:
            continue
        if memory and not (devices <= memory or memory <= devices):
            continue
        fits.append(places)
    return fits[0] if len(fits) == 1 else None
