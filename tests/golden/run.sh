# SPDX-License-Identifier: Apache-2.0
# opscope run: the program notices nothing, and its status is passed on; opscope ctl without a
# recording.
show()
{
    echo "\$ opscope $*"
    "$OPSCOPE" "$@" 2>&1 </dev/null | sed 's|/[^ ]*/golden-[^/]*/|/.../|g; s/RUN_ID=.*/RUN_ID=.../; s/OPSCOPE_LIBRARY=.*/OPSCOPE_LIBRARY=.../'
    echo "exit ${PIPESTATUS[0]}"
}

show run --sources api -o rec -- sh -c 'echo "out: $OPSCOPE_OUT" | sed "s|.*/||"; exit 7'
show run --sources api -o rec -- sh -c 'kill -TERM $$'
show run --sources api -o rec -- no-such-program
show run --sources api -o made -- no-such-program
mkdir mine
show run --sources api -o mine -- no-such-program
ls -d made mine 2>/dev/null
touch not-executable
show run --sources api -o rec -- ./not-executable
show run --sources api -o a/b/c -- test -d a/b/c
show run --sources none -o rec -- sh -c 'echo "OPSCOPE=$OPSCOPE"'
env OPSCOPE=0 "$OPSCOPE" run --sources api -o rec -- sh -c 'echo "OPSCOPE=$OPSCOPE"' 2>&1
show run --sources api -o rec --schedule wait=1,active=3 --flight 10s --limit-size 1M --print-env
show run --sources itt,apo true
show run --torch=fast true
show run --torch=replace,stack true
show run --torch=replace --flight 10s true
show run --limit-size many true
show run --limit-size 1023K true
show run --schedule "" true
show run --schedule active=1,active=2 true
show run --schedule active=1,slow=2 --flight 10s,slow=3 true
show run --schedule wait=1,activ=3 true
show run --schedule wait=1 true
show run --flight bogus true
show run --schedule flight=bogus true
show run --schedule flight=5s --flight 10s true
show run
show run -o not-executable/rec -- sh -c 'echo "runs, OPSCOPE=$OPSCOPE"; exit 3'
show run --strict -o not-executable/rec -- echo "does not run"
(ulimit -f 100 && show run --sources api -o small -- echo "runs")
show run --sources api -o not-executable -- echo "runs"
show run --sources api -o "" -- echo "does not run"

# A setting that forbids all recording is reported, also in the recording.
export LIBRARY="${OPSCOPE%/*}/libopscope.so.0"
cat >call.py <<'END'
import ctypes, sys
ctypes.CDLL(sys.argv[1]).osc_scope_instant(1)
END
env OPSCOPE=0 "$OPSCOPE" run --sources api --summary -o forbidden -- python3 call.py "$LIBRARY" 2>&1
"$OPSCOPE" table quality forbidden --format csv --columns code,count
env OPSCOPE=0 "$OPSCOPE" run --strict -o forbidden -- echo "does not run" 2>/dev/null
echo "strict: exit $?"
if python3 -c 'import ctypes; ctypes.CDLL("libcuda.so.1")' 2>/dev/null; then # then it has to run
    "$OPSCOPE" run --strict --sources cuda -o forbidden -- true 2>/dev/null &&
        echo "opscope run: [cuda] there is no driver (libcuda.so.1): install NVIDIA's; CUDA is not recorded"
else
    "$OPSCOPE" run --strict --sources cuda -o forbidden -- echo "does not run" 2>&1
fi

# The program sees its own signals and descriptors; ours exist only in between.
python3 - "$OPSCOPE" <<'END'
import os, signal, subprocess, sys

LOOK = """
import os, signal
ignored = [s.name for s in signal.Signals if signal.getsignal(s) == signal.SIG_IGN]
print(ignored, signal.pthread_sigmask(signal.SIG_BLOCK, []), sorted(os.listdir("/proc/self/fd")))
print(os.umask(0), os.nice(0), os.getpgrp() == int(os.environ["GROUP"]))
"""


def prepare():
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
    os.umask(0o026)
    os.close(0)


def look(*before):
    env = dict(os.environ, GROUP=str(os.getpgrp()))
    return subprocess.run([*before, sys.executable, "-c", LOOK], preexec_fn=prepare, env=env,
                          capture_output=True, text=True, check=False).stdout


alone = look()
guest = look(sys.argv[1], "run", "--sources", "api", "-o", "rec", "--")
print("the program finds what it finds alone:", alone == guest and "USR2" in alone)

