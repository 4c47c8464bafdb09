#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: opencl
# args: --opscope {gcc}/opscope --python {nvtx|python3}
# turn: 5
# step: opencl-asan
# args: --opscope {asan}/opscope --python {nvtx|python3} --only counted
# full: --opscope {asan}/opscope --python {nvtx|python3}
# turn: 5
# step: opencl-tsan
# args: --opscope {tsan}/opscope --python {nvtx|python3}
# mode: full
"""Check that programs which use OpenCL are recorded, and that they notice nothing.

The device is PoCL, which runs on the host; pyopencl comes from a Python that has it (--python).
Ends with "N passed, N failed".
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

from place import Missing, Place, counted, run, same

# What the program asks for, by kind and name, and the calls that do so.
WORK = Counter(
    {
        ("kernel", "add_one"): 10,
        ("kernel", "scale"): 1,
        ("memcpy", "Memcpy HtoD (Host -> Device)"): 1,
        ("memcpy", "Memcpy DtoH (Device -> Host)"): 1,
        ("memcpy", "Memcpy DtoD (Device -> Device)"): 1,
        ("memset", "Memset (Device)"): 1,
        ("sync", "Barrier"): 1,
        ("sync", "Marker"): 1,
        ("sync", "Map buffer"): 1,
        ("sync", "Unmap"): 1,
    }
)
CALLS = Counter(
    {
        "clEnqueueNDRangeKernel": 11,
        "clEnqueueWriteBuffer": 1,
        "clEnqueueReadBuffer": 1,
        "clEnqueueCopyBuffer": 1,
        "clEnqueueFillBuffer": 1,
        "clEnqueueBarrierWithWaitList": 1,
        "clEnqueueMarkerWithWaitList": 1,
        "clEnqueueMapBuffer": 1,
        "clEnqueueUnmapMemObject": 1,
        "clBuildProgram": 1,
        "clWaitForEvents": 1,
        "clFinish": 1,
    }
)
BYTES = 4 * 4096
ON_DEVICES = ("kernel", "memcpy", "memset", "sync")
# How far a time may be off: other programs may stop the test between two readings of a clock.
ERROR_NS = 100_000


SCRIPT = """
import warnings
import numpy as np, pyopencl as cl
warnings.simplefilter("ignore")
a = np.arange(1000, dtype=np.float32)
context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
b = cl.Buffer(context, cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR, hostbuf=a)
text = "__kernel void twice(__global float *a) { a[get_global_id(0)] *= 2; }"
program = cl.Program(context, text).build()
for i in range(5):
    program.twice(queue, a.shape, None, b)
