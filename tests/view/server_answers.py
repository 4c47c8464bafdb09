# SPDX-License-Identifier: Apache-2.0
"""Tests for server.py: answers are those of the command."""

import json
import re
import shutil

import arrow_stream
import serving
from serving import DATA, DEMO, Server, command, decode, traces

FORMS = ("text", "csv", "json", "jsonl", "md", "arrow")
OPTIONS = [
    ("operators", {"sort": "calls", "limit": "3"}),
    ("operators", {"sort": "-name"}),
    ("kernels", {"group-by": "op", "limit": "2"}),
    ("operators", {"merge": ""}),
    ("averages", {"group-by": "shape", "sort": "self_cpu_time_total"}),
    ("averages", {"group-by": "shape,stack:3", "no-python": ""}),
    (
        "events",
        {"where": "dur_ns > us(10) and name like 'aten::%'", "columns": "id,name,dur_ns"},
    ),
    ("events", {"from": "1ms", "to": "5ms", "limit": "7"}),
    ("overview", {"steps": "@0"}),
    ("ranges", {"group-by": "thread,category", "sort": "p99_ns"}),
    ("steps", {"rank": "0"}),
    ("durations", {"name": "aten::add_"}),
    ("overview", {"compat": "tb"}),
    ("memory_events", {"at": "3ms"}),
    ("threads", {"columns": "name,events", "limit": "0"}),
    ("operators", {"where": "name like '%<&\"''>%'"}),
    ("kernels", {"device": "cuda:0"}),
]
TEXT_OPTIONS = [
    ("averages", {"header": "A <b> & c", "top-level": "", "max-name-width": "20"}),
    ("averages", {"torch": "1.13"}),
    ("kernels", {"full-names": ""}),
]


def as_words(options):
    words = []
    for name, value in options.items():
        words += [f"--{name}={value}" if value else f"--{name}"]
    return words


def check_same(server, trace, table, form, options):
    status, printed = command("table", table, trace, "--format", form, *as_words(options))
    got, headers, body = server.get(f"table/{table}", {**options, "format": form})
    if status != 0:
        assert got >= 400, (table, form, options, status, got)
        return
    assert got == 200, (table, form, options, got, body[:300])
    assert body == printed, (table, form, options, body[:200], printed[:200])
    assert headers["x-content-type-options"] == "nosniff"


def test_tables_are_those_of_the_command():
    for trace in traces():
        with Server(trace) as s:
            for table in s.json("catalog")["tables"]:
                for form in FORMS if not table["compares"] else ():
                    check_same(s, trace, table["name"], form, {})
                    yield


def test_options_are_those_of_the_command():
    for trace in traces():
        with Server(trace) as s:
            for table, options in OPTIONS:
                for form in FORMS[1:]:
                    check_same(s, trace, table, form, options)
                    yield
            for table, options in TEXT_OPTIONS:
                check_same(s, trace, table, "text", options)
                yield


def test_a_selection_of_the_server_is_that_of_the_command():
    with Server(DEMO, "--steps", "@1", "--no-args") as s:
        for table in ("events", "operators", "overview"):
            status, printed = command(
                "table", table, DEMO, "--format", "csv", "--steps", "@1", "--no-args"
            )
            assert status == 0 and s.get(f"table/{table}", {"format": "csv"})[2] == printed
            yield


def tables_as_json():
    """Each table of each trace that is about one run: its server, its name, and what JSON has."""
    for trace in traces():
        with Server(trace) as s:
            for table in s.json("catalog")["tables"]:
                if not table["compares"]:
                    name = table["name"]
                    yield s, name, s.json(f"table/{name}", {"format": "json"})


def test_columns_have_the_values_of_json():
    for s, name, expected in tables_as_json():
        for ints in ("exact", "number"):
            status, _, body = s.get(f"table/{name}", {"limit": "1000000", "ints": ints})
            assert status == 200, body
            head, columns = decode(body)
            rows = [list(r) for r in zip(*columns)] if head["n"] else []
            wanted = [[c["name"], c["type"], c["unit"], c["help"]] for c in expected["columns"]]
            assert [
                [c["name"], c["type"], c["unit"], c["help"]] for c in head["columns"]
            ] == wanted, name
            assert rows == expected["rows"], name
            assert head["notes"] == expected["notes"] and head["rows"] == len(rows)
            arrays = {c["array"] for c in head["columns"] if c["type"] == "integer"}
            assert arrays <= (
                {"BigInt64Array"} if ints == "exact" else {"BigInt64Array", "Float64Array"}
            )
        yield


