#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: bench-smoke
# args: {gcc} --smoke --data {gcc}/bench/smoke
# about: Run every bench but that of torch once, on small traces
# step: bench-torch
# args: {gcc} --smoke --data {gcc}/bench/smoke-torch --only torch
# env: BENCH_TORCH={torch}
# needs: module
# mode: full
# about: Run the bench of torch once
# step: measures
# args: {bench}
# env: BENCH_TORCH={torch|}
# about: Run all benches and compare each measure with its limit
# mode: bench
# order: alone
"""Run all benches and compare each measure with its limit.

usage: run.py BUILD_DIR [--data DIR] [--large | --smoke] [--only WORD]

Makes the traces (data.sh), runs every bench, and prints a line for each measure:
name, ratio, limit, ok or MISS, and what was measured. If BUILD_DIR was configured
without -Dbench=true, build-bench is used instead.
--large adds a trace of 4 GB. --smoke only shows that the benches run, on traces of some MB, one
sample of each; nothing is downloaded. --only runs the benches whose names contain WORD. Exits 1
only if a bench could not run.

The programs print many samples, "NAME NUMBER"; a measure is the quotient of two medians. The
first sample is slower because its memory is fresh; it counts only as NAME/first.
"""

import argparse
import contextlib
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import venv

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
SMOKE = "--smoke" in sys.argv
COUNTS = {"ok": 0, "MISS": 0, "": 0}

# The work of the loader of TensorBoard's plugin for one file, without the browser.
PLUGIN = """
import sys
from torch_tb_profiler.profiler.data import RunProfileData
from torch_tb_profiler.profiler.run_generator import RunGenerator
data = RunProfileData.parse("worker", None, sys.argv[1], sys.argv[2])
data.process()
data.analyze()
profile = RunGenerator("worker", None, data).generate_run_profile()
assert profile.operation_table_by_name
"""


