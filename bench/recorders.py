#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Our begin and end beside those of other recorders, where they are installed.

usage: recorders.py BUILD_DIR DIR

DIR is empty; what is recorded goes there. LTTng-UST records to a snapshot session of a
daemon that is started for it and ended; uftrace every call of an empty function, the
call of 1 ns included. One that is missing is told in one line.
"""
import os
import shutil
import subprocess
import sys
import time

CHANNEL = ["--overwrite", "--subbuf-size=1M", "--num-subbuf=4"]


def quietly(command, env):
    return subprocess.run(command, env=env, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


def start_session(env, where):
    """Whether a session records our tracepoints."""
    for _ in range(100):
        if quietly(["lttng", "list"], env):
            break
        time.sleep(0.1)
    commands = (["create", "opscope-bench", "--snapshot", "--output=" + where],
                ["enable-channel", "-u", "pairs", *CHANNEL],
                ["enable-event", "-u", "-c", "pairs", "opscope_bench:*"],
                ["start"])
    return all(quietly(["lttng", *c], env) for c in commands)


def beside_lttng(program, scratch):
    if not os.path.exists(program) or not shutil.which("lttng-sessiond"):
        print("recorders: LTTng-UST is not here (liblttng-ust-dev, lttng-tools)", flush=True)
        return
    env = dict(os.environ, LTTNG_HOME=scratch, LTTNG_RUNDIR=os.path.join(scratch, "run"),
               LTTNG_UST_REGISTER_TIMEOUT="-1", HOME=scratch)
    os.mkdir(env["LTTNG_RUNDIR"])
    with subprocess.Popen(["lttng-sessiond", "--no-kernel"], env=env,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as daemon:
        try:
            if start_session(env, os.path.join(scratch, "lttng")):
                subprocess.run([program, os.path.join(scratch, "beside-lttng.osc")], env=env,
                               timeout=60, check=False)
            else:
                print("recorders: LTTng-UST makes no session here", flush=True)
            quietly(["lttng", "destroy", "-a"], env)
        finally:
            daemon.terminate()


def beside_uftrace(program, scratch):
    if not os.path.exists(program) or not shutil.which("uftrace"):
        print("recorders: uftrace is not here (uftrace)", flush=True)
        return
    subprocess.run(["uftrace", "record", "--no-libcall", "--no-event", "-d",
                    os.path.join(scratch, "uftrace"), program,
                    os.path.join(scratch, "beside-uftrace.osc")], timeout=60, check=False)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    where, scratch = sys.argv[1], os.path.abspath(sys.argv[2])
    beside_lttng(os.path.join(where, "bench", "beside_lttng"), scratch)
    beside_uftrace(os.path.join(where, "bench", "beside_uftrace"), scratch)


if __name__ == "__main__":
    main()