def test_arrow_has_the_values_of_json():
    for s, name, expected in tables_as_json():
        status, headers, body = s.get(f"table/{name}", {"format": "arrow"})
        assert status == 200, body
        assert headers["content-type"] == "application/vnd.apache.arrow.stream", headers
        told, columns, rows, sizes = arrow_stream.decode(body)
        assert told == {
            "opscope": expected["opscope"],
            "table": name,
            "sources": "\n".join(expected["sources"]),
            "notes": "\n".join(expected["notes"]),
        }, (name, told)
        assert columns == [
            (c["name"], c["type"], c["unit"], c["help"]) for c in expected["columns"]
        ], name
        assert rows == expected["rows"], name
        assert max(sizes, default=0) <= 8192 and sum(sizes) == len(rows)
        yield


def test_sums_are_of_all_rows():
    with Server(DEMO) as s:
        for table, options in (
            ("operators", {}),
            ("operators", {"where": "calls > 20"}),
            ("averages", {"sort": "name"}),
            ("ranges", {}),
        ):
            expected = s.json(f"table/{table}", {**options, "format": "json"})
            head, _ = decode(s.get(f"table/{table}", {**options, "limit": "2", "sums": "1"})[2])
            assert head["rows"] == len(expected["rows"]) > 2, (table, head["rows"])
            n = 0
            for i, column in enumerate(head["columns"]):
                values = [row[i] for row in expected["rows"] if row[i] is not None]
                if column["type"] == "integer":
                    assert column["sum"] == str(sum(values)), column
                elif column["type"] == "number":
                    assert abs(float(column["sum"]) - sum(values)) <= 1e-9 * abs(sum(values)), (
                        column
                    )
                else:
                    assert column["sum"] is None, column
                n += column["sum"] is not None
            assert n > 3
            yield
        head, _ = decode(s.get("table/events", {"limit": "2", "sums": "1"})[2])
        assert all(c["sum"] is None for c in head["columns"]), "only a window is made"
        head, _ = decode(s.get("table/operators", {"limit": "2"})[2])
        assert all("sum" not in c for c in head["columns"])
        yield


