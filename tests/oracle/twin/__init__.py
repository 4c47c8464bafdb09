# SPDX-License-Identifier: Apache-2.0
"""The slow twin: every table of opscope, computed again in plain Python.

Written from the specifications alone, without looking at the C code. It is slow and simple on
purpose: exact integers and fractions, no shortcuts that a reader could not check by eye. Start with
`tables.py`.
"""
