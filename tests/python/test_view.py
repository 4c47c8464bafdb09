# SPDX-License-Identifier: Apache-2.0
"""The page of the viewer in notebooks. tests/view/one_file.mjs reads the page itself."""

import base64
import gzip
import html.parser
import os
import pathlib
import re
import shutil
import tempfile
import unittest
import warnings

import support

import opscope

# Made once: each takes a tenth of a second.
DEMO = opscope.view(support.DEMO)


class Frame(html.parser.HTMLParser):
    """The attributes of the frames in a text, and the text around them."""

    def __init__(self, text):
        super().__init__()
        self.frames, self.text, self.open = [], "", []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag == "iframe":
            self.frames.append(dict(attrs))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


class Profile:
    """A profile of torch's own class."""

    def export_chrome_trace(self, path):
        # Torch compresses by the suffix; the reader looks at the bytes.
        shutil.copyfile(support.DEMO, path)


def data_of(html):
    """The answers that the page has, unpacked."""
    text = re.search(rb'<script[^>]* id="data"[^>]*>([^<]*)</script>', html)[1]
    return gzip.decompress(base64.b64decode(text))


class View(unittest.TestCase):
    def test_a_notebook_gets_the_whole_page_in_a_frame_of_another_origin(self):
        read = Frame(DEMO._repr_html_())
        self.assertEqual(read.open, [])
        self.assertEqual(len(read.frames), 1)
        frame = read.frames[0]
        self.assertEqual(frame["srcdoc"].encode(), DEMO.html)
        self.assertEqual(frame["sandbox"].split(), ["allow-scripts", "allow-downloads"])
        self.assertIn("demo.pt.trace.json.gz", frame["title"])

    def test_where_frames_are_removed_a_sentence_is_left(self):
        self.assertIn('.save("run.html")', Frame(DEMO._repr_html_()).text)

    def test_a_cell_stays_below_what_jupyter_takes_in_3_s(self):
        self.assertLessEqual(len(DEMO._repr_html_()), 3_000_000)

    def test_it_is_what_the_command_writes(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "x.html")
            support.run("export", support.DEMO, "-o", path)
            self.assertEqual(data_of(DEMO.html), data_of(path.read_bytes()))
            saved = pathlib.Path(folder, "saved.html")
            DEMO.save(saved)
            self.assertEqual(saved.read_bytes(), DEMO.html)
            self.assertEqual(sorted(os.listdir(folder)), ["saved.html", "x.html"])

    def test_a_failed_save_leaves_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "taken"))
            with self.assertRaises(OSError):
                DEMO.save(os.path.join(folder, "taken"))
            self.assertEqual(os.listdir(folder), ["taken"])
            with self.assertRaises(FileNotFoundError):
                DEMO.save(os.path.join(folder, "none", "x.html"))

    def test_it_takes_what_was_loaded_with_its_options(self):
        path = support.ROOT / "tests/data/small.json"
        loaded = opscope.load(path, no_args=True, one_by_one=True)

        # ISA-L does not always pack the same bytes alike.
        def data(what, **options):
            return data_of(opscope.view(what, **options).html)

        self.assertEqual(data(loaded), data(path, no_args=True))
        self.assertNotEqual(data(loaded), data(path))
        self.assertEqual(data([path]), data(str(path)))

    def test_it_takes_a_profile_of_torch(self):
        page = opscope.view(Profile())
        self.assertIn("profile.pt.trace.json", repr(page))
        self.assertGreater(len(page.html), 100_000)

    def test_redacted_it_names_nothing_of_ours(self):
        page = opscope.view(support.DEMO, redact=True)
        # The data is base 64, which may have any four letters, but no point.
        self.assertNotIn("demo.", page._repr_html_())
        self.assertNotIn("demo", repr(page))
        self.assertNotIn(b"demo.pt", data_of(page.html))
        self.assertIn(b"demo.pt", data_of(opscope.view(support.DEMO).html))

    def test_names_of_files_are_no_markup(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, '"><script>alert(1)<')
            path.mkdir()
            shutil.copy(support.DEMO, path / "a.pt.trace.json.gz")
            text = opscope.view(path)._repr_html_()
        read = Frame(text)
        self.assertEqual(read.open, [])
        self.assertEqual(read.frames[0]["title"], 'opscope: "><script>alert(1)<')
        self.assertNotIn("<script>alert", text.split("srcdoc=")[0])

    def test_errors_are_those_of_load(self):
        with self.assertRaises(FileNotFoundError):
            opscope.view("missing.json")
        with self.assertRaisesRegex(opscope.TraceError, "no trace event"):
            opscope.view(support.ROOT / "README.md")
        with self.assertRaisesRegex(ValueError, "rank=: 'x' is not a list"):
            opscope.view(support.DEMO, rank="x")
        with self.assertRaisesRegex(ValueError, "unknown|no option"):
            opscope.view(support.DEMO, colour="red")
        with self.assertRaisesRegex(ValueError, "standard input"):
            opscope.view("-")
        with self.assertRaisesRegex(TypeError, "not int"):
            opscope.view(3)

    def test_it_warns_as_load_does(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(support.DATA / "small.json", folder)
            pathlib.Path(folder, "cut.json").write_text('{"traceEvents": [')
            with warnings.catch_warnings(record=True) as loading:
                warnings.simplefilter("always")
                loaded = opscope.load(folder)
            with warnings.catch_warnings(record=True) as viewing:
                warnings.simplefilter("always")
                opscope.view(folder)
            self.assertEqual(
                [str(w.message) for w in viewing], [str(w.message) for w in loading]
            )
            self.assertGreater(len(viewing), 0)
            self.assertEqual({w.filename for w in viewing}, {__file__})
            with warnings.catch_warnings(record=True) as again:
                warnings.simplefilter("always")
                opscope.view(loaded)
            self.assertEqual(again, [], "load() said it")


if __name__ == "__main__":
    unittest.main()
