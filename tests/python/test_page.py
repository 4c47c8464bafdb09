# SPDX-License-Identifier: Apache-2.0
"""What users see: tables in notebooks, and the reference."""

import html.parser
import sys
import unittest

import support

import opscope

sys.path.insert(0, str(support.ROOT / "tools"))
import make_reference


class Reader(html.parser.HTMLParser):
    """Rows of texts, and whether each tag was closed."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.open = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


class Page(unittest.TestCase):
    def test_notebooks_show_the_first_rows_with_units(self):
        table = opscope.load(support.DEMO)["operators"]
        read = Reader(table._repr_html_())
        self.assertEqual(read.open, [])
        self.assertEqual(read.rows[0], list(table))
        self.assertEqual(len(read.rows), 1 + 20)
        self.assertEqual(read.rows[1][0], table["name"][0])
        text = support.run(
            "table", "operators", "--limit", "1", "--columns", ",".join(table), support.DEMO
        )
        for cell in read.rows[1]:
            if cell.endswith((" ms", " us", " ns", " s")):
                self.assertIn(cell, text)

    def test_names_of_traces_are_no_markup(self):
        table = opscope.load(support.ROOT / "tests/data/small.json")["events"]
        table._words["name"] = tuple(
            f"<script>{i}&</script>" for i, _ in enumerate(table.words("name"))
        )
        text = table._repr_html_()
        self.assertNotIn("<script>", text)
        at = list(table).index("name")
        self.assertTrue(Reader(text).rows[1][at].startswith("<script>"))

    def test_an_empty_table_says_why(self):
        table = opscope.load(support.DEMO).table("operators", where="calls < 0")
        self.assertIn("--where selects none", table._repr_html_())

    def test_the_reference_is_that_of_the_package(self):
        page = (support.ROOT / "docs/python.md").read_text()
        self.assertEqual(make_reference.make(), page, "tools/make_reference.py makes it anew")

    def test_everything_public_has_a_docstring(self):
        for module in (opscope, opscope.record):
            for name in module.__all__:
                if not name.startswith("__"):
                    self.assertTrue(getattr(module, name).__doc__, name)


if __name__ == "__main__":
    unittest.main()
