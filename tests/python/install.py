#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: python-install
# args: --torch {torch}
# mode: full
"""Install the package as a new user would, and do what docs/record.md shows.

    python3 tests/python/install.py [--torch PYTHON]

Makes a new environment, for which pip downloads the build requirements; runs the page's Python
code in it, then the command: it must find its libraries, and the headers must exist. With a PYTHON
of the same version that has torch, a training loop is recorded, too.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*words, **options):
    print("$", *map(str, words), flush=True)
    return subprocess.run(
        [str(word) for word in words], check=True, text=True, stdout=subprocess.PIPE, **options
    ).stdout


TRAIN = """
import torch
from torch.utils.data import DataLoader
model = torch.nn.Linear(4, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if __name__ == "__main__":
    for batch in DataLoader(torch.randn(20, 4), 4, num_workers=1):
        model(batch).sum().backward()
        optimizer.step()
    with torch.profiler.profile() as prof:
        model(batch)
    print(type(prof).__module__)
"""


def record_torch(torch, python, folder, clean):
    """Record a training loop with the package installed for PYTHON and the torch of another."""
    say = "import {0}, os; print(os.path.dirname(os.path.dirname({0}.__file__)))"
    place = run(python, "-c", say.format("opscope"), cwd=folder, env=clean).strip()
    pathlib.Path(place, "torch.pth").write_text(run(torch, "-c", say.format("torch")))
    program = pathlib.Path(folder, "train.py")
    program.write_text(TRAIN)
    for option, module in (
        ("--torch", "torch.profiler.profiler"),
        ("--torch=replace", "opscope.torch.profiler"),
    ):
        printed = run(
            "opscope",
            "run",
            "--strict",
            option,
            "-o",
            "of" + option,
            "--",
            python,
            program,
            cwd=folder,
            env=clean,
        )
        assert printed == module + "\n", printed
        printed = run(
            "opscope",
            "table",
            "operators",
            "--columns",
            "name,calls",
            "--format",
            "csv",
            "of" + option,
            cwd=folder,
            env=clean,
        )
        assert "aten::addmm," + ("1" if "=" in option else "6") in printed, printed

    if (
        os.path.isdir("/etc/OpenCL/vendors")
        and shutil.which("pkg-config")
        and subprocess.run(["pkg-config", "--exists", "OpenCL"], check=False).returncode == 0
    ):
        printed = run(
            python,
            ROOT / "examples/vendor/train.py",
            cwd=folder,
            env={**clean, "TORCH_EXTENSIONS_DIR": folder},
        )
        assert "tinyLaunchKernel" in printed, printed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--torch")
    torch = parser.parse_args().torch
    with tempfile.TemporaryDirectory() as folder:
        env = pathlib.Path(folder, "env")
        run(sys.executable, "-m", "venv", env)
        python = env / "bin/python"
        run(python, "-m", "pip", "install", "--quiet", ROOT, "pandas", "pyarrow")
        page = (ROOT / "docs/record.md").read_text()
        block = re.search(r"```python\n(import opscope\n.*?)```", page, re.S)[1]
        program = pathlib.Path(folder, "page.py")
        program.write_text(block)
        clean = {"PATH": f"{env}/bin:/usr/bin:/bin", "HOME": folder}
        printed = run(python, program, cwd=folder, env=clean)
        assert "ProfilerStep" in printed or "label" in printed, printed
        printed = run(
            "opscope",
            "table",
            "operators",
            "--limit",
            "1",
            ROOT / "tests/data/demo.pt.trace.json.gz",
            cwd=folder,
            env=clean,
        )
        assert "aten::" in printed, printed
        program.write_text("from opscope import record\nwith record.scope('seen'):\n    pass\n")
        run(
            "opscope",
            "run",
            "--strict",
            "-o",
            "out",
            "--",
            python,
            program,
            cwd=folder,
            env=clean,
        )
        printed = run(
            "opscope", "table", "events", "--format", "csv", "out", cwd=folder, env=clean
        )
        assert ",seen," in printed, printed
        where = run(
            python,
            "-c",
            "import opscope; print(opscope.get_include());print(opscope.get_library_dir())",
            cwd=folder,
            env=clean,
        ).split()
        for name in ("opscope.h", "record.h", "source.h", "trace.h"):
            assert os.path.exists(os.path.join(where[0], "opscope", name)), name
        assert os.path.exists(os.path.join(where[1], "libopscope-collect.so"))
        source = pathlib.Path(folder, "user.c")
        source.write_text(
            "#include <opscope/record.h>\nint main(void) { osc_step(); return 0; }\n"
        )
        run(
            "cc",
            source,
            "-o",
            source.with_suffix(""),
            "-I" + where[0],
            "-L" + where[1],
            "-lopscope",
            "-Wl,-rpath," + where[1],
        )
        run(source.with_suffix(""))
        if torch:
            record_torch(torch, python, folder, clean)
        run(python, "-m", "pip", "uninstall", "--quiet", "--yes", "opscope")
        assert not os.path.exists(env / "bin/opscope")


main()