run = subprocess.Popen([sys.argv[1], "run", "--sources", "api", "-o", "rec", "--", "sh", "-c",
                        "trap 'echo caught; exit 3' USR1; echo ready; while :; do sleep 0.01; done"],
                       stdout=subprocess.PIPE, text=True)
run.stdout.readline()
run.send_signal(signal.SIGUSR1)
print("a signal to opscope reaches it:", run.stdout.read().strip(), run.wait())

# The program ends by itself, while opscope gets the signals of timeout(1) and Ctrl-C.
LATE = "(sleep 0.2; kill -HUP $PPID; kill -TERM $PPID; kill -INT $PPID; kill -CONT $PPID) & "
run = subprocess.run([sys.argv[1], "run", "--sources", "api", "-o", "rec", "--", "sh", "-c",
                      LATE + "kill -STOP $PPID; exit 5"], check=False)
print("signals that come after its end change nothing:", run.returncode)
END

# A program that uses no source still leaves a recording.
show run --sources api --summary -o blank -- echo "hi there" | sed 's/, in .*/, in .../'
"$OPSCOPE" info blank | grep -E '^(format|events|meta.command) '

# A source that could not be used is reported, also in the recording.
INTEL_LIBITTNOTIFY64=/other.so "$OPSCOPE" run -o refused -- true 2>/dev/null
"$OPSCOPE" table quality refused --format csv --columns code,count

# What can be recorded here; a variable that names another tool's library is told.
INTEL_LIBITTNOTIFY64=/other.so show run --list-sources | grep -E '^(api|itt|nvtx) '

# Torch needs a recorder, which the package has or a compiler makes; the Python that is found tells.
listed() {
    CXX='' XDG_CACHE_HOME=/nowhere TMPDIR=/nowhere PYTHONPATH=$PWD/site PATH=$1 \
        "$OPSCOPE" run --list-sources | grep '^torch ' | sed "s#$PWD/##g"
}
listed /nowhere
mkdir -p bin site/torch/lib && ln -s "$(python3 -c 'import sys; print(sys.executable)')" bin/python3
touch site/torch/__init__.py site/torch/lib/libc10.so
printf "__version__ = '9.8.7'\n" >site/torch/version.py
listed "$PWD/bin"
printf '#!/bin/sh\n' >bin/c++ && chmod +x bin/c++
listed "$PWD/bin"

# Sources that were named and that nothing used.
show run --sources nvtx,opencl -o unused -- true 2>&1 | sed 's/PID [0-9]*/PID N/'

# A nested run inherits nothing from the outer one.
OPSCOPE_RUN_ID=1 OPSCOPE_SOURCES=-itt OPSCOPE_SCHEDULE=active=1 show run -o rec --print-env |
    grep -v "ZE_ENABLE\|LD_PRELOAD\|ASAN" |
    sed 's#\(NOTIFY64\|INJECTION64_PATH\|LAYERS\)=.*#\1=...#'

# A process that could not be recorded, and one that was.
show run --sources api -o some -- sh -c 'python3 call.py "$LIBRARY"; ulimit -f 100
    python3 call.py "$LIBRARY"; exit 4' |
    sed 's/process [0-9]*/process N/; s|: /.*osc: |: /...osc: |'
"$OPSCOPE" table quality some --format csv --columns code,count | grep source

# A file that is moved while it is written.
cat >move.py <<'END'
import ctypes, os, sys
library = ctypes.CDLL(sys.argv[1])
library.osc_scope_instant(library.osc_name_of(b"before", 6))
library.osc_dump()
for file in os.scandir(os.environ["OPSCOPE_OUT"]):
    if file.is_file():
        os.rename(file.path, os.path.join(os.path.dirname(file.path), "moved.osc"))
library.osc_scope_instant(1)
END
show run --sources api -o moved -- sh -c 'exec python3 move.py "$LIBRARY"'
"$OPSCOPE" table quality moved --format csv --columns code,count | grep harm

# Records beyond a limit on file size: the program ends as it would without opscope, and so does
# opscope.
cat >large.py <<'END'
import ctypes, os, sys, time
library = ctypes.CDLL(sys.argv[1])
name = library.osc_name_of(b"large", 5)
for i in range(10000):
    if i % 500 == 0:
        time.sleep(0.02) # lets the disk keep up
    library.osc_scope_instant(name)
    library.osc_arg_text(name, b"a" * 3000, 3000)
os._exit(5)
END
(ulimit -f 12000 && show run --sources api -o large -- sh -c 'exec python3 large.py "$LIBRARY"') |
    sed 's/[0-9]* records were lost ([0-9]*/N records were lost (N/'

