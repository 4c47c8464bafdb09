#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One table of a run of many ranks, made by the workers of a Dask cluster.

usage: table.py [--scheduler ADDRESS] TABLE FOLDER

Each task reads one file and returns its part of the table; the parts travel to this process, which
merges them. Only parts travel, which are as large as the rows of one rank. Without a scheduler,
processes of this machine do the work. All workers must see FOLDER under the same name.
"""

import argparse
import pathlib

import dask.bag

import opscope


def part(file: str, name: str) -> bytes:
    """The part of the table NAME that FILE has. Runs in a worker."""
    return opscope.load(file, threads=1).partial(name, merge=True)


def merged(name: str, files: list[str]) -> opscope.Table:
    """The table NAME of all FILES, in which all ranks are summed."""
    parts = dask.bag.from_sequence(files, partition_size=1).map(part, name)
    return opscope.merge(parts.compute())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("table")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--scheduler", help="address of a Dask scheduler")
    args = parser.parse_args()
    if args.scheduler:
        from dask.distributed import Client

        Client(args.scheduler)
    files = sorted(str(p) for p in args.folder.rglob("*.pt.trace.json*"))
    print(merged(args.table, files).to_pandas().to_string())


if __name__ == "__main__":
    main()
