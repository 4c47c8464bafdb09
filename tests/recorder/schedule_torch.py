#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: schedule-torch
# with: {torch}
# args: --library {gcc}/libopscope.so
"""Compare torch.profiler.schedule with osc_schedule_action().

    schedule_torch.py --library build/libopscope.so [--sets 10000] [--seed 1]

Random schedules, each for all steps of its first cycles and some far ones. Needs an
importable torch; without one it says so and passes nothing. Last line "N passed, N failed".
"""

import argparse
import ctypes
import random
import sys
import warnings

FIELDS = ("skip_first", "wait", "warmup", "active", "repeat", "skip_first_wait")


class Schedule(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in FIELDS]


def random_set(rng):
    def small(most):
        return rng.choice((0, 0, 1, rng.randint(0, most)))

    return {
        "skip_first": small(20),
        "wait": small(8),
        "warmup": small(4),
        "active": rng.randint(1, 6),
        "repeat": small(5),
        "skip_first_wait": small(2),
    }


def steps_of(values, rng):
    cycle = values["wait"] + values["warmup"] + values["active"]
    near = values["skip_first"] + cycle * (min(values["repeat"], 5) + 2)
    return list(range(near)) + [rng.randint(0, 10**6) for _ in range(5)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", required=True)
    parser.add_argument("--sets", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    try:
        import torch.profiler
    except ImportError:
        print("no torch here\n0 passed, 0 failed")
        return 0
    action = ctypes.CDLL(args.library).osc_schedule_action
    action.argtypes = [ctypes.POINTER(Schedule), ctypes.c_uint64]
    warnings.simplefilter("ignore")
    rng = random.Random(args.seed)
    failed = asked = 0
    for _ in range(args.sets):
        values = random_set(rng)
        ours, theirs = Schedule(**values), torch.profiler.schedule(**values)
        for step in steps_of(values, rng):
            asked += 1
            a, b = action(ctypes.byref(ours), step), theirs(step).value
            if a != b:
                failed += 1
                print(f"error: step {step} of {values}: {a}, torch says {b}")
                break
    print(f"torch {torch.__version__}: {args.sets} schedules, {asked} steps")
    print(f"{args.sets - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