# The same of a program with threads that have ended, and which ends the recording: it is told how
# many records were lost, as many as quality says, and nothing was killed.
cat >threads.py <<'END'
import ctypes, sys, threading
library = ctypes.CDLL(sys.argv[1])
name = library.osc_name_of(b"large", 5)
def record():
    for i in range(200000):
        library.osc_scope_instant(name)
        library.osc_arg_text(name, b"a" * 300, 300)
threads = [threading.Thread(target=record) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
END
(ulimit -f 12000 && "$OPSCOPE" run --sources api -o threads -- python3 threads.py "$LIBRARY") \
    2>lost.txt
n=$(sed -n 's/^opscope run: \([0-9]*\) records were lost.*/\1/p' lost.txt)
sed 's/[0-9]* records were lost ([0-9]*/N records were lost (N/' lost.txt
"$OPSCOPE" table quality threads --format csv --columns code,count 2>/dev/null |
    sed -n "s/^dropped_full,$n$/as many/p; /killed/p; /disk_full/p"

# ITT that is asked for by name: loaded by the program, which then records nothing, or not loaded.
cat >itt.py <<'END'
import ctypes, os, struct, sys
part = ctypes.create_string_buffer(bytes.fromhex("edababec0deeda30") + struct.pack("<Q", 3), 256)
ctypes.CDLL(os.environ["INTEL_LIBITTNOTIFY64"])["__itt_api_init"](part, -1)
if sys.argv[1:]:
    ctypes.CDLL(os.environ["LIBRARY"]).osc_scope_instant(1)
END
for program in true "python3 itt.py" "python3 itt.py calls"; do
    rm -rf asked
    # shellcheck disable=SC2086
    show run --sources api,itt -o asked -- env $program | sed 's/PID [0-9]*/PID N/'
    "$OPSCOPE" table quality asked --format csv --columns code,count,remedy 2>/dev/null | grep source
done

# Modes that write only on occasion, and had no occasion: only that is reported.
for when in --flight=10s --schedule=wait=5,active=1; do
    "$OPSCOPE" run --sources api,torch $when -o "idle${when%%=*}" -- python3 call.py "$LIBRARY"
    show table events "idle${when%%=*}"
    "$OPSCOPE" table quality "idle${when%%=*}" --format csv --columns severity,code,count 2>/dev/null
done

# The hook that waits for torch is first in PYTHONPATH, leaves Python's search path, loads the
# program's own sitecustomize, and reports failures by a note.
mkdir own
echo 'print("own")' >own/sitecustomize.py
export PYTHONPATH=own
show run --torch -o hooked --print-env | grep PYTHONPATH | sed 's|=/.*/|=/.../|'
show run --torch -o hooked -- python3 -c 'import sys; print([x for x in sys.path if "hook" in x])'
"$OPSCOPE" table quality hooked --format csv --columns code,count,remedy | grep source
cat >torch.py <<'END'
END
show run --torch=replace -o failed -- python3 -c 'import sys; sys.path.insert(0, ""); import torch' |
    sed 's/PID [0-9]*: .*/PID N: .../'
"$OPSCOPE" table quality failed --format csv --columns code,count | grep source
unset PYTHONPATH

# Who records a Python program may want PyTorch, but not who chose the sources.
show run -o plain-python -- env python3 -c pass
show run -o plain-python --sources api -- python3 -c pass

# The status of a running recording, and whether the manual explains it.
cat >live.py <<'END'
import ctypes, os, pathlib, time
ctypes.CDLL(os.environ["LIBRARY"]).osc_scope_instant(1)
pathlib.Path("ready").touch()
while not os.path.exists("done"):
    time.sleep(0.01)
END
"$OPSCOPE" run --sources api -o live -- python3 live.py &
until [ -e ready ]; do sleep 0.01; done
"$OPSCOPE" ctl live status | tr ' ' '\n' | sed -n 's/=.*//p' >keys
touch "done"
wait
while read -r key; do
    grep -qx ".It Li $key" "$DATA/../../docs/man/opscope-ctl.1" && echo "$key" ||
        echo "$key: not in the manual"
done <keys

# The socket of another program answers what would control a terminal.
mkdir -p other/a.osc.live
python3 - other/a.osc.live/ctl <<'END' &
import os, socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1] + "-")
s.listen()
os.rename(sys.argv[1] + "-", sys.argv[1])
c = s.accept()[0]
c.recv(100)
c.sendall(b"ok state=\x1b[31m\x07\n")
c.close()
END
until [ -e other/a.osc.live/ctl ]; do sleep 0.01; done
show ctl other status
wait
show ctl rec status
show ctl rec statsu
show ctl rec
show ctl no-such-directory dump
