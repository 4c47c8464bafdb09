# SPDX-License-Identifier: Apache-2.0
"""Benches of recording: scopes, files, and every source."""

import os
import shutil
import statistics
import subprocess
import sys
import time

from measures import HERE, SMOKE, add, divide, show, show_all, steady, times


def record(program, trace):
    s = add({}, "", program("record"), "pair", trace("scratch"))
    for name, limit in (
        ("a4-off", "<=1.20"),
        ("a4-paused", "<=1.15"),
        ("a1-begin-end", "<=1.15"),
        ("a2-complete", "<=1.15"),
        ("a6-instant", "<=1.20"),
        ("a6-counter", "<=1.20"),
        ("a7-alloc-free", "<=1.30"),
        ("a8-stack-32", "<=1.15"),
        ("a5-nobody-drains", "<=1.25"),
    ):
        divide("record/" + name, s, name, name + "/limit", limit, "ns, beside the limit")
    divide(
        "record/a3-two-threads",
        s,
        "a3-two-threads",
        "a1-begin-end",
        "<=1.05",
        "ns, slower of two threads by one alone",
    )
    s = add({}, "", program("stub"))
    divide(
        "record/stub-off",
        s,
        "stub",
        "stub/limit",
        "-",
        "ns, a call of stub.h without a library",
    )
    if os.path.exists(program("scopes")):
        s = add({}, "", program("scopes"), trace("scratch"))
        for name in ("off", "scope", "argument"):
            divide(
                "record/cxx-" + name,
                s,
                name,
                name + "/limit",
                "<=1.02",
                "ns, a macro of scope.hpp beside the calls of record.h",
            )
        for name, limit, what in (
            ("category", "<=1.05", "a scope in a category beside one in none"),
            ("category-off", "<=0.20", "a level that is off, beside a scope"),
            ("sampled", "<=1.20", "one in 100 calls is recorded, beside all"),
            ("meanwhile", "-", "another scope while one is sampled"),
        ):
            divide(
                "record/" + name,
                s,
                name,
                ("sampled" if name == "meanwhile" else name) + "/limit",
                limit,
                "ns, " + what,
            )


def beside(program, other, scratch, env, *before):
    """Measure a pair of opscope against one of OTHER; BEFORE precedes the program's command."""
    try:
        s = add({}, "", *before, program("record"), other, scratch, env=env)
    except OSError as error:
        print("record/beside-%s: %s" % (other, error))
        return
    divide("record/beside-" + other, s, other, other + "/limit", "-", "ns, our pair by theirs")


