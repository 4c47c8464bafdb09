#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Install the package as a new user would, and do what README says.

Makes an environment of its own, for which pip fetches what is needed to build; runs the Python of
README in it, then the command: it must find its libraries, and the headers must be there.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*words, **options):
    print("$", *map(str, words), flush=True)
    return subprocess.run([str(word) for word in words], check=True, text=True,
                          stdout=subprocess.PIPE, **options).stdout


def main():
    with tempfile.TemporaryDirectory() as folder:
        env = pathlib.Path(folder, "env")
        run(sys.executable, "-m", "venv", env)
        python = env / "bin/python"
        run(python, "-m", "pip", "install", "--quiet", ROOT, "pandas", "pyarrow")
        readme = (ROOT / "README.md").read_text()
        block = re.search(r"```python\n(import opscope\n.*?)```", readme, re.S)[1]
        program = pathlib.Path(folder, "readme.py")
        program.write_text(block)
        clean = {"PATH": f"{env}/bin:/usr/bin:/bin", "HOME": folder}
        printed = run(python, program, cwd=folder, env=clean)
        assert "ProfilerStep" in printed or "label" in printed, printed
        printed = run("opscope", "table", "operators", "--limit", "1",
                      ROOT / "tests/data/demo.pt.trace.json.gz", cwd=folder, env=clean)
        assert "aten::" in printed, printed
        program.write_text("from opscope import record\nwith record.scope('seen'):\n    pass\n")
        run("opscope", "run", "--strict", "-o", "out", "--", python, program, cwd=folder, env=clean)
        printed = run("opscope", "table", "events", "--format", "csv", "out", cwd=folder,
                      env=clean)
        assert ",seen," in printed, printed
        where = run(python, "-c", "import opscope; print(opscope.get_include());"
                    "print(opscope.get_library_dir())", cwd=folder, env=clean).split()
        for name in ("opscope.h", "record.h", "source.h", "trace.h"):
            assert os.path.exists(os.path.join(where[0], "opscope", name)), name
        assert os.path.exists(os.path.join(where[1], "libopscope-collect.so"))
        source = pathlib.Path(folder, "user.c")
        source.write_text("#include <opscope/record.h>\nint main(void) { osc_step(); return 0; }\n")
        run("cc", source, "-o", source.with_suffix(""), "-I" + where[0], "-L" + where[1],
            "-lopscope", "-Wl,-rpath," + where[1])
        run(source.with_suffix(""))
        run(python, "-m", "pip", "uninstall", "--quiet", "--yes", "opscope")
        assert not os.path.exists(env / "bin/opscope")


main()
