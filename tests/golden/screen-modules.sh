# SPDX-License-Identifier: Apache-2.0
# MODULES of the one screen: the parts among which the time of a model divides. A transformer whose
# layers are alike, a model of parts of which none is most of it, one part that does everything
# itself, device time, names without attribute paths, and more lists than there is room for.
python3 - <<'END'
import json

class Trace:
    def __init__(self, has_paths=True, has_device=False):
        self.events, self.at, self.n, self.numbers = [], 0, {}, {}
        self.has_paths, self.has_device = has_paths, has_device
        self.next_id = 0

    def add(self, cat, name, ts, dur, tid=1, **args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": ts,
                            "dur": dur, "args": args})

    def module(self, kind, path, inside=(), own=0, root=True, parent=None):
        """Call a module; INSIDE are calls as well: (kind, path, inside, own). Returns its end."""
        number = self.numbers.setdefault((kind, path), None)
        if number is None:
            number = self.n.get(kind, 0)
            self.n[kind] = number + 1
            self.numbers[kind, path] = number
        self.next_id += 1
        me, start = self.next_id, self.at
        args = {"Python id": me, "Python module id": number}
        if parent is not None:
            args["Python parent id"] = parent
        if self.has_paths and not root:
            args["Module path"] = path
        place = len(self.events)
        for k, p, i, o in inside:
            self.module(k, p, i, o, False, me)
        if own:
            self.add("cpu_op", "aten::mm", self.at, own)
            if self.has_device:
                n = len(self.events)
                self.add("cuda_runtime", "cudaLaunchKernel", self.at, 1, correlation=n)
                self.add("kernel", "gemm", self.at + 1, own * 3, 7, correlation=n, device=0, stream=7)
            self.at += own
        self.at += 1
        self.events.insert(place, {"ph": "X", "cat": "python_function",
                                   "name": f"nn.Module: {kind}_{number}", "pid": 1, "tid": 1,
                                   "ts": start, "dur": self.at - start, "args": args})

    def write(self, name):
        with open(name, "w") as file:
            json.dump({"traceEvents": self.events, "with_modules": 1}, file)

def layer(i, slow=0):
    return ("Block", f"transformer.h.{i}", (
        ("Attention", f"transformer.h.{i}.attn", (("Linear", f"transformer.h.{i}.attn.q", (), 30),
                                                  ("Linear", f"transformer.h.{i}.attn.v", (), 30)), 40),
        ("MLP", f"transformer.h.{i}.mlp", (("Linear", f"transformer.h.{i}.mlp.0", (), 60),
                                           ("GELU", f"transformer.h.{i}.mlp.1", (), 5),
                                           ("Linear", f"transformer.h.{i}.mlp.2", (), 50 + slow)), 0),
        ("LayerNorm", f"transformer.h.{i}.ln", (), 4)), 0)

model = ("GPT", "", (("Transformer", "transformer",
                      (("Embedding", "transformer.wte", (), 50), *map(layer, range(12))), 0),
                     ("Linear", "head", (), 100)), 0)
for name, options in (("gpt", {}), ("gpt-device", {"has_device": True}),
                      ("gpt-names", {"has_paths": False})):
    t = Trace(**options)
    for step in range(3):
        begin = t.at
        t.module(*model)
        t.add("user_annotation", f"ProfilerStep#{step}", begin, t.at - begin)
        t.at += 200
    t.write(f"{name}.json")

t = Trace()  # stages of one class and different cost, and numbered modules that hold nothing
t.module("Net", "", tuple(
    ("Stage", f"stage{i}", (("Conv2d", f"stage{i}.0", (), 10 * i),), 5) for i in range(1, 8)))
t.module("Sequential", "", (("Linear", "0", (), 70), ("ReLU", "1", (), 5), ("Linear", "2", (), 90)))
t.write("stages.json")
t = Trace()  # what it holds is little: it stays
t.module("Wrapper", "", (("Linear", "module", (), 10),), 500)
t.write("alone.json")
t = Trace()  # modules that others hold than those which call them
t.module("Net", "", (
    ("Wrap", "b.1", (("Linear", "b.10.fc", (), 100), ("Linear", "b.10.out", (), 80)), 0),
    ("Wrap", "b.2", (("Rotary", "rotary", (), 300),), 0)))
t.write("shared.json")
t = Trace()  # no part has a time
t.write("none.json")
t = Trace()  # a module within itself has nothing at its top
for i in range(2000):
    t.add("python_function", "nn.Module: Deep_0", i, 5000 - 2 * i, **{"Python module id": 0})
t.write("deep.json")
END
for name in gpt gpt-device gpt-names stages alone shared none deep; do
    echo "\$ opscope $name.json"
    "$OPSCOPE" $name.json | tee shown | sed -n '/^MODULES/,/^$/p'
    [ "$(wc -l <shown)" -le 40 ] || echo "more than 40 lines"
    grep 'table modules' shown
done
true
