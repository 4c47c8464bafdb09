# SPDX-License-Identifier: Apache-2.0
"""Trace.event_tree(): what is in what, and the attributes of torch's events."""

import json
import pathlib
import tempfile
import unittest

import support

import opscope


def event(cat, name, ts, dur, tid=1, **args):
    """A range."""
    return {
        "ph": "X",
        "cat": cat,
        "name": name,
        "pid": 1,
        "tid": tid,
        "ts": ts,
        "dur": dur,
        "args": args,
    }


SMALL = [
    event("python_function", "a.py(7): main", 10, 90),
    event("python_function", "<built-in method mm>", 20, 30),
    event(
        "cpu_op",
        "aten::mm",
        21,
        20,
        **{
            "External id": 5,
            "Sequence number": 3,
            "Input type": ["float", "Scalar", "TensorList", ""],
            "Input Dims": [[2, 3], [], [[4], [5]], []],
            "Input Strides": [[3, 1], [], [[1], [1]], []],
            "Concrete Inputs": ["", "2.5", "", "None"],
        },
    ),
    event("cuda_runtime", "cudaLaunchKernel", 22, 5, correlation=9),
    {**event("kernel", "gemm", 60, 10, tid=7, correlation=9, device=0, stream=7), "pid": 0},
    event("python_function", "nn.Module: Net_0", 70, 10),
    {
        "ph": "i",
        "s": "t",
        "cat": "cpu_instant_event",
        "name": "[memory]",
        "pid": 1,
        "tid": 1,
        "ts": 30,
        "args": {
            "Device Type": 0,
            "Device Id": -1,
            "Addr": 64,
            "Bytes": 24,
            "Total Allocated": 24,
        },
    },
    {"ph": "C", "name": "load", "pid": 1, "tid": 1, "ts": 40, "args": {"x": 1}},
    event("python_function", "b.py(1): other", 5, 10, tid=2),
]


def tree_of(events, **more):
    """The tree of the trace of EVENTS."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "small.json")
        path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events, **more}))
        return opscope.load(path).event_tree()


class Trees(unittest.TestCase):
    def setUp(self):
        self.tree = tree_of(SMALL)
        self.named = {e.name: e for e in self.tree.walk()}

    def test_events_are_in_what_contains_them_or_launched_them(self):
        self.assertEqual([e.name for e in self.tree], ["b.py(1): other", "a.py(7): main"])
        self.assertEqual(
            [e.name for e in self.named["a.py(7): main"].children],
            ["<built-in method mm>", "nn.Module: Net_0"],
        )
        self.assertEqual(
            [e.name for e in self.named["aten::mm"].children], ["cudaLaunchKernel", "[memory]"]
        )
        self.assertEqual(self.named["gemm"].parent, self.named["cudaLaunchKernel"])
        self.assertNotIn("load", self.named)

    def test_an_event_has_the_attributes_of_torch(self):
        op, main = self.named["aten::mm"], self.named["a.py(7): main"]
        self.assertEqual((op.id, op.kind, op.tag, op.start_tid), (2, "operator", "TorchOp", 1))
        self.assertEqual(
            (op.start_ns, op.start_time_ns, op.end_time_ns, op.duration_time_ns),
            (16000, 16000, 36000, 20000),
        )
        self.assertEqual(
            (op.correlation_id, self.named["gemm"].correlation_id, main.correlation_id),
            (5, 9, 0),
        )
        self.assertIsNone(main.parent)
        self.assertEqual(op.args["Sequence number"], 3)
        self.assertEqual(
            {e.tag for e in self.tree.walk()},
            {"TorchOp", "PyCall", "PyCCall", "Kineto", "Allocation"},
        )

    def test_fields_are_what_was_recorded(self):
        tensor, number, several, nothing = self.named["aten::mm"].extra_fields.inputs
        self.assertEqual(
            (tensor.sizes, tensor.strides, tensor.dtype), ([2, 3], [3, 1], "float")
        )
        self.assertEqual((number, [x.sizes for x in several], nothing), (2.5, [[4], [5]], None))
        tag, call = self.named["<built-in method mm>"].typed
        self.assertEqual(
            (tag, vars(call.caller)),
            ("PyCCall", {"file_name": "a.py", "line_number": 7, "function_name": "main"}),
        )
        self.assertEqual(self.named["nn.Module: Net_0"].extra_fields.module.cls_name, "Net")
        self.assertEqual(self.named["[memory]"].extra_fields.alloc_size, 24)

    def test_an_event_is_equal_to_itself_alone(self):
        op = self.named["aten::mm"]
        self.assertEqual({op, op.parent.children[0]}, {op})
        self.assertNotEqual(op, tree_of(SMALL)[0])
        self.assertIn(op, op.parent.children)

    def test_roots_are_a_sequence(self):
        self.assertEqual(
            (len(self.tree), self.tree[-1].name, len(self.tree[:1])), (2, "a.py(7): main", 1)
        )
        self.assertIn("9", repr(self.tree))

    def test_times_are_of_unix_where_the_trace_knows(self):
        tree = tree_of(SMALL, baseTimeNanoseconds=10**18)
        self.assertEqual(tree[0].start_time_ns, 10**18 + 5000)

    def test_ranks_have_trees_of_their_own(self):
        with tempfile.TemporaryDirectory() as folder:
            for rank in (0, 1):
                pathlib.Path(folder, f"worker{rank}.pt.trace.json").write_text(
                    json.dumps({"distributedInfo": {"rank": rank}, "traceEvents": SMALL})
                )
            tree = opscope.load(folder).event_tree()
            self.assertEqual(len(tree), 4)
            self.assertEqual(sum(1 for e in tree.walk()), 2 * len(self.named))
            self.assertEqual(len(opscope.load(folder).event_tree(rank=1)), 2)

    def test_hostile_links_make_no_circle(self):
        tree = tree_of(
            [
                {
                    **event("kernel", "k", 0, 100, tid=7, correlation=1, device=0, stream=7),
                    "pid": 0,
                },
                {**event("cuda_runtime", "call", 10, 10, tid=7, correlation=1), "pid": 0},
            ]
        )
        self.assertEqual(len(list(tree.walk())), 2)

    def test_every_event_of_real_traces_is_there_once(self):
        for path in (support.DEMO, support.DATA / "alexnet_a100.json.gz"):
            trace = opscope.load(path)
            tree = trace.event_tree()
            found = [e.id for e in tree.walk()]
            self.assertEqual(sorted(found), list(range(trace["events"].n_rows)))
            for e in tree.walk():
                self.assertTrue(e.parent is None or e in e.parent.children)

    def test_rows_cannot_be_left_out(self):
        with self.assertRaises(ValueError):
            opscope.load(support.DEMO).event_tree(where="kind = 'python'")


if __name__ == "__main__":
    unittest.main()
