#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check that programs which call NVTX are recorded: opscope's tables show what they did.

NVIDIA's headers and the Python package nvtx come from a Python that has both (--python). Ends with
"N passed, N failed".
"""
from __future__ import annotations

import subprocess
import sys
from collections import Counter

from place import Missing, Place, lines, run, same

SCRIPT = """
import nvtx
@nvtx.annotate("decorated", color="blue")
def f():
    with nvtx.annotate("within", domain="mine", payload=5):
        pass
f()
nvtx.mark("marked", domain="mine")
nvtx.end_range(nvtx.start_range("started"))
"""


def client(place: Place) -> str:
    found = subprocess.run([place.python, "-c", "import nvidia.nvtx as n; print(n.__path__[0])"],
                           capture_output=True, text=True, check=False)
    if found.returncode != 0:
        raise Missing(f"{place.python} has no headers of NVTX")
    for name in ("cuda.h", "driver_types.h"):
        (place.folder / name).touch()
    return place.build("cc", "nvtx.c", f"-I{found.stdout.strip()}/include", f"-I{place.folder}",
                       "-lpthread", "-ldl")


def record(place: Place, what: str):
    done, out = place.record([client(place), what])
    same((done.returncode, done.stderr), (0, ""))
    return done.stdout, out


def ranges_nest_and_levels_are_told(place: Place) -> None:
    said, out = record(place, "nest")
    same(said, "0 1 1 0 -1\n")
    same(lines(place.events(out)), [("scope", "outer", None), ("scope", "inner é中😀", "outer")])
    found = {row["code"]: row["count"] for row in place.table("quality", out)}
    same(found["unmatched_end"], 1)
    hello = {row["key"]: row["value"] for row in place.table("info", out)}["meta.source.nvtx"]
    same(hello, "version 3, 58 functions")


def domains_have_levels_and_attributes_of_their_own(place: Place) -> None:
    said, out = record(place, "domains")
    same(said, "0 0 1 1 0 -1\n")
    events = [row for row in place.events(out) if row["kind"] == "scope"]
    same([(row["name"], row["args"]) for row in events],
         [("registered", {"domain": "a", "category": "third", "color": "#00ff80", "payload": 2.5}),
          ("of b", {"domain": "b", "category": 4, "payload": -7, "unbalanced": True}),
          ("", {"domain": "b"})])


def ranges_cross_threads(place: Place) -> None:
    said, out = record(place, "async")
    same(said, "1\n")
    events = place.events(out)
    same(sorted((row["name"], row["dur_ns"] is not None) for row in events),
         [("first", True), ("second", True)])


def marks_and_names_are_there(place: Place) -> None:
    _, out = record(place, "marks")
    same(lines(place.events(out)), [("instant", "mark", None), ("instant", "with attributes", None),
                                    ("instant", "", None)])
    info = {row["key"]: row["value"] for row in place.table("info", out)}
    same(info["meta.nvtx.cuda_stream.0x20"], "copies")
    same([value for key, value in info.items() if key.startswith("meta.nvtx.pointer.")],
         ["the lock"])
    same([row["name"] for row in place.table("tracks", out)], ["the loop"])


def emit_nvtx_has_operators(place: Place) -> None:
    _, out = record(place, "torch")
    events = place.events(out)
    same(lines(events)[:2], [("operator", "aten::mm", None),
                             ("operator", "aten::empty", "aten::mm")])
    same([row["args"] for row in events if row["name"] == "aten::mm"],
         [{"Sequence number": i, "Input Dims": [[2, 3], [3, 4]]} for i in (10, 11, 12)])
    same(lines(events)[-3:], [("annotation", "MmBackward0", None), ("annotation", "my label", None),
                              ("scope", "my step, seq = 3", None)])


def threads_do_not_disturb_each_other(place: Place) -> None:
    _, out = record(place, "threads")
    events = place.events(out)
    same(Counter(row["name"] for row in events), Counter({"work": 20000}))
    same({row["parent"] for row in events}, {None})


def a_forked_child_has_a_recording_and_a_hello(place: Place) -> None:
    _, out = record(place, "fork")
    recordings = {}
    for path in sorted(out.iterdir()):
        if path.suffix == ".sock":
            continue
        names = tuple(row["name"] for row in place.events(path))
        recordings[names] = "meta.source.nvtx" in {row["key"] for row in place.table("info", path)}
    same(recordings, {("parent",): True, ("child",): True})


def the_package_for_python_is_recorded(place: Place) -> None:
    done, out = place.record(place.script("nvtx", SCRIPT))
    same((done.returncode, done.stdout, done.stderr), (0, "", ""))
    events = {row["name"]: row for row in place.events(out)}
    same(set(events), {"decorated", "within", "marked", "started"})
    same(events["within"]["parent"], "decorated")
    same((events["within"]["args"]["domain"], events["within"]["args"]["payload"]), ("mine", 5))
    same(events["marked"]["kind"], "instant")


def nothing_happens_where_nobody_wants_it(place: Place) -> None:
    done, out = place.record([client(place), "nest"], {"OPSCOPE_SOURCES": "api,itt"})
    same((done.returncode, done.stdout, list(out.iterdir())), (0, "-2 -2 -2 -2 -2\n", []))


def run_sets_what_it_takes(place: Place) -> None:
    out = place.folder / "run"
    done = subprocess.run([place.opscope, "run", "-o", out, "--", client(place), "torch"],
                          capture_output=True, text=True, timeout=60, check=False)
    same((done.returncode, done.stdout, done.stderr), (0, "", ""))
    same(Counter(row["kind"] for row in place.events(out)), Counter({"operator": 6, "annotation": 2, "scope": 1}))


TESTS = (ranges_nest_and_levels_are_told, domains_have_levels_and_attributes_of_their_own,
         ranges_cross_threads, marks_and_names_are_there, emit_nvtx_has_operators,
         threads_do_not_disturb_each_other, a_forked_child_has_a_recording_and_a_hello,
         the_package_for_python_is_recorded, nothing_happens_where_nobody_wants_it,
         run_sets_what_it_takes)

if __name__ == "__main__":
    sys.exit(run(__doc__, TESTS))
