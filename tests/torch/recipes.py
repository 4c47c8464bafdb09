#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: torch-recipes
# with: {torch}
# args: --opscope {gcc}/opscope
# env: PYTHONPATH={module}
# turn: 7
"""Run the workflows of docs/ci and examples/resnet, as their readers do.

    python3 tests/torch/recipes.py --opscope COMMAND

The lines of a workflow are run by a shell in a repository that is made up, whose change does nothing:
its training is TRAIN.py, pip installs nothing, and `opscope` and `python` are those of this test. Needs
torch and the package. Ends with `N passed, N failed`; exit status 1 on any failure.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

from support import Tests

ROOT = Path(__file__).resolve().parents[2]
TRAIN = """
import sys
import torch

model = torch.nn.Linear(64, 64)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(int(sys.argv[2])):
    optimizer.zero_grad()
    model(torch.randn(32, 64)).sum().backward()
    optimizer.step()
"""
# The gate of the workflows: whether it breaks is up to the machine, whose runs differ.
BROKEN = 3


def commands(workflow: Path) -> list[str]:
    """What WORKFLOW runs: each `run` of GitHub's, and the lines of the `script` of GitLab's."""
    text = workflow.read_text(encoding="utf-8")
    found = []
    for block, line in re.findall(
        r"^ *(?:- )?run: (?:\|\n((?: {10}.*\n)+)|(.+)\n)", text, re.MULTILINE
    ):
        found.append(textwrap.dedent(block) or line)
    script = re.search(r"^  script:\n((?:    .*\n)+)", text, re.MULTILINE)
    if script:
        found += re.findall(r"^    - (.*)$", script[1], re.MULTILINE)
    return [re.sub(r"\$\{\{ [\w.]*base\.sha \}\}", "$BASE", x) for x in found]


def place(opscope: Path, folder: Path) -> dict[str, str]:
    """A repository with a base and a change, and the variables of a workflow in it."""
    work, bin_ = folder / "work", folder / "bin"
    bin_.mkdir()
    work.mkdir()
    programs = {"opscope": opscope, "python": Path(sys.executable)}
    for name, path in programs.items():
        (bin_ / name).write_text(f'#!/bin/sh\nexec "{path}" "$@"\n')
    (bin_ / "pip").write_text("#!/bin/sh\n")
    for path in bin_.iterdir():
        path.chmod(0o755)
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(work))
    subprocess.run([*git, "init", "-q"], check=True)
    for text in (TRAIN, TRAIN + "\n# changed\n"):
        (work / "TRAIN.py").write_text(text)
        subprocess.run([*git, "add", "TRAIN.py"], check=True)
        subprocess.run([*git, "commit", "-q", "-m", "change"], check=True)
    base = subprocess.run(
        [*git, "rev-parse", "HEAD~1"], stdout=subprocess.PIPE, text=True, check=True
    ).stdout.strip()
    return {
        **os.environ,
        "PATH": f"{bin_}:{os.environ['PATH']}",
        "BASE": base,
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": base,
        "CI_PROJECT_DIR": str(work),
        "GITHUB_WORKSPACE": str(work),
        "GITHUB_STEP_SUMMARY": str(folder / "summary.txt"),
    }


def check_workflow(tests: Tests, opscope: Path, workflow: Path) -> None:
    """Each line succeeds, but that a gate may break, and leaves its report."""
    lines = commands(workflow)
    tests.check(f"{workflow.name}: lines", len(lines) >= 5, str(lines))
    with tempfile.TemporaryDirectory(prefix="recipe-") as scratch:
        folder = Path(scratch)
        env = place(opscope, folder)
        for line in lines:
            done = subprocess.run(
                ["bash", "-e", "-c", line],
                cwd=folder / "work",
                env=env,
                capture_output=True,
                text=True,
                check=False,
            )
            is_gate = "--fail-on" in line and done.returncode == BROKEN
            said = done.stdout + done.stderr
            tests.check(
                f"{workflow.name}: {line.strip()[:60]}", done.returncode == 0 or is_gate, said
            )
        tests.check(f"{workflow.name}: report", (folder / "work/gate.xml").is_file(), said)
        if "GITHUB_STEP_SUMMARY" in "".join(lines):
            summary = folder / "summary.txt"
            tests.check(f"{workflow.name}: summary", "step" in summary.read_text(), said)


def check_resnet(tests: Tests, opscope: Path) -> None:
    """The example prints torch's table, and its recording has its labels."""
    with tempfile.TemporaryDirectory(prefix="resnet-") as folder:
        program = ROOT / "examples/resnet/train.py"
        done = subprocess.run(
            [sys.executable, program, "--steps", "2"],
            env=dict(os.environ, OPSCOPE_OUT=folder),
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
        )
        tests.check_equal("resnet: status", done.returncode, 0)
        tests.check(
            "resnet: table", "Self CPU time total" in done.stdout, done.stdout + done.stderr
        )
        words = ["table", "ranges", folder, "--format", "json", "--limit", "0"]
        asked = subprocess.run([opscope, *words], capture_output=True, text=True, check=False)
        tests.check(
            "resnet: recorded", "load batch" in asked.stdout, asked.stdout + asked.stderr
        )
        tests.check("resnet: rows", bool(json.loads(asked.stdout or "[]")), asked.stderr)


def main() -> int:
    """Exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--opscope", type=lambda p: Path(p).resolve(), required=True)
    opscope = parser.parse_args().opscope
    tests = Tests(str(opscope))
    for workflow in sorted((ROOT / "docs/ci").glob("*.yml")):
        check_workflow(tests, opscope, workflow)
    check_resnet(tests, opscope)
    return tests.end()


if __name__ == "__main__":
    sys.exit(main())
