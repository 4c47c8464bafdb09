# SPDX-License-Identifier: Apache-2.0
"""What the tests of the public headers and of installed files share."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDER = ("opscope.h", "record.h", "source.h")  # what libopscope has
FUNCTION = re.compile(
    r"\b(?:OSC_API|OSC_INLINE)\s+(?:OSC_MUST_USE\s+)?"
    r"([\w \*]+?)\b(osc_\w+)\s*\(([^;{]*)\)\s*[;{]"
)


def text_of(header):
    """A header without comments."""
    return re.sub(
        r"/\*.*?\*/", "", pathlib.Path(header).read_text(encoding="utf-8"), flags=re.S
    )


def functions(text):
    """The type, name and parameters of each public function in the text of a header."""
    return [
        (kind.strip(), name, " ".join(words.split()))
        for kind, name, words in FUNCTION.findall(text)
    ]


def run(*words, **options):
    """What a command prints; the test ends if it fails."""
    done = subprocess.run(
        [str(word) for word in words], text=True, capture_output=True, check=False, **options
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}:\n{done.stdout}{done.stderr}")
    return done.stdout


def find(folder, name):
    """The only file of this name in FOLDER."""
    found = sorted(folder.rglob(name))
    if len(found) != 1:
        sys.exit(f"{name} is installed {len(found)} times")
    return found[0]
