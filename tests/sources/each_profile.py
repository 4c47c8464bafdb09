# SPDX-License-Identifier: Apache-2.0
"""All kinds of profiles of the host, of a device alone and of both, and what each has of a device:
with and without OPSCOPE_OUT, under `opscope run --torch` and `--torch=replace`."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from place import same

# PREPARE defines begin(), which launches one kernel KERNEL, and wait(), which waits for all.
SCRIPT = """
import sys, torch
from torch.autograd import profiler_legacy
{prepare}
if sys.argv[1] == "opscope":
    from opscope.torch import ProfilerActivity, profile, profiler_legacy, schedule
else:
    from torch.profiler import ProfilerActivity, profile, schedule

def work():
    begin()
    wait()
    torch.ones(2) + 1

def tell(*what, prof):
    averages = prof.key_averages()
    n_kernels = sum(a.count for a in averages
                    if a.self_device_time_total > 0 and {kernel!r} in f" {{a.key}} ")
    print(*what, n_kernels, any(a.key == "aten::add" for a in averages),
          {kernel!r} in averages.table(), sep="|")

CPU, DEVICE = ProfilerActivity.CPU, ProfilerActivity.{activity}
work()  # before all profiles
for which in ([CPU], [DEVICE], [CPU, DEVICE]):
    words = "+".join("CPU" if a == CPU else "DEVICE" for a in which)
    with profile(activities=which) as prof:
        work()
    tell(words, "profile", prof=prof)
    with profile(activities=which, schedule=schedule(wait=1, warmup=1, active=2, repeat=1)) as prof:
        for _ in range(4):
            work()
            prof.step()
    tell(words, "schedule", prof=prof)
    with profile(activities=which, schedule=schedule(wait=3, warmup=1, active=1, repeat=1)) as prof:
        for step in range(5):
            begin()
            torch.ones(2) + 1
            if step == 4: wait()
            prof.step()
    tell(words, "unawaited", prof=prof)
    with profile(activities=which) as prof:
        with profile(activities=[CPU]) as inner:
            work()
        work()
    tell(words, "nested", prof=prof)
    print(any(a.key == "aten::add" for a in inner.key_averages()))
    if CPU in which and {legacy!r}:
        with profiler_legacy.profile(**({{{legacy!r}: True}} if DEVICE in which else {{}})) as prof:
            work()
        tell(words, "legacy", prof=prof)
"""


# Six steps, of which a schedule records the fourth and the fifth; only the fifth waits.
STEPS = """
import torch
from opscope import record
{prepare}
for step in range(6):
    record.step()
    begin()
    torch.ones(2)
    if step == 4: wait()
wait()
"""

# Ranges within ranges, within steps, with launches between; the device works later.
MARKED = """
import sys, torch
from opscope.torch import ProfilerActivity, profile, schedule
from torch.profiler import record_function
{prepare}
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.{activity}],
             schedule=schedule(wait=0, warmup=1, active=2, repeat=1)) as prof:
    for _ in range(3):
        with record_function("outer"):
            begin()
            with record_function("inner"):
                begin()
                torch.ones(2) + 1
                begin()
            begin()
        with record_function("launches nothing"):
            torch.ones(2)
        begin()
        wait()
        prof.step()
prof.export_chrome_trace(sys.argv[1])
for a in prof.key_averages():
    if a.is_user_annotation and a.self_device_time_total > 0:
        print(a.key, a.count, sep="|")
def counts(averages):
    return sorted((a.key, a.count, a.is_user_annotation, str(a.device_type)) for a in averages)
