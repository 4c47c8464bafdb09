#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Put a random number behind the name of every operator: nearly all names differ.

usage: names.py IN OUT

About one name in four events is new, as with names that carry addresses or
counters; any cache of strings then misses.
"""
import random
import re
import sys


def main():
    r = random.Random(1)
    pattern = re.compile(rb'("cat": "cpu_op", "name": "[^"\\]*)"')

    def number(m):
        return b'%s#%d"' % (m.group(1), r.randrange(NUMBERS))

    with open(sys.argv[1], "rb") as f:
        text = f.read()
    with open(sys.argv[2], "wb") as f:
        f.write(pattern.sub(number, text))


# So that 158,000 operators of 89 names make 112,000 different ones.
NUMBERS = 10000

main()
