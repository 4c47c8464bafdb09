#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: python-gcc
# args: --package {module} --opscope {gcc}/opscope
# needs: numpy
# mode: fast
# step: python-asan
# args: --package {asan-module} --opscope {gcc}/opscope
# needs: numpy
# env: LD_PRELOAD="{asan-runtimes}" ASAN_OPTIONS={asan-options}:detect_leaks=0
# mode: full
# step: python-arrow
# with: {peers}
# args: --package {module} --opscope {gcc}/opscope test_arrow test_tables test_parts
# about: Use the tables of the Python package with pandas, Arrow and Dask
"""Test the Python package of a build.

usage: run.py --package DIR --opscope FILE [NAME...]

DIR holds the package that is tested, FILE is the command it is compared with; NAME is a test
as unittest names it, such as test_tables. The last line is "N passed, N failed".
"""

import argparse
import os
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--package", required=True)
    parser.add_argument("--opscope", required=True)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(pathlib.Path(options.package).resolve()), str(HERE)]
    os.environ["OPSCOPE_COMMAND"] = str(pathlib.Path(options.opscope).resolve())
    os.environ["PYTHONPATH"] = sys.path[0]
    loader = unittest.defaultTestLoader
    suite = (
        loader.loadTestsFromNames(options.names)
        if options.names
        else loader.discover(str(HERE), pattern="test_*.py")
    )
    done = unittest.TextTestRunner(verbosity=2).run(suite)
    # If several parts of a test fail, each is listed.
    failed = len({test.id().split(" ")[0] for test, _ in done.failures + done.errors})
    for test, why in done.skipped:
        print(f"skipped {test}: {why}")
    print(f"{done.testsRun - failed - len(done.skipped)} passed, {failed} failed", flush=True)
    sys.exit(failed > 0)


main()