print(counts(prof.events().key_averages()) == counts(prof.key_averages()))
"""


def copies_of(events: list[dict]) -> dict[tuple, list]:
    """Start and end of the work in the ranges of a program on each queue, by the number of the
    range: of the work whose call has that range as the innermost one around it."""
    ranges = [e for e in events if e.get("cat") == "user_annotation"]
    calls = {
        e["args"]["correlation"]: e
        for e in events
        if "runtime" in e.get("cat", "") and "correlation" in e.get("args", {})
    }
    found: dict[tuple, list] = {}
    for work in events:
        if work.get("cat") not in ("kernel", "gpu_memcpy", "gpu_memset"):
            continue
        call = calls[work["args"]["correlation"]]
        around = [
            r
            for r in ranges
            if r["tid"] == call["tid"] and r["ts"] <= call["ts"] < r["ts"] + r["dur"]
        ]
        if not around:
            continue
        innermost = max(around, key=lambda r: r["ts"])
        span = found.setdefault(
            (innermost["name"], innermost["args"]["External id"], work["pid"], work["tid"]),
            [work["ts"], work["ts"] + work["dur"]],
        )
        span[0] = min(span[0], work["ts"])
        span[1] = max(span[1], work["ts"] + work["dur"])
    return found


def check_marked(
    script: Path, python: str, env: dict[str, str], activity: str, prepare: str
) -> None:
    """Ranges and steps stand on the queues, too, over what was launched in them."""
    script.write_text(MARKED.format(prepare=prepare, activity=activity))
    exported = script.with_suffix(".json")
    done = subprocess.run(
        [python, script, exported],
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    same((done.returncode, done.returncode and done.stderr), (0, 0))
    same(
        sorted(done.stdout.splitlines()),
        sorted(
            [
                "True",
                *(
                    f"{name}|{n}"
                    for name, n in (("ProfilerStep*", 2), ("outer", 2), ("inner", 2))
                ),
            ]
        ),
    )
    events = json.loads(exported.read_text())["traceEvents"]
    copies = {
        (e["name"], e["args"]["External id"], e["pid"], e["tid"]): e
        for e in events
        if e.get("cat") == "gpu_user_annotation"
    }
    expected = copies_of(events)
    same(len(expected), 6)
    same(set(copies), set(expected))
    for key, (start, end) in expected.items():
        same(
            (copies[key]["ts"], round(copies[key]["ts"] + copies[key]["dur"], 3)),
            (start, round(end, 3)),
        )


def wanted(legacy: str, is_always: bool) -> list[str]:
    """What SCRIPT prints: kernels, whether there are operators, whether the table has kernels."""
    lines = []
    for which in ("CPU", "DEVICE", "CPU+DEVICE"):
        has_device = is_always or which != "CPU"
        for kind, n in (("profile", 1), ("schedule", 2), ("unawaited", 1), ("nested", 2)):
            lines.append(f"{which}|{kind}|{n * has_device}|{which != 'DEVICE'}|{has_device}")
        lines.append("True")
        if which != "DEVICE" and legacy:
            lines.append(f"{which}|legacy|{int(has_device)}|True|{has_device}")
    return lines


def check(
    opscope: Path,
    folder: Path,
    python: str,
    env: dict[str, str],
    prepare: str,
    kernel: str,
    activity: str,
    legacy: str = "",
    is_always: bool = False,
    is_in_runs: bool = False,
) -> None:
    """Run SCRIPT in each way. LEGACY is the argument of the legacy profile for the device; with
    IS_ALWAYS its work is recorded whether it is asked for or not, with IS_IN_RUNS under `opscope
    run`, which asks for it itself."""
    script, out = folder / "each_profile_script.py", folder / "each-out"
    script.write_text(
        SCRIPT.format(prepare=prepare, kernel=kernel, activity=activity, legacy=legacy)
    )
    env = {name: value for name, value in env.items() if name != "OPSCOPE_OUT"}
    run = [opscope, "run", "--torch", "-o", folder / "each-run", "--"]
    replacing = [opscope, "run", "--torch=replace", "-o", folder / "each-replace", "--"]
    for before, module, given in (
        ([], "opscope", {}),
        ([], "opscope", {"OPSCOPE_OUT": str(out)}),
        (run, "opscope", {}),
        (replacing, "torch", {}),
    ):
        done = subprocess.run(
            [*before, python, script, module],
            env=env | given,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        said = [line for line in done.stdout.splitlines() if "|" in line or line == "True"]
        same((done.returncode, done.returncode and done.stderr), (0, 0))
        same(said, wanted(legacy, is_always or (is_in_runs and bool(before))))
        same(done.stderr.count("already running"), 1)
    script.write_text(STEPS.format(prepare=prepare))
    window = folder / "each-window"
    subprocess.run(
        [
            opscope,
            "run",
            "--torch",
            "--schedule",
            "wait=2,warmup=1,active=2,repeat=1",
            "-o",
            window,
            "--",
            python,
            script,
        ],
        env=env,
        timeout=300,
        check=True,
        capture_output=True,
    )
    rows = subprocess.run(
        [opscope, "table", "kernels", window, "--columns", "name,calls", "--format", "csv"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    same([int(row.rsplit(",")[-1]) for row in rows.splitlines()[1:]], [2])
    check_marked(script, python, env, activity, prepare)
    # Of each window of a profile one, and what the sources have before and after.
    names = [path.name for path in out.iterdir() if path.name.startswith("torch.")]
    same(len(names), 12 + 2 * bool(legacy))


def environment(opscope: Path) -> dict[str, str]:
    """That of a program which finds the package."""
    return os.environ | {"PYTHONPATH": str(opscope.parent / "python")}
