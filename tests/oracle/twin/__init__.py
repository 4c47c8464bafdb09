# SPDX-License-Identifier: Apache-2.0
"""The slow twin: every table of opscope again, in plain Python.

Written from the specifications alone, without a look at the C. It is slow and obvious on
purpose: exact integers and fractions, no shortcuts that a reader could not check by eye.
`tables.py` is the way in.
"""
