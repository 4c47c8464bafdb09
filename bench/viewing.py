# SPDX-License-Identifier: Apache-2.0
"""Benches of the viewer: its server, its first numbers, its frames."""

import os
import shutil
import statistics
import subprocess
import sys

from measures import HERE, ROOT, SMOKE, add, divide, install, show


def has_browser():
    """Whether there is Chromium, and what drives it."""
    driver = os.path.join(ROOT, "web", "node_modules", "playwright-core")
    return bool(shutil.which("chromium")) and os.path.exists(driver)


def numbers(program, trace):
    """The first numbers of the overview of the plugin's sample, by TensorBoard with the plugin."""
    samples = os.path.join(ROOT, "..", "shared", "data", "tb_samples")
    if not os.path.exists(samples) or not has_browser():
        print("numbers: without the sample, chromium, or what `npm ci` puts into web/")
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
    if not has_browser():
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


BENCHES = (numbers, view, frames)
