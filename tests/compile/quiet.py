#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check that the analyser does not disturb the programs that link it.

usage: quiet.py LIBRARY.a

It prints nothing, ends no process, reads no environment and changes no setting of the whole
process: none of its objects refers to a function that does. It exports only what opscope/trace.h
declares; everything else is hidden.
"""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FORBIDDEN = {
    "standard streams": "stdin stdout stderr printf vprintf puts putchar perror psignal "
    "__printf_chk __vprintf_chk isatty ttyname",
    "the end of the process": "exit _exit _Exit quick_exit abort atexit at_quick_exit raise",
    "the environment": "getenv secure_getenv setenv unsetenv putenv clearenv environ __environ",
    "arguments": "getopt getopt_long argp_parse optarg optind program_invocation_name",
    "settings of the process": "setlocale chdir fchdir umask setrlimit prctl signal sigaction "
    "sigprocmask mallopt sqlite3_config tzset srand",
    "state behind the scenes": "strtok localtime gmtime ctime asctime rand strerror_l getpwuid",
    "other programs": "system popen fork vfork execv execve execvp posix_spawn posix_spawnp",
}


def symbols(library, *words):
    text = subprocess.run(
        [os.environ.get("NM", "nm"), *words, library],
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ).stdout
    place = ""
    for line in text.splitlines():
        words = line.split()
        if line.endswith(":"):
            place = line[:-1]
        elif words:
            yield place, words[-1].split("@")[0]


def visible(library):
    """The functions and objects that a program which links LIBRARY may refer to."""
    text = subprocess.run(
        [os.environ.get("READELF", "readelf"), "-sW", library],
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ).stdout
    found = re.findall(
        r" (?:FUNC|OBJECT|TLS) +(?:GLOBAL|WEAK) +DEFAULT +(?!UND)\S+ (\S+)", text
    )
    return set(found)


def main():
    (library,) = sys.argv[1:]
    bad = []
    used = list(symbols(library, "--undefined-only"))
    for what, names in FORBIDDEN.items():
        bad += [
            "%s refers to %s: %s" % (place, name, what)
            for place, name in used
            if name in names.split()
        ]
    text = re.sub(
        r"/\*.*?\*/",
        "",
        "".join(
            (ROOT / "include/opscope" / name).read_text(encoding="utf-8")
            for name in ("opscope.h", "trace.h")
        ),
        flags=re.S,
    )
    declared = set(re.findall(r"OSC_API\b[^;{]*?\b(osc_\w+)\s*\(", text))
    seen = visible(library)
    bad += ["%s is not hidden" % name for name in sorted(seen - declared)]
    bad += [
        "%s is declared and not there" % name
        for name in sorted(
            set(
                re.findall(
                    r"\bosc_(?:set|ask|frame|catalog|cancel|request)\w*", " ".join(declared)
                )
            )
            - seen
        )
    ]
    if not used or not seen:
        bad.append("no symbols: " + library)
    sys.exit("\n".join(bad) if bad else 0)


main()
