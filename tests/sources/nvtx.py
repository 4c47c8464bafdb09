#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: nvtx
# args: --opscope {gcc}/opscope --python {nvtx|python3}
# step: nvtx-asan
# args: --opscope {asan}/opscope --python {nvtx|python3} --only counted
# full: --opscope {asan}/opscope --python {nvtx|python3}
# step: nvtx-tsan
# args: --opscope {tsan}/opscope --python {nvtx|python3}
# mode: full
"""Check that programs which call NVTX are recorded: opscope's tables show what they did.

NVIDIA's headers and the Python package nvtx come from a Python that has them (--python). Ends
with "N passed, N failed".
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from collections import Counter

from place import HERE, Missing, Place, lines, run, same

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

PAYLOADS = """
import numpy as np, nvtx
fields = np.dtype([("count", np.int32), ("ratio", np.float64), ("point", np.float32, (2,))])
with nvtx.annotate("structure", payload=np.array((3, 0.5, (1, 2)), dtype=fields)):
    pass
with nvtx.annotate("list", payload=[4, 5, 6]):
    pass
"""


def headers(place: Place, package: str) -> str:
    """The folder of the headers in PACKAGE: those of CUDA 13 have the extension for payloads."""
    found = subprocess.run(
        [place.python, "-c", f"import {package} as n; print(n.__path__[0])"],
        capture_output=True,
        text=True,
        check=False,
    )
    if found.returncode != 0:
        raise Missing(f"{place.python} has no {package}")
    return f"{found.stdout.strip()}/include"


def client(place: Place, *options: str) -> str:
    for name in ("cuda.h", "driver_types.h"):
        (place.folder / name).touch()
    return place.build(
        "cc",
        "nvtx.c",
        f"-I{headers(place, 'nvidia.nvtx')}",
        f"-I{place.folder}",
        *options,
        "-lpthread",
        "-ldl",
    )


def payload_client(place: Place) -> str:
    return place.build("cc", "nvtx_payload.c", f"-I{headers(place, 'nvidia.cu13')}", "-ldl")


def record(place: Place, what: str, build=client):
    done, out = place.record([build(place), what])
    same((done.returncode, done.stderr), (0, ""))
    return done.stdout, out


def ranges_nest_and_levels_are_told(place: Place) -> None:
    said, out = record(place, "nest")
    same(said, "0 1 1 0 -1\n")
    same(
        lines(place.events(out)), [("scope", "outer", None), ("scope", "inner é中😀", "outer")]
    )
    found = {row["code"]: row["count"] for row in place.table("quality", out)}
    same(found["unmatched_end"], 1)
    hello = {row["key"]: row["value"] for row in place.table("info", out)}["meta.source.nvtx"]
    same(hello, "version 3, 58 functions")


def domains_have_levels_and_attributes_of_their_own(place: Place) -> None:
    said, out = record(place, "domains")
    same(said, "0 0 1 1 0 -1\n")
    events = [row for row in place.events(out) if row["kind"] == "scope"]
    same(
        [(row["name"], row["args"]) for row in events],
        [
            (
                "registered",
                {"domain": "a", "category": "third", "color": "#00ff80", "payload": 2.5},
            ),
            ("of b", {"domain": "b", "category": 4, "payload": -7, "unbalanced": True}),
            ("", {"domain": "b"}),
        ],
    )


def ranges_cross_threads(place: Place) -> None:
    said, out = record(place, "async")
    same(said, "1\n")
    events = place.events(out)
    same(
        sorted((row["name"], row["dur_ns"] is not None) for row in events),
        [("first", True), ("second", True)],
    )


def marks_and_names_are_there(place: Place) -> None:
    _, out = record(place, "marks")
    same(
        lines(place.events(out)),
        [
            ("instant", "mark", None),
            ("instant", "with attributes", None),
            ("instant", "", None),
        ],
    )
    info = {row["key"]: row["value"] for row in place.table("info", out)}
    same(info["meta.nvtx.cuda_stream.0x20"], "copies")
    same(
        [value for key, value in info.items() if key.startswith("meta.nvtx.pointer.")],
        ["the lock"],
    )
    same([row["name"] for row in place.table("tracks", out)], ["the loop"])


def emit_nvtx_has_operators(place: Place) -> None:
    _, out = record(place, "torch")
    events = place.events(out)
    same(
        lines(events)[:2],
        [("operator", "aten::mm", None), ("operator", "aten::empty", "aten::mm")],
    )
    same(
        [row["args"] for row in events if row["name"] == "aten::mm"],
        [{"Sequence number": i, "Input Dims": [[2, 3], [3, 4]]} for i in (10, 11, 12)],
    )
    same(
        lines(events)[-3:],
        [
            ("annotation", "MmBackward0", None),
            ("annotation", "my label", None),
            ("scope", "my step, seq = 3", None),
        ],
    )


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
        recordings[names] = "meta.source.nvtx" in {
            row["key"] for row in place.table("info", path)
        }
    same(recordings, {("parent",): True, ("child",): True})


def nulls_do_no_harm(place: Place) -> None:
    said, out = record(place, "nulls")
    same(said, "0 1 2 3 -1\n")
    events = place.events(out)
    same(
        Counter((row["kind"], row["name"]) for row in events),
        Counter({("scope", ""): 5, ("instant", ""): 5}),
    )
    found = {row["code"]: row["count"] for row in place.table("quality", out)}
    same(found["unmatched_end"], 3)  # two ids that nobody has, and a range of a domain


def a_program_that_closes_all_files_is_recorded(place: Place) -> None:
    _, out = record(place, "close")
    same(lines(place.events(out)), [("scope", "before", None), ("scope", "after", "before")])


def a_killed_program_has_what_it_ended(place: Place) -> None:
    done, out = place.record([client(place), "kill"])
    same(done.returncode, -signal.SIGKILL)
    same(
        [(row["name"], row["dur_ns"] is None) for row in place.events(out)],
        [("open", True), ("closed", False)],
    )


def a_program_that_leaves_while_its_threads_work_is_recorded(place: Place) -> None:
    _, out = record(place, "busy")
    events = place.events(out)
    same({row["name"] for row in events}, {"work"})
    same(sum(row["dur_ns"] is None for row in events) <= 3, True)  # each may have one open


LIBRARIES = """
import ctypes, _ctypes, sys
def run(path, what):
    library = ctypes.CDLL(path)
    library.main(2, (ctypes.c_char_p * 2)(b"nvtx", what))
    return library
