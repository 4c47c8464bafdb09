# SPDX-License-Identifier: Apache-2.0
"""The Arrow C data interface, read with ctypes by its specification, and by other libraries."""

import ctypes
import gc
import pathlib
import pickle
import struct
import tempfile
import unittest

import support

import opscope


class Schema(ctypes.Structure):
    pass


Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
    ("dictionary", ctypes.POINTER(Schema)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))),
    ("private_data", ctypes.c_void_p),
]


class Array(ctypes.Structure):
    pass


Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))),
    ("dictionary", ctypes.POINTER(Array)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))),
    ("private_data", ctypes.c_void_p),
]

pointer = ctypes.pythonapi.PyCapsule_GetPointer
pointer.restype = ctypes.c_void_p
pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
WIDTHS = {b"i": ("i", 4), b"l": ("q", 8), b"g": ("d", 8)}


def bit(address, i):
    return ctypes.string_at(address + i // 8, 1)[0] >> i % 8 & 1


def read_words(array):
    offsets = struct.unpack(
        f"{array.length + 1}q", ctypes.string_at(array.buffers[1], 8 * (array.length + 1))
    )
    return [
        ctypes.string_at(array.buffers[2] + a, b - a).decode()
        for a, b in zip(offsets, offsets[1:])
    ]


def read_column(schema, array):
    """The values of one child; None for missing ones."""
    n = array.length
    if schema.format == b"b":
        values = [bool(bit(array.buffers[1], i)) for i in range(n)]
    else:
        form, width = WIDTHS[schema.format]
        values = list(
            struct.unpack(f"{n}{form}", ctypes.string_at(array.buffers[1], n * width))
        )
    if schema.dictionary:
        assert schema.dictionary.contents.format == b"U"
        words = read_words(array.dictionary.contents)
        values = [words[code] if code >= 0 else None for code in values]
    if array.buffers[0]:
        values = [v if bit(array.buffers[0], i) else None for i, v in enumerate(values)]
    assert array.null_count == sum(v is None for v in values)
    return values


def read_metadata(address):
    """The metadata pairs, which Arrow stores as their number and texts with lengths."""
    at = address

    def number():
        nonlocal at
        at += 4
        return struct.unpack("i", ctypes.string_at(at - 4, 4))[0]

    def text():
        nonlocal at
        n = number()
        at += n
        return ctypes.string_at(at - n, n).decode()

    return {text(): text() for _ in range(number())}


def masked(column):
    return column.tolist()  # None where it is masked


class Arrow(unittest.TestCase):
    def test_it_is_what_its_specification_says(self):
        trace = opscope.load(support.DEMO)
        for name in trace:
            table = trace[name]
            schema_capsule, array_capsule = table.__arrow_c_array__()
            schema = Schema.from_address(pointer(schema_capsule, b"arrow_schema"))
            array = Array.from_address(pointer(array_capsule, b"arrow_array"))
            self.assertEqual(schema.format, b"+s")
            self.assertEqual(schema.n_children, len(table))
            self.assertEqual(array.n_children, len(table))
            self.assertEqual(array.length, table.n_rows)
            for i, column in enumerate(table.columns):
                child = schema.children[i].contents
                self.assertEqual(child.name.decode(), column.name)
                told = {"help": column.help, **({"unit": column.unit} if column.unit else {})}
                self.assertEqual(read_metadata(child.metadata), told)
                self.assertEqual(
                    read_column(child, array.children[i].contents), masked(table[column.name])
                )

    def test_children_may_be_moved_out_and_outlive_everything(self):
        table = opscope.load(support.DEMO)["operators"]
        expected = table["host_self_ns"].tolist()
        at = list(table).index("host_self_ns")
        capsule = table.__arrow_c_array__()[1]
        parent = Array.from_address(pointer(capsule, b"arrow_array"))
        moved = Array()
        ctypes.memmove(ctypes.byref(moved), parent.children[at], ctypes.sizeof(Array))
        # The specification requires a consumer that moves a child to mark its struct as released.
        ctypes.memset(
            ctypes.addressof(parent.children[at].contents) + Array.release.offset,
            0,
            ctypes.sizeof(ctypes.c_void_p),
        )
        del table, capsule, parent
        gc.collect()
        found = struct.unpack(
            f"{moved.length}q", ctypes.string_at(moved.buffers[1], 8 * moved.length)
        )
        self.assertEqual(list(found), expected)
        moved.release(ctypes.byref(moved))

    def test_capsules_that_nobody_takes_are_released(self):
        table = opscope.load(support.DEMO)["events"]
        for _ in range(50):
            table.__arrow_c_array__()
            table.__arrow_c_stream__(None)
            table.__arrow_c_schema__()


def has(module):
    try:
        __import__(module)
        return True
    except ImportError:
        return False


class Others(unittest.TestCase):
    @unittest.skipUnless(has("pyarrow"), "there is no pyarrow")
    def test_pyarrow_reads_every_table(self):
        import pyarrow

        trace = opscope.load(support.DEMO)
        for name in trace:
            table = trace[name]
            arrow = table.to_arrow()
            arrow.validate(full=True)
            self.assertEqual(arrow.column_names, list(table))
            for column in table.columns:
                values = arrow[column.name].to_pylist()
                self.assertEqual(values, masked(table[column.name]))
                if column.unit:
                    metadata = arrow.field(column.name).metadata
                    self.assertEqual(metadata[b"unit"], column.unit.encode())
            del table
            gc.collect()
            self.assertTrue(pyarrow.array(arrow[0].to_pylist()) is not None)

    @unittest.skipUnless(has("pyarrow"), "there is no pyarrow")
    def test_pyarrow_reads_pickled_tables(self):
        import pyarrow

        trace = opscope.load(support.DEMO)
        for name in trace:
            table, again = trace[name], pickle.loads(pickle.dumps(trace[name]))
            wanted = table.to_arrow()
            for arrow in (again.to_arrow(), pyarrow.table(again), pyarrow.record_batch(again)):
                arrow.validate(full=True)
                self.assertEqual(arrow.to_pydict(), wanted.to_pydict())
                self.assertEqual(
                    [f.metadata for f in arrow.schema], [f.metadata for f in wanted.schema]
                )

    @unittest.skipUnless(has("pandas"), "there is no pandas")
    def test_pandas_has_every_table(self):
        import numpy
        import pandas

        trace = opscope.load(support.DEMO)
        for name in trace:
            table = trace[name]
            frame = table.to_pandas()
            self.assertEqual(list(frame.columns), list(table))
            self.assertEqual(len(frame), table.n_rows)
            for column in table.columns:
                values = [None if pandas.isna(v) else v for v in frame[column.name]]
                self.assertEqual(values, masked(table[column.name]))
        frame = trace["operators"].to_pandas()
        self.assertIn("name", frame.select_dtypes("category"))
        self.assertEqual(frame["calls"].dtype, numpy.dtype("int64"))

    @unittest.skipUnless(has("pandas"), "there is no pandas")
    def test_pandas_shares_the_memory_of_columns(self):
        import numpy

        table = opscope.load(support.DEMO)["operators"]
        frame = table.to_pandas()
        self.assertTrue(numpy.shares_memory(frame["calls"].to_numpy(), table["calls"]))

    @unittest.skipUnless(has("polars"), "there is no polars")
    def test_polars_has_every_table(self):
        trace = opscope.load(support.DEMO)
        for name in trace:
            table = trace[name]
            frame = table.to_polars()
            self.assertEqual(frame.columns, list(table))
            self.assertEqual(frame.to_dicts(), table.records())

    @unittest.skipUnless(has("pyarrow"), "there is no pyarrow")
    def test_parquet_files_have_the_rows(self):
        from pyarrow import parquet

        trace = opscope.load(support.DEMO)
        with tempfile.TemporaryDirectory() as folder:
            for name in ("operators", "quality", "modules"):
                path = pathlib.Path(folder, name + ".parquet")
                trace[name].to_parquet(path)
                self.assertEqual(parquet.read_table(path).to_pylist(), trace[name].records())


if __name__ == "__main__":
    unittest.main()