def recorders(program, trace):
    """Measure other installed recorders: uftrace, and LTTng-UST with its own daemon."""
    scratch = trace("scratch")
    beside(
        program,
        "uftrace",
        scratch,
        None,
        "uftrace",
        "record",
        "--no-libcall",
        "--no-event",
        "-d",
        os.path.join(scratch, "calls"),
    )
    env = dict(
        os.environ,
        LTTNG_HOME=scratch,
        LTTNG_RUNDIR=os.path.join(scratch, "run"),
        LTTNG_UST_REGISTER_TIMEOUT="-1",
        HOME=scratch,
    )
    os.mkdir(env["LTTNG_RUNDIR"])
    quiet = {"env": env, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    if not shutil.which("lttng-sessiond"):
        print("record/beside-lttng: no lttng-sessiond")
        return
    with subprocess.Popen(["lttng-sessiond", "--no-kernel"], **quiet) as daemon:
        for _ in range(100):
            if subprocess.run(["lttng", "list"], check=False, **quiet).returncode == 0:
                break
            time.sleep(0.1)
        for words in (
            "create opscope-bench --snapshot --output=" + os.path.join(scratch, "lttng"),
            "enable-channel -u pairs --overwrite --subbuf-size=1M --num-subbuf=4",
            "enable-event -u -c pairs opscope_bench:*",
            "start",
        ):
            subprocess.run(["lttng", *words.split()], check=False, **quiet)
        beside(program, "lttng", scratch, env)
        daemon.terminate()


def flush(program, trace):
    s = add({}, "", program("record"), "flush", trace("scratch"), 7)
    for name, limit in (("a10-ns-a-record", "<=5.00"), ("a10-bytes-a-scope", "<=16.00")):
        show("flush/" + name, steady(s[name]), limit, "%d records lost" % sum(s["lost"]))


def windows(program, trace):
    """Measure opening and closing a recording, and reading thousands of them."""
    n, scratch = 20 if SMOKE else 5000, trace("scratch")
    s = add({}, "", program("windows"), scratch, n)
    ms, files_ms = (statistics.median(s[name][1:100]) for name in ("window", "files"))
    show("window", ms, "<=1.00", "ms of processor time; %.2f for its files alone" % files_ms)
    paths = sorted(os.path.join(scratch, x) for x in os.listdir(scratch))
    for _ in times(7):
        add(s, "cat-", "cat", *paths)
        add(s, "read-", program("../opscope"), scratch)
    divide(
        "many",
        s,
        "read-cpu",
        "cat-cpu",
        "<=10.0",
        "processor seconds for %d recordings, by those of cat" % n,
    )


def calls_collected(what, program, trace):
    """What calls of the hook WHAT cost with the collector."""
    return add(
        {},
        "",
        program("record"),
        what,
        program("../libopscope-collect.so"),
        env=dict(os.environ, OPSCOPE_OUT=trace("scratch")),
    )


def itt(program, trace):
    s = calls_collected("itt", program, trace)
    for name, limit in (("task", "<=1.60"), ("pytorch", "<=1.60"), ("domain", "-")):
        divide(
            "itt/" + name,
            s,
            name,
            name + "/limit",
            limit,
            "begin and end of a task by L-pair, ns; %d lost" % s["lost"][0],
        )


def nvtx(program, trace):
    s = calls_collected("nvtx", program, trace)
    for name in ("push-pop", "registered"):
        divide(
            "nvtx/" + name,
            s,
            name,
            name + "/limit",
            "<=1.30",
            "push and pop by osc_begin() and osc_end(), ns; %d lost" % s["lost"][0],
        )


def opencl(program, trace):
    """Small kernels on PoCL, with profiling on, alone and with the layer."""
    if not os.path.exists(program("kernels")):
        print("opencl: it was not built")
        return
    s, layer, n = {}, program("../libopscope-collect.so"), ["1000"] if SMOKE else []
    for _ in times(7):
        add(s, "alone-", program("kernels"), *n, env=dict(os.environ, OPENCL_LAYERS=""))
        add(
            s,
            "layer-",
            program("kernels"),
            *n,
            env=dict(os.environ, OPENCL_LAYERS=layer, OPSCOPE_OUT=trace("scratch")),
        )
    more = statistics.median(s["layer-enqueue"]) - statistics.median(s["alone-enqueue"])
    show(
        "opencl/enqueue", more, "<=1.50", "microseconds more for each clEnqueueNDRangeKernel()"
    )
    divide(
        "opencl/wall", s, "layer-wall", "alone-wall", "<=1.10", "microseconds for each kernel"
    )


def level_zero(program, trace):
    """Launches appended to a driver without a device, alone, with the layer that traces, and
    recorded."""
    if not os.path.exists(program("appends")):
        print("level_zero: it was not built")
        return
    s = {}
    base = dict(os.environ, ZE_ENABLE_ALT_DRIVERS=program("fake-level-zero.so"))
    for _ in times(9):
        add(s, "alone-", program("appends"), "cost", env=base)
        base["ZE_ENABLE_TRACING_LAYER"] = "1"
        add(s, "layer-", program("appends"), "cost", env=base)
        add(
            s,
            "collector-",
            program("appends"),
            "cost",
            env=dict(
                base,
                LD_PRELOAD=program("../libopscope-collect.so"),
                OPSCOPE_OUT=trace("scratch"),
            ),
        )
        del base["ZE_ENABLE_TRACING_LAYER"]
    alone = statistics.median(s["alone-append"])
    show(
        "level_zero/layer",
        (statistics.median(s["layer-append"]) - alone) / 1000,
        "-",
        "microseconds that the layer alone adds",
    )
    show(
        "level_zero/append",
        (statistics.median(s["collector-append"]) - alone) / 1000,
        "<=0.40",
        "microseconds more for each zeCommandListAppendLaunchKernel()",
    )


def cupti(program, trace):
    """Records of kernels and launches, of a CUPTI without a device."""
    s = {}
    for _ in times(5):
        add(
            s,
            "",
            program("cupti"),
            program("../libopscope-collect.so"),
            program("fake-cupti.so"),
            env=dict(os.environ, OPSCOPE_OUT=trace("scratch")),
        )
    show(
        "cupti/record",
        statistics.median(s["record"]),
        "<=60.0",
        "ns for the record of a kernel, in the callback",
    )
    show("cupti/call", statistics.median(s["call"]), "-", "ns more for each launch")


def python_scopes(program, trace):
    if not os.path.isdir(program("../python")):
        print("python_scopes: the package was not built")
        return
    show_all(
        sys.executable,
        os.path.join(HERE, "python_scopes.py"),
        env=dict(os.environ, PYTHONPATH=program("../python")),
    )


def torch(program, trace):
    """opscope.torch beside torch.profiler, with the Python that BENCH_TORCH names."""
    python = os.environ.get("BENCH_TORCH")
    if not python or not os.path.isdir(program("../python")):
        print("torch: BENCH_TORCH names no Python that has torch, or the package was not built")
        return
    env = dict(os.environ, PYTHONPATH=program("../python"))
    show_all(
        python,
        os.path.join(HERE, "torch_profiler.py"),
        *(("--rounds", 1) if SMOKE else ()),
        env=env,
    )
    show_all(
        python,
        os.path.join(HERE, "vendor.py"),
        program(".."),
        *(("--rounds", 1, "--processes", 1) if SMOKE else ()),
        env=env,
    )


BENCHES = (
    record,
    recorders,
    flush,
    windows,
    itt,
    nvtx,
    opencl,
    level_zero,
    cupti,
    python_scopes,
    torch,
)