def test_windows_are_parts_of_the_whole():
    for trace in traces():
        with Server(trace) as s:
            for query in ({}, {"sort": "-dur_ns"}, {"where": "dur_ns > 0"}, {"merge": ""}):
                head, whole = decode(s.get("table/events", {**query, "limit": "1000000"})[2])
                n = head["rows"]
                assert n == head["n"] and n > (9 if trace == DEMO else 2), n
                for offset, limit in (
                    (0, 7),
                    (3, 1),
                    (n // 2, 11),
                    (n - 2, 50),
                    (n, 5),
                    (n + 9, 5),
                    (0, 0),
                    (2**62, 3),
                ):
                    part, columns = decode(
                        s.get("table/events", {**query, "offset": offset, "limit": limit})[2]
                    )
                    assert columns == [c[offset : offset + limit] for c in whole], (
                        offset,
                        limit,
                    )
                    assert part["rows"] == n
                    yield


def test_the_limit_of_the_command_is_not_that_of_a_window():
    for name, options in (
        ("events", {}),
        ("events", {"sort": "dur_ns"}),
        ("operators", {}),
        ("events", {"where": "dur_ns > 0"}),
    ):
        with Server(DEMO) as s:
            _, _, text = s.get(f"table/{name}", {**options, "limit": "5", "format": "json"})
            wanted = [row[0] for row in json.loads(text)["rows"]]
            head, columns = decode(s.get(f"table/{name}", {**options, "most": "5"})[2])
            assert (head["rows"], head["n"]) == (5, 5), (name, head)
            assert columns[0] == wanted, (name, options)
            assert " --limit 5 " in head["command"], head["command"]
            head, part = decode(
                s.get(f"table/{name}", {**options, "most": "5", "offset": "3", "limit": "10"})[
                    2
                ]
            )
            assert (head["n"], part[0]) == (2, wanted[3:]), (name, part)
            head, _ = decode(s.get(f"table/{name}", {**options, "limit": "3"})[2])
            assert head["rows"] > 5 and "--limit" not in head["command"], head
            yield


def test_windows_cross_chunks():
    trace, n = serving.TEMP / "long.json", 140000
    with trace.open("w") as f:
        f.write('{"traceEvents":[')
        for i in range(n):
            f.write(
                f'{{"ph":"X","cat":"cpu_op","name":"o{i % 7}","pid":1,"tid":{i % 3},"ts":{i}'
                f',"dur":{i % 11 + 1}}},\n'
            )
        f.write('{"ph":"X","cat":"cpu_op","name":"end","pid":1,"tid":1,"ts":150000,"dur":1}]}')
    with Server(trace) as s:
        first = decode(s.get("table/events", {"columns": "id", "limit": 1})[2])[1][0][0]
        for offset in (0, 4095, 4096, 65530, 65536, 65537, 131071, 139990, n, n + 1, 10 * n):
            head, columns = decode(
                s.get("table/events", {"columns": "id,name", "limit": 20, "offset": offset})[2]
            )
            ids = list(range(first + offset, first + min(offset + 20, n + 1)))
            assert columns[0] == ids and head["rows"] == n + 1, (offset, columns)
            assert columns[1][:1] == [f"o{offset % 7}"] or offset >= n, (offset, columns)
            yield


def unnamed(text):
    """TEXT without the names of the files, which a comparison need not have."""
    return re.sub(
        rb'"sources": \[[^]]*\]|^\(?[Tt]races?:? .*$|`[^`]*\.json[^`]*`', b"", text, flags=re.M
    )


def test_runs_compare():
    folder = serving.TEMP / "pair"
    for name in ("a", "b"):
        (folder / name).mkdir(parents=True)
    shutil.copy(DEMO, folder / "a" / "w1.1.pt.trace.json.gz")
    shutil.copy(DATA / "alexnet_a100.json.gz", folder / "b" / "w1.1.pt.trace.json.gz")
    with Server("--logdir", folder, "--run", "a") as s:
        session = s.json("session")
        assert session["run"] == "a" and [r["name"] for r in session["runs"]] == ["a", "b"]
        for table in (
            "diff_steps",
            "diff_operators",
            "diff_kernels",
            "diff_tree",
            "diff_inside",
        ):
            for form in FORMS:
                status, printed = command(
                    "table", table, folder / "a", folder / "b", "--format", form
                )
                got = s.get(f"table/{table}", {"run": "b", "base": "a", "format": form})
                assert status == 0 and got[0] == 200, (table, form, got)
                if form == "arrow":
                    assert arrow_stream.decode(got[2])[1:] == arrow_stream.decode(printed)[1:]
                    continue
                assert unnamed(got[2]) == unnamed(printed), (table, form, got)
            decode(s.get(f"table/{table}", {"run": "b", "base": "a"})[2])
            yield
        status, _, body = s.get("table/diff_steps")
        assert status == 400 and b"base=" in body
        status, _, body = s.get("table/steps", {"base": "a"})
        assert status == 400, body
        assert s.get("table/steps", {"run": "c"})[0] == 404
        runs = s.json("runs", {"run": "b"})
        assert runs["run"] == "b" and len(runs["runs"]["rows"]) == 2
        assert any(row[0] == "format" for row in runs["info"]["rows"]), runs["info"]["rows"]
        yield


def test_errors_say_what_to_do():
    with Server(DEMO) as s:
        for path, query, status, word in (
            ("tabel/steps", {}, 404, "table"),
            ("table/stepz", {}, 404, "steps"),
            ("table/", {}, 404, "table"),
            ("table", {}, 404, "table"),
            ("session/x", {}, 404, "session"),
            ("", {}, 404, "nothing"),
            ("table/steps", {"sorted": "x"}, 400, "--sort"),
            ("table/steps", {"sort": "totl_ns"}, 400, "total_ns"),
            ("table/steps", {"columns": "step,labl"}, 400, "label"),
            ("table/steps", {"where": "total_ns >"}, 400, "where"),
            ("table/steps", {"format": "cvs"}, 400, "csv"),
            ("table/steps", {"format": "csv", "offset": "1"}, 400, "offset"),
            ("table/steps", {"offset": "-1"}, 400, "offset"),
            ("table/steps", {"limit": "1000001"}, 400, "limit"),
            ("table/steps", {"ints": "x"}, 400, "ints"),
            ("table/steps", {"steps": "x"}, 400, "--steps"),
            ("table/steps", {"threads": "4"}, 400, "threads"),
            ("table/steps", {"max-memory": "1"}, 400, "max-memory"),
            ("table/steps", {"group-by": "shape"}, 400, "group-by"),
            ("table/steps", {"header": "x", "format": "csv"}, 400, "header"),
            ("table/steps", {"rank": "7"}, 404, "rank"),
            ("table/steps", {"run": "demo"}, 404, "demo.pt.trace.json.gz"),
            ("table/steps", {"fp": "0" * 32}, 409, "changed"),
        ):
            got, headers, body = s.get(path, query)
            assert got == status, (path, query, got, body)
            error = json.loads(body)
            assert set(error) == {"code", "message", "what_to_do", "command"}, error
            assert word in error["message"], (word, error)
            assert headers["content-type"].startswith("application/json")
            yield
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "BREW"):
            got, headers, _ = s.request("/api/v1/session", method=method)
            assert got == 405 and headers["allow"] == "GET, HEAD", (method, got)
            yield
        got, headers, body = s.request("/api/v1/session", method="HEAD")
        assert got == 200 and body == b"" and int(headers["content-length"]) > 100
        yield


