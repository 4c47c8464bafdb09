# SPDX-License-Identifier: Apache-2.0
"""Benches of traces: loading, tables, many ranks, comparing, exporting."""

import os
import shutil
import statistics
import subprocess
import sys

from measures import (
    HERE,
    ROOT,
    SMOKE,
    add,
    divide,
    first,
    install,
    show,
    show_all,
    steady,
    times,
)

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


BENCHES = (
    load,
    threads,
    process,
    operators,
    memory,
    tables,
    ranks,
    spread,
    thousand,
    compared,
    holistic,
    views,
    export,
)
