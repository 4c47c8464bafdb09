#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# step: check-test
# mode: fast
"""Check that ./check finds the steps of made-up trees, and chooses and orders them."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import builds
import provide
import run
import steps

TWIN = '''# SPDX-License-Identifier: Apache-2.0
# step: twin
# args: --opscope {gcc}/opscope --random 8
#   --seed {seed}
# full: --random 4000
# turn: 2
"""Compare with a twin: slowly. It takes long."""
'''
PAGE = """// SPDX-License-Identifier: Apache-2.0
// step: view-page
// needs: browser
// What a page
// shows.
import { open } from "./browser.mjs";
"""
TWO = """# step: one
# mode: fast
# step: two
# env: A={module} B="{torch|} c"
# mode: full
# with: {torch}
"""


class Tree(unittest.TestCase):
    """A tree with some files, of which each test makes steps."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def load(self, **files):
        for name, text in files.items():
            self.write(f"tests/{name.replace('__', '.')}", text)
        return {s.name: s for s in steps.load(self.root, [])}

    def test_a_file_is_a_step_because_it_says_so(self):
        found = self.load(a__py=TWIN, b__mjs=PAGE, c__py=TWO, d__py='"""No step."""\n')
        self.assertEqual(sorted(found), ["one", "twin", "two", "view-page"])
        twin = found["twin"]
        self.assertEqual(twin.about, "Compare with a twin: slowly")
        self.assertEqual(
            twin.words.split(),
            "python3 tests/a.py --opscope {gcc}/opscope --random 8 --seed {seed}".split(),
        )
        self.assertEqual(twin.command("full"), "python3 tests/a.py --random 4000")
        self.assertEqual(found["view-page"].about, "What a page shows")
        self.assertEqual(found["view-page"].words, "node tests/b.mjs ")
        self.assertEqual(found["two"].words, "{torch} tests/c.py ")

    def test_a_file_that_is_added_is_found_in_any_folder(self):
        self.write("bench/deep/new.sh", "# step: new\n")
        self.write("demo", "# step: demo\n")
        self.write("tests/fuzz/corpus/old.py", "# step: old\n")
        self.assertEqual(sorted(self.load()), ["demo", "new"])

    def test_what_cannot_be_meant_is_refused(self):
        for text in (
            "# step: a\n# turns: 1\n",
            "# step: a\n# turn: 8\n",
            "# step: a\n# mode: slow\n",
            "# step: a\n# order: last\n",
            "# step: A b\n",
            "# step: a\n# step: a\n",
            "# step: full\n",
        ):
            with self.subTest(text), self.assertRaises(steps.Misuse):
                self.load(a__py=text)

    def test_a_mode_has_the_steps_of_shorter_ones(self):
        found = list(self.load(a__py=TWIN, b__mjs=PAGE, c__py=TWO).values())

        def names(mode, *patterns):
            return [s.name for s in steps.choose(found, mode, list(patterns))]

        self.assertEqual(names("fast"), ["one"])
        self.assertEqual(names("all"), ["one", "twin", "view-page"])
        self.assertEqual(names("full"), ["one", "twin", "two", "view-page"])
        self.assertEqual(names("all", "t*"), ["twin"])
        self.assertEqual(names("all", "two"), ["two"])
        with self.assertRaises(steps.Misuse):
            names("all", "three*")

    def test_a_step_has_a_turn_at_each_eighth_seed(self):
        twin = self.load(a__py=TWIN)["twin"]
        self.assertEqual([n for n in range(16) if twin.is_its_turn("all", n)], [2, 10])
        self.assertTrue(twin.is_its_turn("full", 1))

    def test_words_that_are_named_become_several(self):
        values = {"a|b": ["x", "y z"], "c": ["d"]}
        self.assertEqual(
            steps.fill('{a|b} --c={c} "e {c} f" g={a|b}', values),
            ["x", "y z", "--c=d", "e d f", "g=x y z"],
        )

    def test_a_step_brings_its_builds(self):
        made = builds.steps()
        found = [*made, *self.load(a__py=TWIN, c__py=TWO).values()]
        for name, brought in (("one", []), ("twin", ["build-gcc"]), ("two", ["build-gcc"])):
            chosen = steps.choose(found, "all", [name])
            more = [s.name for s in run.with_builds(found, chosen, "all")]
            self.assertEqual(sorted(more), sorted([name, *brought]))

    def test_the_longest_begins_first_after_the_builds(self):
        made = [s for s in builds.steps() if s.name in ("build-gcc", "unit-gcc", "build-asan")]
        self.write("tests/x.sh", "# step: short\n")
        self.write("tests/y.sh", "# step: long\n")
        found = steps.load(self.root, made)
        names = [s.name for s in run.ordered(found, {"short": 1, "long": 100})]
        self.assertEqual(names, ["build-gcc", "unit-gcc", "build-asan", "long", "short"])

    def test_what_is_missing_is_told_once_it_is_asked_for(self):
        places = provide.Places("fast", 7, self.root)
        self.assertEqual(places.get("seed"), ["7"])
        self.assertEqual(places.get("gcc|python3"), ["python3"])
        with self.assertRaises(provide.MissingError):
            places.get("gcc")
        places.built.add("gcc")
        self.assertEqual(places.get("gcc"), ["build-gcc"])


class Result(unittest.TestCase):
    """What is read of a log."""

    def count(self, text, status):
        with tempfile.NamedTemporaryFile() as log:
            Path(log.name).write_text(text)
            result = run.counted("a", Path(log.name), status, 0, 0)
        return result.passed, result.failed

    def test_the_last_line_counts(self):
        self.assertEqual(self.count("1 passed, 1 failed\n5 passed, 0 failed\n", 0), (5, 0))
        self.assertEqual(self.count("nothing\n", 0), (1, 0))
        self.assertEqual(self.count("nothing\n", 1), (0, 1))

    def test_a_bad_status_is_a_failure_whatever_is_counted(self):
        self.assertEqual(self.count("5 passed, 0 failed\n", 1), (5, 1))


if __name__ == "__main__":
    done = unittest.main(exit=False, argv=sys.argv[:1]).result
    bad = len(done.failures) + len(done.errors)
    print(f"{done.testsRun - bad} passed, {bad} failed")
    sys.exit(bad > 0)
