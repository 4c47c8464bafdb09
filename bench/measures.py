# SPDX-License-Identifier: Apache-2.0
"""What the benches of run.py are made of: run a program, and show what its samples say.

The programs print many samples, "NAME NUMBER"; a measure is the quotient of two medians. The
first sample is slower because its memory is fresh; it counts only as NAME/first.

A bench is a function of PROGRAM and TRACE: program(NAME) is the path of a program of the build, from
its folder bench/; trace(NAME) that of a trace of data.sh, and trace("scratch") of a folder that is
empty before each bench.
"""

import contextlib
import os
import statistics
import subprocess
import sys
import time
import venv

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
SMOKE = "--smoke" in sys.argv
COUNTS = {"ok": 0, "MISS": 0, "": 0}  # measures within their limit, not, without one


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


def show_all(*command, env=None):
    """Run a bench that says all itself."""
    print("# %s" % " ".join(os.path.basename(str(c)) for c in command[1:3]), flush=True)
    subprocess.run(list(map(str, command)), check=True, env=env)


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