found = np.empty_like(a)
cl.enqueue_copy(queue, found, b)
queue.finish()
print((found == a * 32).all(), queue.properties)
"""


def program(place: Place, *options: str) -> str:
    if not os.path.isdir("/etc/OpenCL/vendors"):
        raise Missing("there is no OpenCL driver")
    return place.build("cc", "opencl.c", *options, "-lOpenCL")


def library(place: Place, source: str, *options: str) -> str:
    return place.build("cc", source, "-shared", "-fPIC", *options)


def collector(place: Place) -> str:
    return str(place.opscope.parent / "libopscope-collect.so")


def compare(done, alone) -> None:
    """What a program did that was recorded, and alone."""
    if alone.returncode == 1:
        raise Missing(f"OpenCL does not work here: {alone.stdout}{alone.stderr}")
    if alone.returncode == -signal.SIGSEGV:  # its output is lost
        raise AssertionError("the program crashes alone: there is nothing to compare")
    same(
        (done.returncode, done.stdout, done.stderr),
        (alone.returncode, alone.stdout, alone.stderr),
    )


def record_command(place: Place, command: list[str], given: dict[str, str]):
    """Run COMMAND alone and recorded, compare what it does, and return its recording."""
    given = {"POCL_CACHE_DIR": str(place.folder / "cache")} | given
    layers = given.get("OPENCL_LAYERS", "").split(":")
    others = ":".join(layer for layer in layers if "libopscope-collect" not in layer)
    without = {"OPENCL_LAYERS": others, "LD_PRELOAD": place.preloaded()}
    alone = subprocess.run(
        command,
        env=os.environ | given | without,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    done, out = place.record(command, given)
    compare(done, alone)
    return out


def record(place: Place, what: str, **env: str):
    return record_command(place, [program(place), what], env)


def run_command(place: Place, command: list[str], given: dict[str, str], *options: str) -> Path:
    """Run COMMAND alone and with `opscope run`, compare what it does, and return its recording."""
    env = os.environ | {"POCL_CACHE_DIR": str(place.folder / "cache")} | given
    out = place.folder / "run"
    alone = subprocess.run(
        command, env=env, capture_output=True, text=True, timeout=120, check=False
    )
    done = subprocess.run(
        [place.opscope, "run", *options, "-o", out, "--", *command],
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    compare(done, alone)
    return out


def layered(place: Place, *options: str) -> str:
    """The collector before a layer of ours."""
    return library(place, "opencl_layer.c", *options) + ":" + collector(place)


def work_of(place: Place, out) -> Counter:
    return Counter((row["kind"], row["name"]) for row in on_devices(place.events(out)))


def on_devices(events: list[dict]) -> list[dict]:
    return [row for row in events if row["kind"] in ON_DEVICES]


def calls_of(events: list[dict]) -> list[dict]:
    return [row for row in events if row["kind"] == "runtime"]


def check(place: Place, out: Path) -> None:
    """All that the program does is in OUT, and times fit."""
    events = place.events(out)
    work, calls = on_devices(events), calls_of(events)
    same(Counter((row["kind"], row["name"]) for row in work), WORK)
    same(Counter(row["name"] for row in calls), CALLS)
    launched = {
        row["args"]["correlation"]: row for row in calls if "correlation" in row["args"]
    }
    for row in work:
        call = launched.pop(row["args"]["correlation"])
        name = {"kernel": "NDRange", "memset": "Fill"}.get(row["kind"], "clEnqueue")
        same(name in call["name"], True)
        # The clocks fit: nothing starts before the call that asks for it.
        same(row["start_ns"] >= call["start_ns"] - ERROR_NS, True)
    same(launched, {})
    done = {row["name"]: row["start_ns"] + row["dur_ns"] for row in calls}
    for row in work:  # the program has waited for each
        last = "clEnqueueReadBuffer" if row["args"]["stream"] == 1 else "clFinish"
        same(row["start_ns"] + row["dur_ns"] <= done[last] + ERROR_NS, True)


def all_work_is_recorded_and_linked(place: Place) -> None:
    check(place, record(place, "plain"))


def a_first_command_that_takes_long_does_not_shift_the_clock(place: Place) -> None:
    check(place, record_faulty(place, "slow"))


def sizes_bytes_and_memory_are_there(place: Place) -> None:
    out = record(place, "plain")
    work = on_devices(place.events(out))
    for row in work:
        if row["kind"] in ("memcpy", "memset"):
            same(row["args"]["bytes"], BYTES)
    sizes = {row["name"]: row["args"] for row in work if row["kind"] == "kernel"}
    same((sizes["add_one"]["grid"], sizes["add_one"]["block"]), ([64, 1, 1], [64, 1, 1]))
    same(sizes["scale"]["global"], [64, 64])
    peak = place.table("memory_peaks", out)
    same(
        [(row["device"], row["peak_bytes"], row["live_count"]) for row in peak],
        [("opencl:0", 2 * BYTES, 2)],
    )
    same([row["device"] for row in place.table("devices", out)], ["opencl:0"])
    info = {row["key"]: row["value"] for row in place.table("info", out)}
    same(info["meta.source.opencl"].startswith("a layer before "), True)


def errors_are_those_of_the_driver(place: Place) -> None:
    events = place.events(record(place, "fail"))
    same(Counter((row["kind"], row["name"]) for row in on_devices(events)), WORK)


def the_last_kernels_are_waited_for(place: Place) -> None:
    events = place.events(record(place, "exit"))
    kernels = Counter(row["name"] for row in events if row["kind"] == "kernel")
    same(kernels, Counter({"add_one": 110, "scale": 1}))


def what_has_finished_is_recorded_without_another_call(place: Place) -> None:
    events = place.events(record(place, "kill"))
    kernels = Counter(row["name"] for row in events if row["kind"] == "kernel")
    same(kernels, Counter({"add_one": 110, "scale": 1}))


def what_never_starts_is_counted(place: Place) -> None:
    out = record(place, "wait")
    counters = [
        (row["name"], row["args"]) for row in place.events(out) if row["kind"] == "counter"
    ]
    same(counters, [("opencl: commands that had not finished at the end", {"value": 1})])


def two_devices_are_two(place: Place) -> None:
    out = record(place, "both", POCL_DEVICES="pthread pthread")
    kernels = Counter(
        row["device"] for row in on_devices(place.events(out)) if row["kind"] == "kernel"
    )
    same(kernels, Counter({"opencl:0": 12, "opencl:1": 1}))


def nothing_waits_while_a_kernel_is_compiled(place: Place) -> None:
    # PoCL crashes if the process ends at the wrong moment of a compilation: one run in twenty
    # without the collector, nine in ten if that waited.
    command, ended = [program(place), "compile"], 0
    for i in range(8):
        done, _ = place.record(command, {"POCL_CACHE_DIR": str(place.folder / f"cache-{i}")})
        ended += done.returncode == 0
        if ended == 5:
            return
    raise AssertionError(f"{ended} of 8 programs ended")


def a_forked_child_leaves_the_commands_of_its_parent_alone(place: Place) -> None:
    out = record(place, "fork")
    events = [place.events(path) for path in out.iterdir() if path.suffix != ".sock"]
    kernels = [
        Counter(row["name"] for row in rows if row["kind"] == "kernel") for rows in events
    ]
    # It waits for none of them and counts none, and its parent has the one that was waiting.
    same([kernel for kernel in kernels if kernel], [Counter({"add_one": 11, "scale": 1})])
    same([row["name"] for rows in events for row in rows if row["kind"] == "counter"], [])


def shared_memory_that_is_freed_by_a_command_is_free(place: Place) -> None:
    out = record(place, "free")
    sizes = Counter(
        (row["kind"], row["args"]["Bytes"])
        for row in place.events(out)
        if row["kind"] in ("alloc", "free")
    )
    same((sizes["alloc", 1 << 20], sizes["free", -(1 << 20)]), (3, 3))


def a_layer_that_is_listed_twice_records_once(place: Place) -> None:
    out = record(place, "plain", OPENCL_LAYERS=f"{collector(place)}:{collector(place)}")
    same(work_of(place, out), WORK)


def a_layer_file_that_is_missing_does_no_harm(place: Place) -> None:
    out = record(place, "plain", OPENCL_LAYERS=f"/nowhere/layer.so:{collector(place)}")
    same(work_of(place, out), WORK)


def loader(place: Place, *options: str) -> Path:
    """The folder of a loader of our own."""
    folder = place.folder / f"loader{''.join(options)}"
    folder.mkdir()
    os.rename(
        library(place, "opencl_loader.c", *options, "-Wl,-soname,libOpenCL.so.1", "-ldl"),
        folder / "libOpenCL.so",
    )
    (folder / "libOpenCL.so.1").symlink_to("libOpenCL.so")
    return folder


def a_loader_that_knows_only_the_new_entry_calls_it(place: Place) -> None:
    folder = loader(place, "-DLAYERS")
    command = [program(place, f"-L{folder}", f"-Wl,-rpath,{folder}"), "fail"]
    out = record_command(place, command, {})
    same(work_of(place, out), WORK)


def a_loader_of_an_older_version_has_fewer_functions(place: Place) -> None:
    folder = loader(place, "-DOLD")
    command = [program(place, f"-L{folder}", f"-Wl,-rpath,{folder}"), "fail"]
    out = record_command(place, command, {})
    # The second queue is made by a function of OpenCL 2.0.
    second = Counter(
        {
            ("memcpy", "Memcpy DtoD (Device -> Device)"): 1,
            ("sync", "Barrier"): 1,
            ("sync", "Map buffer"): 1,
            ("sync", "Unmap"): 1,
        }
    )
    same(work_of(place, out), WORK - second)
    same(counted(place, out), {"opencl: commands of queues that are not known": 4})


LIBRARY = """
import ctypes, _ctypes, sys
for _ in range(3):
    library = ctypes.CDLL(sys.argv[1])
    library.main(2, (ctypes.c_char_p * 2)(b"opencl", b"plain"))
    _ctypes.dlclose(library._handle)
