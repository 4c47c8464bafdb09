#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: alive-test
# mode: fast
"""Check that check_alive.py finds made-up files that nothing runs, and reports nothing else."""

import pathlib
import subprocess
import sys
import tempfile

TOOL = pathlib.Path(__file__).with_name("check_alive.py")

TREE = {
    "meson.build": "subdir('bench')\nsubdir('src')\n",
    "bench/meson.build": "executable('load', 'load.c')\n",
    "bench/load.c": '#include "bench.h"\n#include "support/unit.h"\n',
    "bench/bench.h": "",
    "tests/support/unit.h": "",
    "src/meson.build": "# nobody judges src/ here\n",
    "src/other.c": "",
    "tests/run/all.py": "# step: all\n"
    '"""Runs."""\nimport support\nfrom twin import tables\n'
    'EXAMPLES = ROOT / "examples/cxx"\n'
    'for name in ("pool", "server"):\n    build(EXAMPLES / f"{name}.cpp")\n'
    'PLAIN = ROOT / "tests/run/stub.c"\nshutil.copytree(ROOT / "examples/rust", place)\n'
    'for file in (ROOT / "docs/ci").glob("*.yml"):\n    pass\n',
    "tests/run/support.py": "",
    "tests/run/stub.c": "",
    "tests/oracle/twin/__init__.py": "",
    "tests/oracle/twin/tables.py": "from . import names\n",
    "tests/oracle/twin/names.py": "",
    "examples/cxx/pool.cpp": "",
    "examples/cxx/server.cpp": "",
    "examples/rust/src/main.rs": "",
    "docs/ci/github.yml": "",
    "tests/golden/run.py": "# step: golden\nHERE.rglob('x')\nscripts = HERE.glob(\"*.sh\")\n",
    "tests/golden/list.sh": "",
    "tests/view/page.mjs": '// step: page\nimport { open } from "./browser.mjs";\n',
    "tests/view/browser.mjs": "",
    "demo": "#!/usr/bin/env bash\n# step: demo\ntools/make.sh\n",
    "tools/make.sh": "",
    "tests/fuzz/corpus/api/one": "",
}
# What nothing runs: each is added to TREE alone, with what else is changed.
DEAD = {
    "bench/other.c": {},
    "bench/other.py": {"bench/load.c": TREE["bench/load.c"] + "/* as other.py */\n"},
    "tests/run/lost.py": {"tests/run/support.py": '"""As lost.py does."""\n# see lost.py\n'},
    "tests/view/lost.mjs": {"tests/view/browser.mjs": "// like lost.mjs\n"},
    "tests/support/lost.h": {},
    "tests/oracle/twin/lost.py": {},
    "examples/cxx/lost.cpp": {},
    "examples/c/pool.cpp": {},
    "tools/pictures.sh": {},
    "tools/lost": {},
    # One that is named by a dead one only is dead, too.
    "tests/run/first.py": {"tests/run/second.py": "import first\n"},
}


def run(tree):
    """What the tool says of a tree."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        subprocess.run(["git", "init", "-q", folder], check=True)
        for name, text in tree.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run(
            [sys.executable, TOOL, folder], stdout=subprocess.PIPE, text=True, check=False
        )
    return {line.split(":")[0] for line in done.stdout.splitlines()}, done.returncode


def main():
    passed = failed = 0
    cases = [({}, set())] + [({**more, name: ""}, {name}) for name, more in DEAD.items()]
    for changes, wanted in cases:
        found, status = run({**TREE, **changes})
        is_good = wanted <= found and len(found) <= len(changes) and status == bool(wanted)
        passed += is_good
        failed += not is_good
        if not is_good:
            print(f"FAILED {sorted(wanted)}: found {sorted(found)}, status {status}")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