def build(where):
    """Returns a build directory with the benches."""
    if os.path.exists(os.path.join(where, "bench", "questions")):
        return where
    where = os.path.join(ROOT, "build-bench")
    if not os.path.exists(os.path.join(where, "build.ninja")):
        subprocess.run(
            ["meson", "setup", where, ROOT, "-Dbench=true", "-Dtests=false"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    subprocess.run(["ninja", "--quiet", "-C", where], check=True)
    return where


def times(n):
    """As many rounds, or one where the benches only have to run."""
    return range(1 if SMOKE else n)


def steady(values):
    return statistics.median(values[1:] or values)


def first(values):
    return values[0]


def show(name, ratio, limit="-", words=""):
    """Print a line; LIMIT is ">=1.70" or "<=0.15", or "-" if there is no limit."""
    verdict = ""
    if limit != "-":
        bound = float(limit[2:])
        verdict = "ok" if (ratio >= bound if limit[0] == ">" else ratio <= bound) else "MISS"
    COUNTS[verdict] += 1
    print(
        "%-24s %8.3f %-7s %-4s %s" % (name, ratio, limit if verdict else "", verdict, words),
        flush=True,
    )


def divide(name, samples, over, under, limit="-", words="", how=steady):
    """Show the quotient of the medians of OVER and UNDER in SAMPLES, if UNDER took any time."""
    a, b = how(samples[over]), how(samples[under])
    if b == 0:
        print(
            "%s: %s took less than a tick of the clock, with %s runs"
            % (name, under, len(samples[under]))
        )
        return
    show(name, a / b, limit, "%s: %.4g by %.4g" % (words or "%s by %s" % (over, under), a, b))


def add(samples, prefix, *command, env=None):
    """Run COMMAND; add the samples that it prints, its time and its memory to SAMPLES."""
    start = time.perf_counter()
    with subprocess.Popen([str(c) for c in command], env=env, stdout=subprocess.PIPE) as child:
        for line in child.stdout:
            words = line.decode(errors="replace").split() if len(line) < 200 else []
            if len(words) == 2:
                with contextlib.suppress(ValueError):
                    samples.setdefault(prefix + words[0], []).append(float(words[1]))
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = status
    if status != 0:
        raise OSError("%s failed" % " ".join(map(str, command)))
    for key, value in (
        ("wall", time.perf_counter() - start),
        ("user", used.ru_utime),
        ("kernel", used.ru_stime),
        ("rss", used.ru_maxrss * 1024),
        ("cpu", used.ru_utime + used.ru_stime),
    ):
        samples.setdefault(prefix + key, []).append(value)
    return samples


def load(program, trace):
    for name, limit, n, *kernel in (
        ("1g", ">=1.70", 5),
        ("names", ">=1.50", 9),
        ("r50", ">=1.70", 15),
        ("r50", "-", 9, "plain"),
    ):
        path = trace(name + ".json")
        if not os.path.exists(path) or not os.path.exists(program("load")):
            print("load/%s: without the trace or simdjson" % name)
            continue
        s = add({}, "", program("load"), path, n, *kernel)
        name = "-".join(["load/" + name, *kernel])
        words = "simdjson On-Demand by ours, %.0f MB, s" % (os.path.getsize(path) / 1e6)
        divide(name, s, "peer", "ours", limit, words)
        divide(name + "/best", s, "peer", "ours", "-", words, min)
        divide(name + "/first", s, "peer", "ours", "-", words, first)
        if s["events-missed"] != [0] or s["args-missed"] != [0]:
            print("# the peer reads another number of events or arguments")


def threads(program, trace):
    s = {}
    for n in (1, 2) * len(times(7)):
        add(s, str(n), program("questions"), "load", trace("1g.json"), n)
    divide("load/threads", s, "1load-wall", "2load-wall", ">=1.80", "wall, one thread by two")
    divide("load/threads-best", s, "1load-wall", "2load-wall", how=min)
    a, b = steady(s["1load-cpu"]), steady(s["2load-cpu"])
    show(
        "load/threads-processor",
        2 * a / b,
        "-",
        "what it would be on idle cores: processor time %.3f and %.3f s" % (a, b),
    )


def process(program, trace):
    """Measure whole processes: inflating, memory, kernel time, size, start."""
    ask, big, s = program("questions"), trace("1g.json"), {}
    for _ in times(5):
        add(s, "zcat-", "sh", "-c", 'exec zcat "$0" >/dev/null', big + ".gz")
        add(s, "gz-", ask, "load", big + ".gz", 2)
    divide(
        "gz/zcat", s, "zcat-wall", "gz-wall", ">=3.50", "zcat by ours, wall", statistics.median
    )
    divide("gz/zcat-best", s, "zcat-wall", "gz-wall", how=min)
    divide("gz/processor", s, "zcat-cpu", "gz-cpu", how=statistics.median)
    for name, path, n in (
        ("", big, 1),
        ("", big, 2),
        ("-gz", big + ".gz", 2),
        ("-names", trace("names.json"), 1),
    ):
        m = {k: v[0] for k, v in add({}, "", ask, "facts", path, n).items()}
        if n == 1:
            show(
                "memory/base" + name,
                (m["model_bytes"] - m["string_bytes"]) / m["records"] / 64,
                "<=1.00",
                "bytes a record by 64; strings apart: %.1f MB" % (m["string_bytes"] / 1e6),
            )
            show(
                "memory/derived" + name,
                (m["held_bytes"] - m["model_bytes"]) / m["records"] / 64,
                "-",
                "bytes of derived pages a record by 64",
            )
        show(
            "memory/peak%s-%d" % (name, n),
            m["peak_bytes"] / (1.25 * m["model_bytes"] + 2**26),
            "<=1.00",
            "peak while loading by 1.25 model + 64 MiB: %.0f MB, model %.0f MB"
            % (m["peak_bytes"] / 1e6, m["model_bytes"] / 1e6),
        )
    # A virtual machine whose host must first supply memory is up to ten times slower, which
    # opscope cannot influence: so the least of all runs counts.
    for _ in times(10):
        add(s, "", ask, "load", big, 1)
    divide("kernel/user", s, "kernel", "user", "<=0.15", "of a process, least of ten", min)
    divide("kernel/user-median", s, "kernel", "user", how=statistics.median)
    if os.path.exists(trace("4g.json")):
        for name in ("4g", "1g") * 5:
            add(s, name, ask, "load", trace(name + ".json"), 1)
        show(
            "linear/4g",
            steady(s["4gcpu"])
            / steady(s["1gcpu"])
            / os.path.getsize(trace("4g.json"))
            * os.path.getsize(big),
            "<=1.05",
            "processor time a byte of 4 GB by that of 1 GB",
        )
    for _ in times(21):
        add(s, "start-", program("../opscope"), "table", "operators", trace("10m.json"))
    show(
        "start/table",
        statistics.median(s["start-wall"]) / 0.050,
        "<=1.00",
        "opscope table operators, 10 MB, wall by 50 ms; shortest %.1f ms"
        % (min(s["start-wall"]) * 1e3),
    )


def operators(program, trace):
    s = add({}, "", program("questions"), "operators", trace("1g.json"))
    for name, sweep, limit in (("made", "made", "<=1.40"), ("same", "sweep", "-")):
        divide("operators/" + name, s, "table", sweep, limit, "table by a sweep, ns a slice")
        divide("operators/derive-" + name, s, "both", sweep, "-", "facts and table by a sweep")


def tables(program, trace):
    for name, path, limit in (
        ("tables", trace("1g.json"), "<=0.15"),
        ("tables-modules", trace("modules.json"), "-"),
    ):
        if not os.path.exists(path):
            continue
        s = add({}, "", program("questions"), "tables", path, 5)
        divide(name + "/load", s, "all", "load", limit, "facts and all tables by loading, s")
        for table in list(s)[1 : list(s).index("all")]:
            divide("%s/%s" % (name, table), s, table, "load")


def memory(program, trace):
    """A selected range of a curve must be answered within 5 ms; all of it may take longer."""
    if os.path.exists(trace("memory.json")):
        s = add({}, "", program("questions"), "memory", trace("memory.json"), 15)
        for name in [n for n in s if "/" in n]:
            show(name, steady(s[name]) * 1e3, "-" if name.endswith("/all") else "<=5", "ms")


# Tables whose rows are appended, not merged.
LISTS = (
    "threads",
    "tracks",
    "flows",
    "memory_events",
    "memory_curve",
    "memory_peaks",
    "memory_live",
)


def ranks(program, trace):
    """64 ranks of 60 MB may use 64 MiB more memory than two of them."""
    traces = [
        trace(name)
        for name in ("rank.json", "rank-modules.json")
        if os.path.exists(trace(name))
    ]
    s = add(
        {}, "", os.path.join(HERE, "ranks.py"), program("../opscope"), trace("scratch"), *traces
    )
    for name in [n[:-5] for n in s if n.endswith("/many")]:
        many, two = s[name + "/many"][0], s[name + "/two"][0]
        show(
            "ranks/" + name,
            (many - two) / 2**26,
            "-" if name.split("+")[0] in LISTS else "<=1.00",
            "peak beyond that of two by 64 MiB: %.0f MB, %.0f MB; %.1f s"
            % (many / 1e6, two / 1e6, s[name + "/seconds"][0]),
        )


def about_runs(program, trace, what, *names, env=None):
    """The samples of runs.py about the traces NAMES; None if one is missing."""
    traces = [trace(name) for name in names]
    if not all(map(os.path.exists, traces)):
        print("%s: without the traces" % what)
        return None
    return add(
        {},
        "",
        os.path.join(HERE, "runs.py"),
        program("../opscope"),
        trace("scratch"),
        what,
        *traces,
        env=env,
    )


def spread(program, trace):
    """16 ranks with one thread and with two, and with two processes of opscope-mpi."""
    s = about_runs(program, trace, "threads", "rank.json", "rank-modules.json")
    for name in sorted({n.split("/")[0] for n in s or () if n.endswith("/two/rss")}):
        one, two = name + "/1/", name + "/2/"
        divide(
            "spread/" + name, s, one + "wall", two + "wall", ">=1.80", "wall, one thread by two"
        )
        show(
            "spread/%s-processor" % name,
            2 * steady(s[one + "cpu"]) / steady(s[two + "cpu"]),
            "-",
            "what it would be on idle cores",
        )
        show(
            "spread/%s-memory" % name,
            (max(s[two + "rss"]) - max(s[name + "/two/rss"])) / 2**26,
            "<=1.00",
            "peak beyond that of the two largest by 64 MiB: %.0f MB"
            % (max(s[two + "rss"]) / 1e6),
        )
    if not shutil.which("mpirun") or not os.path.exists(program("../opscope-mpi")):
        print("spread/mpi: without mpirun or opscope-mpi")
        return
    s = about_runs(program, trace, "mpi", "rank.json", "rank-modules.json")
    if s:
        divide("spread/mpi", s, "one/wall", "two/wall", ">=1.70", "wall, one process by two")
        show(
            "spread/mpi-processor",
            2 * steady(s["one/cpu"]) / steady(s["two/cpu"]),
            "-",
            "what it would be on idle cores; mpirun alone %.2f s" % steady(s["start/wall"]),
        )


def compared(program, trace):
    """`opscope diff` of two traces of 100 MB, by loading both."""
    s = about_runs(program, trace, "diff", "diff-base.json", "diff-new.json")
    for what, limit in (("wall", "<=1.20"), ("cpu", "-")) if s else ():
        for how, word in ((steady, ""), (min, "-best")):
            a, b = how(s["diff/" + what]), how(s["base/" + what]) + how(s["new/" + what])
            show(
                "compared/%s%s" % (what, word),
                a / b,
                "-" if word else limit,
                "diff by loading both, s: %.3f by %.3f" % (a, b),
            )


def holistic(program, trace):
    """The overlap of communication in 8 ranks of 60 MB, by HolisticTraceAnalysis."""
    python = install(
        trace("holistic"), "HolisticTraceAnalysis==0.5.0", "pandas<3", "setuptools<80"
    )
    if not python:
        print("holistic: without HolisticTraceAnalysis")
        return
    s = about_runs(program, trace, "hta", "rank.json", env=dict(os.environ, HTA_PYTHON=python))
    if s:
        divide("holistic", s, "hta/wall", "ours/wall", ">=50.0", "wall", statistics.median)
        divide("holistic/processor", s, "hta/cpu", "ours/cpu", how=statistics.median)
        divide("holistic/memory", s, "ours/tree", "hta/tree", "<=0.05", "of all processes", max)


def install(where, *packages):
    """Returns a Python with PACKAGES, or None."""
    if SMOKE:
        return None
    if not os.path.exists(os.path.join(where, "done")):
        venv.create(where, with_pip=True, clear=True)
        if (
            subprocess.run(
                [os.path.join(where, "bin", "python"), "-m", "pip", "install", "-q", *packages],
                check=False,
            ).returncode
            != 0
        ):
            return None
        with open(os.path.join(where, "done"), "w", encoding="ascii"):
            pass
    return os.path.join(where, "bin", "python")


def views(program, trace):
    """Measure all views of the plugin, for its own sample enlarged 20 times."""
    path, s = trace("plugin.json"), {}
    if not os.path.exists(path):
        print("views: without the trace")
        return
    python = install(trace("plugin"), "torch-tb-profiler", "setuptools<80")
    for i in times(10):
        add(s, "ours-", program("questions"), "views", path, 2)
        if i == 4 and python:
            add(s, "plugin-", python, "-c", PLUGIN, path, trace(""))
    if not python:
        print("views: without torch-tb-profiler")
        return
    divide("views/plugin", s, "plugin-wall", "ours-wall", ">=60.0", "wall", statistics.median)
    divide("views/plugin-memory", s, "ours-rss", "plugin-rss", "<=0.05", "peak of memory", max)


def numbers(program, trace):
    """The first numbers of the overview of the plugin's sample, by TensorBoard with the plugin."""
    samples = os.path.join(ROOT, "..", "shared", "data", "tb_samples")
    if not os.path.exists(samples) or not shutil.which("chromium"):
        print("numbers: without the sample or chromium")
        return
    python = install(
        trace("tensorboard"),
        "tensorboard==2.21.*",
        "torch-tb-profiler==0.4.3",
        "pandas<3",
        "setuptools<80",
        "numpy",
    )
    peer = [os.path.join(os.path.dirname(python), "tensorboard")] if python else []
    s = add(
        {},
        "",
        "node",
        os.path.join(HERE, "first_numbers.mjs"),
        program("../opscope"),
        samples,
        "resnet50_num_workers_0",
        *peer,
    )
    if not peer:
        print("numbers: without torch-tb-profiler")
        return
    words = "from the command, s; theirs without a browser"
    divide("numbers/view", s, "plugin", "view", ">=60.0", words, statistics.median)
    divide("numbers/html", s, "plugin", "html", ">=60.0", words, statistics.median)


def view(program, trace):
    """Measure the viewer's server."""
    s = add(
        {},
        "",
        sys.executable,
        os.path.join(HERE, "view.py"),
        program("../opscope"),
        trace("1g.json"),
    )
    show("view/page", statistics.median(s["page"]), "<=0.10", "s from the command to its page")
    show(
        "view/table",
        statistics.median(s["table"]) - statistics.median(s["command"]),
        "<=0.10",
        "s after `opscope table` alone, %.3g" % statistics.median(s["command"]),
    )
    divide(
        "view/cells",
        s,
        "cells",
        "echo",
        "<=2.00",
        "s a question of %d bytes, by sending them" % s["cells-bytes"][0],
    )
    show(
        "view/memory",
        (s["memory-100"][0] - s["memory"][0]) / 2**20,
        "<=64.0",
        "MiB more with 100 clients; %.4g before" % (s["memory"][0] / 2**20),
    )


def frames(program, trace):
    """Measure frames of the page: 10 million ranges on a track, 4 million on 40 and on 2,000, and
    tables of as many."""
    if not shutil.which("chromium") or not os.path.exists(
        os.path.join(ROOT, "web", "node_modules", "playwright-core")
    ):
        print("frames: without chromium, or what `npm ci` puts into web/")
        return
    all_of_them = (
        ("one", 10000000, 1, "timeline"),
        ("forty", 4000000, 40, "timeline"),
        ("thousands", 4000000, 2000, "timeline"),
        ("table", 4000000, 40, "table"),
        ("rows", 10000000, 1, "table"),
    )
    for name, n, tracks, what in (all_of_them[0], all_of_them[-1]) if SMOKE else all_of_them:
        n //= 1000 if SMOKE else 1
        path = trace("slices-%d.json" % tracks)
        if not os.path.exists(path):
            subprocess.run(
                [
                    sys.executable,
                    os.path.join(HERE, "make_slices.py"),
                    path,
                    str(n),
                    str(tracks),
                ],
                check=True,
            )
        s = add(
            {},
            "",
            "node",
            os.path.join(HERE, "frames.mjs"),
            program("../opscope"),
            path,
            what,
            *(["1"] if SMOKE else []),
        )
        show("frames/" + name, s["frame"][0], "<=17.0", "ms, the median of %d" % s["frames"][0])
        show(
            "frames/%s-worst" % name,
            s["worst"][0],
            "<=50.0",
            "ms; 99 of 100 within %.3g" % s["p99"][0],
        )
        if what == "table":
            show(
                "frames/%s-last" % name,
                s["last"][0],
                "-",
                "ms until the last of %d rows is there" % s["rows"][0],
            )
    if os.path.exists(trace("memory.json")):
        s = add(
            {},
            "",
            "node",
            os.path.join(HERE, "frames.mjs"),
            program("../opscope"),
            trace("memory.json"),
            "memory",
        )
        for name in ("curve", "drawn", "all"):
            show(
                "frames/memory-" + name,
                statistics.median(s[name]),
                "-" if name == "all" else "<=100",
                "ms from a drag, the median of %d; at most %.3g" % (len(s[name]), max(s[name])),
            )


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


def gzip_of_text(program, trace):
    """Compare a .json.gz with what gzip -6 makes of the same text."""
    opscope, text = program("../opscope"), os.path.join(trace("scratch"), "text.json")
    columns, s = os.path.join(trace("scratch"), "columns.osc"), {}
    subprocess.run([opscope, "export", trace("1g.json"), "-o", columns], check=True)
    subprocess.run([opscope, "export", columns, "-o", text], check=True)
    for _ in times(3):
        add(s, "ours-", opscope, "export", columns, "-o", text + ".gz")
        add(s, "gzip-", "sh", "-c", 'exec gzip -6 <"$0" >"$0.6"', text)
    show(
        "export/gzip-size",
        os.path.getsize(text + ".gz") / os.path.getsize(text + ".6"),
        "<=1.05",
        "size by that of gzip -6",
    )
    divide(
        "export/gzip-time",
        s,
        "gzip-wall",
        "ours-wall",
        ">=2.00",
        "gzip -6 by ours, wall, s",
        min,
    )


def export(program, trace):
    s = add({}, "", program("export"), trace("1g.json"))
    divide("export/text", s, "text", "loop", "<=1.20", "s a byte, by a loop of records", min)
    if "gz" in s:
        divide(
            "export/gz",
            s,
            "gz",
            "deflate",
            "<=1.10",
            "by the deflater alone, s; %.1f %% of the text" % (100 * s["packed"][0]),
            min,
        )
        divide("export/gz-cores", s, "one", "two", ">=1.80", "one core by two, wall, s", min)
        gzip_of_text(program, trace)
    size = s["osc-bytes"][0]
    show(
        "export/osc",
        size / os.path.getsize(trace("1g.json")),
        "-",
        "size by the original's; %.2f GB/s" % (size / 1e9 / s["osc"][0]),
    )
    divide("reopen", s, "core-check", "core-map", "<=2.00", "by adding up, one core, s", min)
    divide("reopen/all", s, "all-check", "all-map", "-", "all processors, wall, s", min)
    divide("reopen/open", s, "all-open", "all-map", "-", "without a look at columns, s", min)


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


def itt(program, trace):
    s = add(
        {},
        "",
        program("record"),
        "itt",
        program("../libopscope-collect.so"),
        env=dict(os.environ, OPSCOPE_OUT=trace("scratch")),
    )
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
    s = add(
        {},
        "",
        program("record"),
        "nvtx",
        program("../libopscope-collect.so"),
        env=dict(os.environ, OPSCOPE_OUT=trace("scratch")),
    )
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


def show_all(*command, env=None):
    """Run a bench that says all itself."""
    print("# %s" % " ".join(os.path.basename(str(c)) for c in command[1:3]), flush=True)
    subprocess.run(list(map(str, command)), check=True, env=env)


def python_scopes(program, trace):
    if not os.path.isdir(program("../python")):
        print("python_scopes: the package was not built")
        return
    show_all(
        sys.executable,
        os.path.join(HERE, "python_scopes.py"),
        env=dict(os.environ, PYTHONPATH=program("../python")),
    )


def thousand(program, trace):
    """A thousand ranks; their traces are those of a run of eight."""
    run = os.path.join(ROOT, "..", "shared", "data", "wild", "cuda_v100_dlrm_8ranks")
    if not os.path.isdir(run):
        print("thousand: without the run of eight ranks")
        return
    show_all(
        sys.executable,
        os.path.join(HERE, "thousand.py"),
        program("../opscope"),
        trace("scratch"),
        run,
        *((8, 1) if SMOKE else ()),
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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--data", default=os.environ.get("OPSCOPE_BENCH_DATA"))
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    where = os.path.abspath(build(args.build))
    data = os.path.abspath(
        args.data or os.path.join(ROOT, "build-bench", "smoke" if SMOKE else "data")
    )
    failed = 0

    subprocess.run(
        [os.path.join(HERE, "data.sh"), data],
        check=True,
        env=dict(
            os.environ,
            OPSCOPE_BENCH_LARGE="1" if args.large else "0",
            OPSCOPE_BENCH_SMOKE="1" if SMOKE else "0",
        ),
    )
    if SMOKE:
        os.environ["BENCH_SMOKE"] = "1"
    print("%-24s %8s %-7s" % ("measure", "ratio", "limit"))
    for bench in (
        load,
        threads,
        process,
        operators,
        memory,
        tables,
        ranks,
        spread,
        compared,
        holistic,
        views,
        numbers,
        view,
        frames,
        record,
        recorders,
        export,
        flush,
        windows,
        itt,
        nvtx,
        opencl,
        level_zero,
        cupti,
        python_scopes,
        thousand,
        torch,
    ):
        if args.only not in bench.__name__:
            continue
        start, used = time.perf_counter(), sum(os.times()[:4])
        with tempfile.TemporaryDirectory(dir=data) as scratch:
            try:
                bench(
                    lambda name: os.path.join(where, "bench", name),
                    lambda name, s=scratch: (
                        s if name == "scratch" else os.path.join(data, name)
                    ),
                )
            except Exception as error:  # the other benches go on
                print("run.py: %s: %r" % (bench.__name__, error), file=sys.stderr)
                failed += 1
        if SMOKE:
            took = time.perf_counter() - start, sum(os.times()[:4]) - used
            print("# %s took %.1f s, %.1f s of processor" % (bench.__name__, *took), flush=True)
    print(
        "%d within their limits, %d not, %d failed to run"
        % (COUNTS["ok"], COUNTS["MISS"], failed)
    )
    sys.exit(failed > 0)


main()
