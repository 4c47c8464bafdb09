#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: diff-junit
# with: {peers}
# args: --opscope {gcc}/opscope
"""Check that the reports of `opscope diff --report X.xml` are what continuous integration reads.

usage: junit.py --opscope FILE

Needs the packages xmlschema and junitparser. Reports of gates that hold and break, over names and
gates with any bytes, must follow the rules in junit.xsd, and a reader must find in them the
outcome that the exit status has. Reports that were spoilt in one place must break the rules. The
last line is "N passed, N failed".
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import junitparser
import xmlschema

HERE = pathlib.Path(__file__).resolve().parent
NAMES = [
    "aten::relu",
    "<b>&\"'|`[x](y)",
    "]]>",
    "\x01\x1f\x7f tab\tline\nreturn\r",
    "\ufffe\uffff",
    "\ud800 alone",
    "λ🙂" * 300,
    "void f<a&, b&&>(c<d>)",
    "<!-- -->",
    "&#0;&amp;",
    " ",
    "-",
]
GATES = [
    "significant",
    "step.total > 5% and significant",
    "step.total > 1s",
    "not significant",
    "step.total > 5% or (significant and step.other > 0.5 ms)",
    "operator('aten::conv2d').self > 500us",
]
# A change of a report that breaks the rules: its name, a pattern, and what takes its place.
SPOILT = [
    ("no name of a suite", r' name="opscope diff"', ""),
    ("no name of a case", r'(<testcase [^>]*) name="[^"]*"', r"\1"),
    ("an empty name of a case", r'(<testcase [^>]*) name="[^"]*"', r'\1 name=""'),
    ("no class", r' classname="[^"]*"', ""),
    ("no time of a case", r'(<testcase [^>]*) time="0"', r"\1"),
    ("a negative time", r'(<testcase [^>]*) time="0"', r'\1 time="-1"'),
    ("a count of tests", r'(<testsuite [^>]*) tests="1"', r'\1 tests="2"'),
    ("a count of failures", r'(<testsuite [^>]*) failures="1"', r'\1 failures="0"'),
    ("another sum of failures", r'(<testsuites [^>]*) failures="1"', r'\1 failures="0"'),
    ("a failure without a type", r'(<failure) type="[^"]*"', r"\1"),
    ("two outcomes", r"(<failure)", r"<skipped/>\1"),
    (
        "properties at the end",
        r"(?s)( *<properties>.*</properties>\n)(.*</testcase>\n)",
        r"\2\1",
    ),
    ("an element that is none of these", r"<system-out>", r"<pre/><system-out>"),
    ("a tag that is not closed", r"</testcase>", ""),
    ("a control character", r"<system-out>", "<system-out>\x01"),
]


class Count:
    """What was checked."""

    def __init__(self):
        self.passed = self.failed = 0

    def check(self, what, wrong):
        """WRONG says what is wrong with WHAT; or it is empty or None."""
        if wrong:
            self.failed += 1
            print("FAILED %s: %s" % (what, str(wrong)[:400]))
        else:
            self.passed += 1


def write(path, slow, name, n_steps=8):
    """A trace with an operator called NAME, which takes longer if it is SLOW."""
    events, at = [], 1000
    for step in range(n_steps):
        time = (900 if slow else 100) + step * 7 % 5 * 3
        for what, category, start, dur in (
            ("ProfilerStep#%d" % step, "user_annotation", at, time + 120),
            ("aten::conv2d", "cpu_op", at + 5, time + 20),
            (name, "cpu_op", at + 10, time),
        ):
            events.append(
                {
                    "ph": "X",
                    "cat": category,
                    "name": what,
                    "pid": 7,
                    "tid": 1,
                    "ts": start,
                    "dur": dur,
                }
            )
        at += time + 130
    path.write_text(json.dumps({"traceEvents": events}))
    return path


def reasons(schema, report):
    """How the text REPORT breaks the rules."""
    try:
        return "; ".join(
            error.reason or str(error)
            for error in schema.iter_errors(xmlschema.XMLResource(report))
        )
    except xmlschema.XMLResourceError as error:
        return str(error)


def outcome(path):
    """What a reader finds in the report: its cases, and the texts of failures."""
    (suite,) = junitparser.JUnitXml.fromfile(str(path))
    cases = list(suite)
    return (
        suite,
        cases,
        [r.text for case in cases for r in case.result if isinstance(r, junitparser.Failure)],
    )


def check_gate(count, schema, opscope, runs, gate):
    """Check the report of GATE; returns its text if it broke."""
    report = runs[0].parent / "report.xml"
    report.unlink(missing_ok=True)
    done = subprocess.run(
        [opscope, "diff", *runs, "--fail-on", gate, "--report", report],
        capture_output=True,
        check=False,
    )
    what = "%s of %r" % (gate, runs[1].name)
    if done.returncode not in (0, 3):
        count.check(what, done.stderr.decode(errors="replace"))
        return None
    text = report.read_text(encoding="utf-8")
    count.check(what, reasons(schema, text))
    suite, cases, failures = outcome(report)
    broke = done.returncode == 3
    count.check(
        "the outcome of " + what,
        len(cases) != 1
        or cases[0].name != gate
        or len(failures) != broke
        or (suite.tests, suite.failures, suite.errors) != (1, broke, 0)
        or (broke and not gate.startswith("not") and "instead of" not in failures[0]),
    )
    count.check(
        "the runs in " + what,
        [(p.name, p.value) for p in suite.properties()]
        != [("base", str(runs[0])), ("new", str(runs[1]))],
    )
    return text if broke else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--opscope", required=True)
    opscope = str(pathlib.Path(parser.parse_args().opscope).resolve())
    schema = xmlschema.XMLSchema11(str(HERE / "junit.xsd"))
    count, broken = Count(), None
    with tempfile.TemporaryDirectory() as folder:
        for number, name in enumerate(NAMES):
            fast, slow = (
                write(pathlib.Path(folder, "%d <&%d>.json" % (number, i)), i, name)
                for i in range(2)
            )
            quoted = name.replace("'", "''")
            gates = GATES + ["operator('%s').self > 1%%" % quoted] * quoted.isprintable()
            for gate in gates:
                broken = check_gate(count, schema, opscope, (fast, slow), gate) or broken
                check_gate(count, schema, opscope, (fast, fast), gate)
    for what, pattern, instead in SPOILT:
        text, n = re.subn(pattern, instead, broken, count=1)
        count.check(
            "spoilt: " + what,
            (n != 1 and "the report has no %s" % pattern)
            or (not reasons(schema, text) and "the rules do not see it"),
        )
    print("%d passed, %d failed" % (count.passed, count.failed))
    return count.failed > 0


if __name__ == "__main__":
    sys.exit(main())
