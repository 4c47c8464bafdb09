#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: manual-test
# mode: fast
"""Check that check_manual.py finds what has no manual, and reports nothing else."""

import sys
import tempfile
from pathlib import Path

import check_manual

HEADER = """\
/* osc_in_a_comment(): nothing. */
#define OSC_DEVICE 1u
enum osc_kind { OSC_KIND_A, OSC_KIND_COUNT };
struct osc_options {
    int member;
};
OSC_API int osc_call(int a);
static inline void osc_inlined(const struct osc_options *options)
{
    osc_call(1);
}
"""
PAGE = """\
.Sh SYNOPSIS
.Fn osc_call "int a"
.Fo osc_inlined
.Fa "const struct osc_options *options"
.Fc
.Sh DESCRIPTION
.Dv OSC_KIND_A , OSC_DEVICE
"""
# Changes of the page, and the line that each causes.
CASES = [
    (("", ""), None),
    (('.Fn osc_call "int a"\n', ""), "osc_call() is in no synopsis"),
    ((".Fo osc_inlined\n", ""), "osc_inlined() is in no synopsis"),
    (("osc_options", "osc_other"), "osc_options is in no page"),
    (("OSC_KIND_A", ""), "OSC_KIND_A is in no page"),
    (("OSC_DEVICE", ""), "OSC_DEVICE is in no page"),
    ((".Sh DESC", ".Fn osc_gone\n.Sh DESC"), "osc_gone() of a synopsis is in no header"),
]


def main() -> int:
    """Exit status."""
    n_failed = 0
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "a.h").write_text(HEADER)
        for (old, new), expected in CASES:
            (place / "a.3").write_text(PAGE.replace(old, new))
            found = check_manual.missing(place, place)
            if found != ([expected] if expected else []):
                print(f"FAILED: expected {expected!r}, got {found}")
                n_failed += 1
    print(f"{len(CASES) - n_failed} passed, {n_failed} failed")
    return 1 if n_failed else 0


if __name__ == "__main__":
    sys.exit(main())
