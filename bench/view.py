#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measure the viewer's server: how soon it answers, and its memory.

usage: view.py OPSCOPE TRACE

Prints samples, "NAME NUMBER":
    page           seconds from the command until its page was read
    table          seconds until the first rows of `operators` were read through the server
    command        seconds that `opscope table operators` took for the same rows, alternating
    cells          seconds of a question about 1,000 pixels of each visible lane, on an open
                   connection; cells-bytes is its size
    echo           seconds in which another process sends as many bytes over loopback
    memory         bytes that the server keeps, loaded, with its timeline
    memory-100     the same while 100 clients follow it and ask for cells
"""

import contextlib
import http.client
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import threading
import time

SMOKE = "BENCH_SMOKE" in os.environ
STARTS = 1 if SMOKE else 5
QUESTIONS = 10 if SMOKE else 500
CLIENTS = 5 if SMOKE else 100


def say(name, value):
    print("%s %.9g" % (name, value), flush=True)


@contextlib.contextmanager
def serve(opscope, trace):
    """(process, port) of a server, from its first line."""
    child = subprocess.Popen([opscope, "view", "--port", "0", trace], stderr=subprocess.PIPE)
    try:
        line = child.stderr.readline().decode(errors="replace")
        yield child, int(re.search(r":(\d+)/", line)[1])
    finally:
        child.terminate()
        child.wait()
        child.stderr.close()


def get(connection, path):
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        sys.exit("%s: %d %s" % (path, answer.status, body[:200]))
    return body


def starts(opscope, trace):
    for _ in range(STARTS):
        begun = time.perf_counter()
        with serve(opscope, trace) as (_, port):
            connection = http.client.HTTPConnection("127.0.0.1", port)
            get(connection, "/")
            say("page", time.perf_counter() - begun)
            get(connection, "/api/v1/table/operators?format=cols&limit=20")
            say("table", time.perf_counter() - begun)
            connection.close()
        begun = time.perf_counter()
        subprocess.run(
            [opscope, "table", "operators", "--limit", "20", trace],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        say("command", time.perf_counter() - begun)


def cells_path(connection):
    """A question about what a page shows first: all of time, some 32 lanes, 1,000 pixels."""
    head, lanes, n = json.loads(get(connection, "/api/v1/tracks")), [], 0
    for track in head["tracks"]:
        if n + track["lanes"] <= 32:
            lanes.append("%d:%d" % (track["id"], track["lanes"]))
            n += track["lanes"]
    return "/api/v1/cells?tracks=%s&from=%d&to=%d&px=1000&n=1" % (
        ",".join(lanes),
        head["from_ns"],
        head["to_ns"],
    )


def echo(n_bytes):
    """Seconds for each of QUESTIONS answers of N_BYTES, from a process that does nothing else."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        if os.fork() == 0:
            peer, _ = server.accept()
            answer = bytes(n_bytes)
            while peer.recv(4096):
                peer.sendall(answer)
            os._exit(0)
        client = socket.create_connection(server.getsockname())
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        times = []
        for _ in range(QUESTIONS):
            begun = time.perf_counter()
            client.sendall(bytes(200))
            left = n_bytes
            while left > 0:
                left -= len(client.recv(left))
            times.append(time.perf_counter() - begun)
        client.close()
        os.wait()
    return times


def resident(process):
    with open("/proc/%d/status" % process.pid) as status:
        return int(re.search(r"VmRSS:\s+(\d+) kB", status.read())[1]) * 1024


def crowd(port, path):
    """Follow and ask as one client of many does."""
    stream = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    stream.request("GET", "/api/v1/progress")
    stream.getresponse().read(16)
    other = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for _ in range(5):
        other.request("GET", path)
        other.getresponse().read()
    other.close()
    return stream


def main():
    opscope, trace = sys.argv[1:]
    starts(opscope, trace)
    with serve(opscope, trace) as (process, port):
        connection = http.client.HTTPConnection("127.0.0.1", port)
        path = cells_path(connection)
        n_bytes = len(get(connection, path))
        say("cells-bytes", n_bytes)
        times = []
        for _ in range(QUESTIONS):
            begun = time.perf_counter()
            get(connection, path)
            times.append(time.perf_counter() - begun)
        say("cells", statistics.median(times))
        say("echo", statistics.median(echo(n_bytes)))
        say("memory", resident(process))
        streams, lock = [], threading.Lock()

        def join():
            stream = crowd(port, path)
            with lock:
                streams.append(stream)

        threads = [threading.Thread(target=join) for _ in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if len(streams) != CLIENTS:
            sys.exit("only %d of %d clients were served" % (len(streams), CLIENTS))
        say("memory-100", resident(process))


main()