both = [run(path, b"torch") for path in sys.argv[1:]]
for library in both:
    _ctypes.dlclose(library._handle)
run(sys.argv[1], b"close")
"""


def libraries_come_and_go(place: Place) -> None:
    """Each has an NVTX of its own, with the names that it gives."""
    library = client(place, "-shared", "-fPIC")
    paths = [str(place.folder / f"lib{i}.so") for i in range(2)]
    for path in paths:
        shutil.copy(library, path)
    done, out = place.record([sys.executable, "-c", LIBRARIES, *paths])
    same((done.returncode, done.stdout, done.stderr), (0, "", ""))
    names = Counter(row["name"] for row in place.events(out))
    same((names["aten::mm"], names["my label"], names["before"], names["after"]), (6, 2, 1, 1))
    info = {row["key"] for row in place.table("info", out)}
    same({"meta.source.nvtx", "meta.source.nvtx.2", "meta.source.nvtx.3"} <= info, True)


def a_second_collector_changes_nothing(place: Place) -> None:
    done, out = place.record(
        [client(place), "nest"],
        {"LD_PRELOAD": str(place.opscope.parent / "libopscope-collect.so")},
    )
    same((done.returncode, done.stdout, done.stderr), (0, "0 1 1 0 -1\n", ""))
    same(len([row for row in place.events(out) if row["kind"] == "scope"]), 2)


def tables_of_other_versions_do_no_harm(place: Place) -> None:
    done, out = place.record([place.build("cc", "nvtx_faults.c", "-ldl")])
    same((done.returncode, done.stdout, done.stderr), (0, "0 1 1 1 1 1 1 1 1 0 0 0 0\n", ""))
    same(lines(place.events(out)), [("scope", "of an older version", None)])


def the_package_for_python_is_recorded(place: Place) -> None:
    done, out = place.record(place.script("nvtx", SCRIPT))
    same((done.returncode, done.stdout, done.stderr), (0, "", ""))
    events = {row["name"]: row for row in place.events(out)}
    same(set(events), {"decorated", "within", "marked", "started"})
    same(events["within"]["parent"], "decorated")
    same((events["within"]["args"]["domain"], events["within"]["args"]["payload"]), ("mine", 5))
    same(events["marked"]["kind"], "instant")


def fields_of_payloads_are_arguments(place: Place) -> None:
    _, out = record(place, "fields", payload_client)
    [row] = place.events(out)
    same((row["name"], round(row["args"].pop("third"), 6)), ("fields", 0.333333))
    same(
        row["args"],
        {
            "domain": "d",
            "small": -5,
            "huge": str(2**64 - 1),
            "half": 0.5,
            "operation": "max",
            "other": 77,
            "short": -1.5,
            "brain": 3.140625,
            "name": "eight_by",
            "first": 200,
            "at.x": -1,
            "at.y": [1.5, -2],
            "text": "of the caller",
        },
    )
    hellos = {row["key"]: row["value"] for row in place.table("info", out)}
    same(
        (hellos["meta.source.nvtx"][:10], hellos["meta.source.nvtx.2"]),
        ("version 3,", "payloads, 7 functions"),
    )


def events_may_have_nothing_but_payloads(place: Place) -> None:
    said, out = record(place, "events", payload_client)
    same(said, "1 0 0 1\n")
    shared = {"domain": "d", "category": "seventh", "color": "#00ff80"}
    same(
        [(row["kind"], row["name"], row["args"]) for row in place.events(out)],
        [
            ("scope", "pushed", shared | {"n": 1}),
            ("instant", "marked", shared | {"n": 2}),
            ("instant", "payload", {"domain": "d", "result": 99}),
            ("scope", "started", shared | {"n": 3, "result": 99}),
        ],
    )


def lists_in_payloads_are_lists(place: Place) -> None:
    _, out = record(place, "lists", payload_client)
    same(
        {
            row["name"]: {key: value for key, value in row["args"].items() if key != "domain"}
            for row in place.events(out)
        },
        {
            "counted": {"n": 3, "values": [1, -2, 3]},
            "numbers": {"payload": [0.25, None]},
            "one": {"payload": -8},
            "text": {"payload": "plain"},
        },
    )


def wrong_payloads_do_no_harm_and_are_counted(place: Place) -> None:
    said, out = record(place, "wrong", payload_client)
    same(said, "0 0\n")
    events = place.events(out)
    same(
        [row["name"] for row in events if row["kind"] == "instant"],
        ["beyond the end", "too long", "unknown", "without data", "empty"],
    )
    same([row["args"]["value"] for row in events if row["kind"] == "counter"], [1, 2, 3, 4])


def structures_of_numpy_are_arguments(place: Place) -> None:
    place.script("numpy", "")  # without it the package has no such payloads
    done, out = place.record(place.script("nvtx", PAYLOADS))
    same((done.returncode, done.stdout, done.stderr), (0, "", ""))
    events = {row["name"]: row["args"] for row in place.events(out)}
    same(
        events,
        {
            "structure": {"color": "#0000ff", "count": 3, "ratio": 0.5, "point": [1, 2]},
            "list": {"color": "#0000ff", "size": 3, "data": [4, 5, 6]},
        },
    )


def nothing_happens_where_nobody_wants_it(place: Place) -> None:
    done, out = place.record([client(place), "nest"], {"OPSCOPE_SOURCES": "api,itt"})
    same((done.returncode, done.stdout, list(out.iterdir())), (0, "-2 -2 -2 -2 -2\n", []))


def run_sets_what_it_takes(place: Place) -> None:
    out = place.folder / "run"
    done = subprocess.run(
        [place.opscope, "run", "-o", out, "--", client(place), "torch"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    same((done.returncode, done.stdout, done.stderr), (0, "", ""))
    same(
        Counter(row["kind"] for row in place.events(out)),
        Counter({"operator": 6, "annotation": 2, "scope": 1}),
    )


def roctx_is_recorded_where_the_collector_is_preloaded(place: Place) -> None:
    library = str(place.folder / "libroctx64.so.4")
    subprocess.run(
        ["cc", "-DSTUB", "-shared", "-fPIC", str(HERE / "roctx.c"), "-o", library], check=True
    )
    program = place.build("cc", "roctx.c", library)
    alone = subprocess.run([program], capture_output=True, text=True, check=True)
    collector = str(place.opscope.parent / "libopscope-collect.so")
    done, out = place.record([program], {"LD_PRELOAD": collector})
    same((done.returncode, done.stdout, done.stderr), (0, alone.stdout, ""))
    events = place.events(out)
    same(
        Counter(lines(events)),
        Counter(
            [
                ("scope", "outer", None),
                ("scope", "inner", "outer"),
                ("scope", "a", None),
                ("scope", "b", None),
                ("instant", "here", None),
            ]
        ),
    )
    info = {row["key"]: row["value"] for row in place.table("info", out)}
    same(info["meta.source.nvtx"], "ROCTx")
    done, out = place.record([program], {"LD_PRELOAD": collector, "OPSCOPE_SOURCES": "api,itt"})
    same((done.stdout, list(out.iterdir())), (alone.stdout, []))


TESTS = (
    ranges_nest_and_levels_are_told,
    domains_have_levels_and_attributes_of_their_own,
    ranges_cross_threads,
    marks_and_names_are_there,
    emit_nvtx_has_operators,
    threads_do_not_disturb_each_other,
    a_forked_child_has_a_recording_and_a_hello,
    nulls_do_no_harm,
    a_program_that_closes_all_files_is_recorded,
    a_killed_program_has_what_it_ended,
    a_program_that_leaves_while_its_threads_work_is_recorded,
    libraries_come_and_go,
    a_second_collector_changes_nothing,
    tables_of_other_versions_do_no_harm,
    the_package_for_python_is_recorded,
    fields_of_payloads_are_arguments,
    events_may_have_nothing_but_payloads,
    lists_in_payloads_are_lists,
    wrong_payloads_do_no_harm_and_are_counted,
    structures_of_numpy_are_arguments,
    nothing_happens_where_nobody_wants_it,
    run_sets_what_it_takes,
    roctx_is_recorded_where_the_collector_is_preloaded,
)

if __name__ == "__main__":
    sys.exit(run(__doc__, TESTS))