def test_tags_save_answers():
    with Server(DEMO) as s:
        for path, query in (
            ("table/steps", {"format": "csv"}),
            ("table/operators", {}),
            ("catalog", {}),
        ):
            _, headers, body = s.get(path, query)
            tag = headers["etag"]
            assert tag.startswith('W/"') and "no-cache" in headers["cache-control"]
            status, again, nothing = s.get(path, query, headers={"If-None-Match": tag})
            assert status == 304 and nothing == b"" and again["etag"] == tag
            status, _, same = s.get(path, query, headers={"If-None-Match": 'W/"other"'})
            assert status == 200 and same == body
            yield
        other = s.get("table/steps", {"format": "json"})[1]["etag"]
        assert other != s.get("table/steps", {"format": "csv"})[1]["etag"]
        yield


def test_names_are_data():
    """Names with markup, quotes, control characters, and bytes that are no UTF-8."""
    names = [
        "<script>alert(1)</script>",
        "</td><img src=x onerror=y>",
        "a\"b'c`d",
        "\x1b[31mred",
        "tab\tline\nfeed",
        "\u202eevil",
        '=HYPERLINK("x")',
        "x" * 5000,
        "",
        "a,b;c|d",
    ]
    trace = serving.TEMP / "<b>&'\"name.json"
    events = [
        {"ph": "X", "cat": "cpu_op", "name": n, "pid": 1, "tid": 1, "ts": 10 * i, "dur": 5}
        for i, n in enumerate(names)
    ]
    text = json.dumps({"traceEvents": events}).encode().replace(b"a,b;c|d", b"a,b;\xff\xfe|d")
    trace.write_bytes(text)
    with Server(trace) as s:
        for table in ("ranges", "operators", "events", "averages"):
            for form in FORMS:
                check_same(s, trace, table, form, {})
            head, columns = decode(s.get(f"table/{table}")[2])
            got = columns[[c["name"] for c in head["columns"]].index("name")]
            assert set(names[:8]) <= set(got), (table, got)
            yield
        session = s.json("session")
        assert session["run"] == trace.name
        assert s.get("table/steps", {"run": trace.name})[0] == 200
        yield