"""


def a_loader_that_comes_and_goes_is_recorded(place: Place) -> None:
    folder = loader(place, "-DLAYERS")
    client = program(place, "-shared", "-fPIC", f"-L{folder}", f"-Wl,-rpath,{folder}")
    out = record_command(place, [sys.executable, "-c", LIBRARY, client], {})
    same(work_of(place, out), Counter({key: 3 * n for key, n in WORK.items()}))
    same(counted(place, out), {})
    info = {row["key"] for row in place.table("info", out)}
    same("meta.source.opencl.3" in info, True)


def a_second_collector_records_nothing(place: Place) -> None:
    folder = place.folder / "second"
    folder.mkdir()
    shutil.copy(collector(place), folder)
    second = f"{folder}/libopscope-collect.so"
    given = {
        "OPENCL_LAYERS": f"{collector(place)}:{second}",
        "LD_LIBRARY_PATH": str(place.opscope.parent),
    }
    out = record_command(place, [program(place), "plain"], given)
    same(work_of(place, out), WORK)
    same(Counter(row["name"] for row in calls_of(place.events(out))), CALLS)


def a_loader_without_layers_is_recorded_by_preloading(place: Place) -> None:
    folder = loader(place)
    linked = program(place, f"-L{folder}")
    given = {"LD_LIBRARY_PATH": str(folder)}
    out = record_command(
        place, [linked, "plain"], given | {"OPENCL_LAYERS": "", "LD_PRELOAD": collector(place)}
    )
    same(work_of(place, out), WORK)
    same(Counter(row["name"] for row in calls_of(place.events(out))), CALLS)
    same(work_of(place, run_command(place, [linked, "fail"], given)), WORK)


def threads_that_begin_at_once_are_recorded(place: Place) -> None:
    wanted = WORK + Counter({("kernel", "add_one"): 4})
    same(work_of(place, record(place, "first")), wanted)
    for options in ((), ("-DSLOW",)):
        folder = loader(place, *options)
        given = {
            "LD_LIBRARY_PATH": str(folder),
            "OPENCL_LAYERS": "",
            "LD_PRELOAD": collector(place),
        }
        out = record_command(place, [program(place, f"-L{folder}"), "first"], given)
        same((work_of(place, out), counted(place, out)), (wanted, {}))


def a_program_that_is_linked_with_its_driver_is_recorded(place: Place) -> None:
    folder = place.folder / "driver"
    folder.mkdir()
    os.rename(
        library(place, "opencl_loader.c", "-Wl,-soname,libvendor.so", "-ldl"),
        folder / "libvendor.so",
    )
    # What the dynamic linker takes for no library hides the system's.
    (folder / "libOpenCL.so.1").write_text("no loader\n", encoding="utf-8")
    if not os.path.isdir("/etc/OpenCL/vendors"):
        raise Missing("there is no OpenCL driver")
    command = [place.build("cc", "opencl.c", f"-L{folder}", "-lvendor"), "fail"]
    out = run_command(place, command, {"LD_LIBRARY_PATH": str(folder)}, "--sources", "opencl")
    same(work_of(place, out), WORK)


def a_layer_that_is_preloaded_records_once(place: Place) -> None:
    out = record(place, "plain", LD_PRELOAD=collector(place))
    same(work_of(place, out), WORK)
    same(Counter(row["name"] for row in calls_of(place.events(out))), CALLS)


def commands_of_a_driver_without_times_are_counted(place: Place) -> None:
    out = record(place, "plain", OPENCL_LAYERS=layered(place, "-DREFUSES"))
    events = place.events(out)
    same(on_devices(events), [])
    same(Counter(row["name"] for row in calls_of(events)), CALLS)
    counts = [
        row["args"]["value"]
        for row in events
        if row["name"] == "opencl: commands without times"
    ]
    same(counts[-1], sum(WORK.values()))


UNTIMED = "opencl: commands without times"
UNRELATED = "opencl: commands of devices whose clock cannot be related to the host's"


def record_faulty(place: Place, fault: str, what: str = "plain") -> Path:
    return record(place, what, FAULT=fault, OPENCL_LAYERS=layered(place))


def times_that_are_wrong_are_counted(place: Place) -> None:
    for fault, n in (("zero", 7), ("order", 7), ("times", WORK.total())):
        out = record_faulty(place, fault)
        same(work_of(place, out).total(), WORK.total() - n)
        same(counted(place, out), {UNTIMED: n})
    out = record_faulty(place, "queued")  # which is what is compared with the host's clock
    same(work_of(place, out), Counter())
    same(counted(place, out), {UNRELATED: WORK.total()})
    out = record_faulty(place, "early")
    lost = counted(place, out).get(UNRELATED, 0)  # if the first one to finish is one of these
    same((work_of(place, out).total() + lost, lost <= 1), (WORK.total(), True))
    calls = {
        row["args"].get("correlation"): row["start_ns"] for row in calls_of(place.events(out))
    }
    for row in on_devices(place.events(out)):
        same(-ERROR_NS <= row["start_ns"] - calls[row["args"]["correlation"]] < 10**10, True)


def kernels_without_names_are_recorded(place: Place) -> None:
    wanted = Counter({key: n for key, n in WORK.items() if key[0] != "kernel"})
    wanted["kernel", "(unknown kernel)"] = 11
    for fault in ("names", "unnamed"):
        out = record_faulty(place, fault)
        same((work_of(place, out), counted(place, out)), (wanted, {}))


def devices_without_properties_are_recorded(place: Place) -> None:
    # Whether memory is the host's is a property, too: then mapping moves something.
    wanted = (
        WORK - Counter({("sync", "Map buffer"): 1}) + Counter({("memcpy", "Map buffer"): 1})
    )
    for fault in ("properties", "device"):
        out = record_faulty(place, fault)
        same(
            (
                work_of(place, out) - Counter({("sync", "Unmap"): 1, ("memcpy", "Unmap"): 1}),
                counted(place, out),
            ),
            (wanted - Counter({("sync", "Unmap"): 1}), {}),
        )
        same(
            [(row["device"], row["name"]) for row in place.table("devices", out)],
            [("opencl:0", None)],
        )
    out = record_faulty(place, "none")
    same((work_of(place, out), counted(place, out)), (WORK, {}))


def commands_whose_end_is_not_told_are_counted(place: Place) -> None:
    for fault, text in (
        ("callback", UNTIMED),
        ("never", "opencl: commands that had not finished at the end"),
        ("failed", "opencl: commands that failed"),
    ):
        out = record_faulty(place, fault)
        same((work_of(place, out), counted(place, out)), (Counter(), {text: WORK.total()}))


def commands_whose_end_is_told_late_are_recorded(place: Place) -> None:
    same(work_of(place, record_faulty(place, "late")), WORK)
    # Of a kernel that may be being compiled nobody waits for the end.
    out = record_faulty(place, "late", "exit")
    found = counted(place, out).get("opencl: commands that had not finished at the end", 0)
    same(work_of(place, out).total() + found, WORK.total() + 100)


def commands_without_events_are_counted(place: Place) -> None:
    out = record_faulty(place, "event")
    same(work_of(place, out), WORK - Counter({("kernel", "add_one"): 10}))
    same(counted(place, out), {UNTIMED: 10})


def what_was_done_before_a_device_was_lost_is_recorded(place: Place) -> None:
    out = record_faulty(place, "lost", "lost")
    same((work_of(place, out), counted(place, out)), (WORK, {}))


def memory_that_nobody_knows_is_counted(place: Place) -> None:
    for fault in ("memory", "context"):
        out = record_faulty(place, fault)
        same(work_of(place, out), WORK)
        same(counted(place, out), {"opencl: blocks of memory that are not recorded": 2})
        same(place.table("memory_peaks", out), [])


def commands_of_more_devices_than_are_known_are_counted(place: Place) -> None:
    out = record(place, "parts")
    kernels = sum(row["kind"] == "kernel" for row in place.events(out))
    if kernels == 11:
        raise Missing("this device has no parts")
    found = counted(place, out)
    same((kernels + found[UNTIMED], found[UNTIMED] > 0), (11 + 80, True))


def the_child_of_a_fork_is_recorded_where_its_parent_only_looked(place: Place) -> None:
    out = record(place, "forked")
    files = [path for path in out.iterdir() if path.suffix != ".sock"]
    same([work for work in (work_of(place, path) for path in files) if work], [WORK])
    same([counted(place, path) for path in files], [{}] * len(files))


def a_program_that_closes_all_files_is_recorded(place: Place) -> None:
    out = record(place, "close")
    same(counted(place, out), {})
    same(work_of(place, out), WORK + Counter({("kernel", "add_one"): 10}))


def a_program_that_leaves_while_its_threads_enqueue_is_recorded(place: Place) -> None:
    out = record(place, "busy")
    events = place.events(out)
    kernels = [row for row in on_devices(events) if row["kind"] == "kernel"]
    launched = sum(row["name"] == "clEnqueueNDRangeKernel" for row in calls_of(events))
    found = counted(place, out)
    same(len(kernels) > 100, True)
    same(set(found) <= {"opencl: commands that had not finished at the end"}, True)
    same(0 <= launched - len(kernels) - sum(found.values()) <= 64, True)


def queues_of_an_extension_are_recorded(place: Place) -> None:
    out = record(place, "extension", OPENCL_LAYERS=layered(place, "-DEXTENDS"))
    same(work_of(place, out), WORK + Counter({("kernel", "add_one"): 1}))
    # Without the extension the program must not find ours.
    same(work_of(place, record(place, "extension")), WORK)


def pyopencl_is_recorded(place: Place) -> None:
    command = place.script("pyopencl", SCRIPT)
    # The loader in its package looks for drivers elsewhere.
    out = record_command(
        place, command, {"OCL_ICD_VENDORS": "/etc/OpenCL/vendors", "PYOPENCL_NO_CACHE": "1"}
    )
    events = place.events(out)
    same(
        work_of(place, out),
        Counter({("kernel", "twice"): 5, ("memcpy", "Memcpy DtoH (Device -> Host)"): 1}),
    )
    calls = Counter(row["args"].get("correlation") for row in calls_of(events))
    same([calls[row["args"]["correlation"]] for row in on_devices(events)], [1] * 6)


def nothing_happens_where_nobody_wants_it(place: Place) -> None:
    same(list(record(place, "plain", OPSCOPE_SOURCES="api,itt").iterdir()), [])
    same(list(record(place, "plain", OPSCOPE="0").iterdir()), [])


def run_finds_it(place: Place) -> None:
    out = place.folder / "run"
    env = os.environ | {"POCL_CACHE_DIR": str(place.folder / "cache")}
    record(place, "plain")  # or OpenCL does not work here
    done = subprocess.run(
        [place.opscope, "run", "-o", out, "--", program(place), "plain"],
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    same((done.returncode, done.stderr), (0, ""))
    same(Counter((row["kind"], row["name"]) for row in on_devices(place.events(out))), WORK)


TESTS = (
    all_work_is_recorded_and_linked,
    a_first_command_that_takes_long_does_not_shift_the_clock,
    sizes_bytes_and_memory_are_there,
    errors_are_those_of_the_driver,
    the_last_kernels_are_waited_for,
    what_has_finished_is_recorded_without_another_call,
    what_never_starts_is_counted,
    two_devices_are_two,
    nothing_waits_while_a_kernel_is_compiled,
    a_forked_child_leaves_the_commands_of_its_parent_alone,
    shared_memory_that_is_freed_by_a_command_is_free,
    a_layer_that_is_listed_twice_records_once,
    a_layer_file_that_is_missing_does_no_harm,
    a_loader_that_knows_only_the_new_entry_calls_it,
    a_loader_of_an_older_version_has_fewer_functions,
    a_loader_that_comes_and_goes_is_recorded,
    a_second_collector_records_nothing,
    a_loader_without_layers_is_recorded_by_preloading,
    threads_that_begin_at_once_are_recorded,
    a_program_that_is_linked_with_its_driver_is_recorded,
    a_layer_that_is_preloaded_records_once,
    commands_of_a_driver_without_times_are_counted,
    queues_of_an_extension_are_recorded,
    times_that_are_wrong_are_counted,
    kernels_without_names_are_recorded,
    devices_without_properties_are_recorded,
    commands_whose_end_is_not_told_are_counted,
    commands_whose_end_is_told_late_are_recorded,
    commands_without_events_are_counted,
    what_was_done_before_a_device_was_lost_is_recorded,
    memory_that_nobody_knows_is_counted,
    commands_of_more_devices_than_are_known_are_counted,
    the_child_of_a_fork_is_recorded_where_its_parent_only_looked,
    a_program_that_closes_all_files_is_recorded,
    a_program_that_leaves_while_its_threads_enqueue_is_recorded,
    pyopencl_is_recorded,
    nothing_happens_where_nobody_wants_it,
    run_finds_it,
)

if __name__ == "__main__":
    sys.exit(run(__doc__, TESTS))
