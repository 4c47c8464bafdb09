# SPDX-License-Identifier: Apache-2.0
# The one screen when space is short: three ranks with everything to report and a long path, kernels
# with the same short name, names of any bytes and of wide characters, a narrow terminal, 100,000
# steps, a path of three lines; every list at once; and commands with traces quoted for the shell.
python3 - <<'END'
import json, os

def event(cat, name, ts, dur, pid=1, tid=1, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur,
            "args": args}

def write(path, events, rank=0):
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"distributedInfo": {"rank": rank}, "traceEvents": events}, file)

def work(cat, name, ts, dur, number):
    return [event("cuda_runtime", "cudaLaunchKernel", ts - 8, 5, correlation=number),
            event(cat, name, ts, dur, 0, 7, device=0, stream=7, correlation=number)]

RUN = "a_directory_of_some_length/that_leaves_a_line_little_room"
os.makedirs(RUN)
for rank in 0, 1, 2:
    events, at = [], 0
    for step in range(20):
        slow = 900 if step in (5, 6, 7, 9) and rank == 1 else 0
        events.append(event("user_annotation", f"ProfilerStep#{step}", at, 1000 + step + slow))
        for k in range(7):
            name = ("void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous "
                    f"namespace)::Fill{k}<float>, std::array<char*, 1ul> >(int, float)")
            events.append(event("cpu_op", f"aten::op{k}", at + 10 + k * 60, 50))
            events += work(("gpu_memcpy", "gpu_memset", "kernel")[min(k, 2)], name,
                           at + 20 + k * 60, 30 + k, step * 100 + k + 1)
        events.append(event("cpu_op", "enumerate(DataLoader)#_X.__next__", at + 500, 20))
        events += work("kernel", "ncclKernel_AllReduce", at + 700, 20, step * 100 + 99)
        events.append(event("cpu_op", "overlaps", at + 800, 10))
        events.append(event("cpu_op", "in part", at + 805, 10))
        if slow:
            events.append(event("cpu_op", "aten::slow", at + 1000, 800))
        at += 1005 + step + slow
    write(f"{RUN}/{rank}.json", events, rank)

names = ["\u540d" * 60, "\U0001f389" * 45, "x" * 5000, "a\nb\x1b[31m\t" + "q" * 70, "\u00e9" * 46,
         "void f<" * 50, "<" * 300 + ")::" * 30, "operator<<" * 20, "::" * 40]
for first in 0, 5:
    events = []
    for i, name in enumerate(names[first:first + 5]):
        events.append(event("cpu_op", name, i * 200, 90))
        events += work("kernel", name, i * 200 + 20, 50 - i, i + 1)
    write(f"names{first}.json", events)

events = []
for step in range(100000):
    slow = 60 if step % 20000 == 7 else 0
    events.append(event("user_annotation", f"ProfilerStep#{step}", step * 200,
                        100 + step * 7919 % 5 + slow))
    events.append(event("cpu_op", "aten::mm", step * 200 + 1, 20 + slow))
write("steps.json", events)

events = []
for i in range(6):
    events += [event("user_annotation", f"part {i}", i * 1000, 900 - i),
               event("gpu_user_annotation", f"part {i}", i * 1000 + 50, 940, 0, 7, device=0, stream=7),
               event("python_function", f"nn.Module: Layer_{i}", i * 1000 + 10, 400, **{
                   "Python module id": i, "Python id": i}),
               event("python_function", f"model.py({i}): forward", i * 1000 + 20, 300),
               event("cpu_op", f"aten::op{i}", i * 1000 + 30, 200 - i)]
    events += work("kernel", f"gemm_{i}", i * 1000 + 60, 100 - i, i + 1)
    events += [event("cuda_runtime", "cudaDeviceSynchronize", i * 1000 + 910, 80)]
write("full.json", events)
one = [event("cpu_op", "aten::mm", 1, 2)]
for path in "one.json", "steps", "-x.json", "\u00fc'\u00df\x1b[31m\n.json", "\u540d \u524d.json":
    write(path, one)
END
show()
{
    echo "\$ opscope $(printf '%q ' "$@")"
    "$OPSCOPE" "$@" | tee shown
    python3 - <<'END'
import unicodedata
wide = lambda c: 2 if unicodedata.east_asian_width(c) in "WF" else 1
lines = open("shown", encoding="utf-8").read().splitlines()
widths = [sum(map(wide, line)) for line in lines]
assert sum(max(1, -(-width // 80)) for width in widths) <= 40, widths
# A single word, such as a path to be typed, may be longer.
assert all(width <= 80 or len(line.removesuffix(" \\").split()) == 1
           for line, width in zip(lines, widths)), lines
END
}
# What it proposes can be typed: the commands of the last screen do not fail.
try()
{
    sed '1,/^NEXT/d' shown | sed 's/^  opscope/  "$OPSCOPE"/' >commands
    bash -e commands >/dev/null 2>&1 || echo "a command fails"
}
show a_directory_of_some_length/that_leaves_a_line_little_room
try
show names0.json
show names5.json
show full.json
show steps.json
try
LONG=$(printf 'a_directory_of_some_length/%.0s' 1 2 3 4 5 6 7)
mkdir -p "$LONG"
cp steps.json "$LONG/steps.json"
show "$LONG/steps.json"
try
for path in one.json steps ./-x.json $'\u00fc\'\u00df\x1b[31m\n.json' $'\u540d \u524d.json'; do
    show "$path" | sed '1p; 1,/^NEXT/d'
    try
done
"$OPSCOPE" -- -x.json | tail -n 3
# With 60 columns, and with fewer than it needs.
for columns in 60 30; do
    python3 - "$columns" a_directory_of_some_length/that_leaves_a_line_little_room <<'END'
import fcntl, os, pty, re, struct, sys, termios
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
    os.environ["TERM"] = "dumb"
    os.execv(os.environ["OPSCOPE"], ["opscope", sys.argv[2]])
text = b""
while True:
    try:
        part = os.read(terminal, 65536)
    except OSError:
        break
    if not part:
        break
    text += part
lines = text.decode().replace("\r", "").splitlines()
print("\n".join(lines[:lines.index("NEXT")]))
assert all(len(line) <= max(50, int(sys.argv[1])) for line in lines[:lines.index("NEXT")])
END
done
true
