"""The planner's server answers its own page, and nobody else."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse

import pytest

from honestdp.errors import InputError
from honestdp.planner import serve
from honestdp.planner.answers import PlannerInputs

SMALL = "n=2000&lot_size=50&steps=50&candidates=5&epsilon=1"


@pytest.fixture(scope="module")
def server() -> Iterator[serve.Server]:
    with serve.Server(PlannerInputs(n=777, epsilon=2.0)) as opened:
        thread = threading.Thread(target=opened.serve_forever)
        thread.start()
        yield opened
        opened.shutdown()
        thread.join()


def ask(server: serve.Server, path: str, method: str = "GET", **headers: str) -> HTTPResponse:
    connection = HTTPConnection(serve.LOOPBACK, server.server_address[1], timeout=60)
    connection.request(method, path, headers={k.replace("_", "-"): v for k, v in headers.items()})
    reply = connection.getresponse()
    reply.body = reply.read()  # type: ignore[attr-defined]
    connection.close()
    return reply


def test_the_loopback_only(server) -> None:
    assert server.server_address[0] == "127.0.0.1"
    assert server.address == f"http://127.0.0.1:{server.server_address[1]}/"


@pytest.mark.parametrize(
    ("path", "kind", "holds"),
    [
        ("/", "text/html", b"This page reads no data"),
        ("/planner.js", "text/javascript", b"use strict"),
        ("/planner.css", "text/css", b"prefers-color-scheme"),
        ("/plotly.js", "text/javascript", b"plotly.js"),
        (f"/answers/table?{SMALL}", "application/json", b"random-repeats"),
        ("/answers/table?n=none", "application/json", b"must be a whole number"),
    ],
)
def test_the_routes_and_their_headers(server, path, kind, holds) -> None:
    reply = ask(server, path)
    assert reply.status == 200
    assert holds in reply.body
    assert reply.headers["Content-Type"] == f"{kind}; charset=utf-8"
    assert reply.headers["Content-Security-Policy"].startswith(
        "default-src 'none'; script-src 'self'; connect-src 'self';"
    )
    assert reply.headers["X-Content-Type-Options"] == "nosniff"
    assert reply.headers["Cache-Control"] == "no-store"
    assert reply.headers["Referrer-Policy"] == "no-referrer"
    assert "Python" not in reply.headers["Server"]


def test_the_page_starts_where_it_was_told(server) -> None:
    assert b"&#34;n&#34;: 777" in ask(server, "/").body


@pytest.mark.parametrize("path", ["/planner.html", "/../pyproject.toml", "/templates/planner.js",
                                  "/answers/", "/answers/read", "/etc/passwd", "/answers/table/",
                                  "/favicon.ico", "/x/answers/table"])  # fmt: skip
def test_no_other_route(server, path) -> None:
    reply = ask(server, path)
    assert (reply.status, reply.body) == (404, b"Not Found")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "HEAD", "TRACE", "ODD"])
def test_no_other_method(server, method) -> None:
    reply = ask(server, "/", method)
    assert reply.status == 405
    assert reply.headers["X-Content-Type-Options"] == "nosniff"


def test_its_other_name_and_its_own_page_are_welcome(server) -> None:
    port = server.server_address[1]
    assert ask(server, "/", Host=f"localhost:{port}").status == 200
    own = {"Origin": f"http://127.0.0.1:{port}", "Sec_Fetch_Site": "same-origin"}
    assert ask(server, "/planner.css", **own).status == 200


@pytest.mark.parametrize("headers", [
    {"Host": "example.org"}, {"Host": "127.0.0.1"}, {"Host": "localhost:1"}, {"Host": ""},
    {"Host": "0.0.0.0:{port}"}, {"Host": "127.0.0.1.example.org:{port}"},
    {"Origin": "http://example.org"}, {"Origin": "null"}, {"Origin": "http://localhost:{port}"},
    {"Origin": "https://127.0.0.1:{port}"},
    {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"},
])  # fmt: skip
def test_no_other_site(server, headers) -> None:
    port = str(server.server_address[1])
    told = {name: text.replace("{port}", port) for name, text in headers.items()}
    reply = ask(server, f"/answers/table?{SMALL}", **told)
    assert (reply.status, reply.body) == (403, b"Forbidden")


def test_no_long_query(server) -> None:
    assert ask(server, "/answers/table?n=" + "1" * 1000).status == 414
    assert ask(server, "/answers/table?n=" + "1" * 100_000).status == 414


def test_no_endless_line(server, monkeypatch) -> None:
    monkeypatch.setattr(server, "waiting", serve.WAITING)
    assert ask(server, f"/answers/table?{SMALL}").status == 503
    assert ask(server, "/").status == 200


def test_what_nobody_waits_for_is_not_computed(server, monkeypatch) -> None:
    asked: list[str] = []

    def noted(name: str, query: object) -> dict[str, object]:
        asked.append(name)
        return {}

    monkeypatch.setattr(serve, "answer", noted)
    request = f"GET /answers/point?{SMALL} HTTP/1.0\r\nHost: {server.hosts[0]}\r\n\r\n"
    with server.turns, socket.create_connection(server.server_address[:2]) as gone:
        gone.sendall(request.encode())  # while a long answer is under way
        while server.waiting == 0:
            time.sleep(0.01)
    ask(server, "/answers/table")
    assert asked == ["table"]


def test_nothing_is_logged(server, capsys) -> None:
    ask(server, "/")
    ask(server, "/none", "POST")
    assert capsys.readouterr() == ("", "")


def test_a_taken_or_impossible_port_is_one_line(server) -> None:
    with pytest.raises(InputError, match=r"^port=\d+: .*; leave it out for a free one$"):
        serve.Server(PlannerInputs(), server.server_address[1])
    with pytest.raises(InputError, match=r"^port=65536: must lie between 0"):
        serve.Server(PlannerInputs(), 65536)


def test_the_command_serves_and_ends_quietly() -> None:
    code = "import sys; from honestdp.cli import main; sys.argv[0] = 'honestdp'; main()"
    words = ["plan", "--serve", "--epsilon", "3", "--quiet"]
    with subprocess.Popen(
        [sys.executable, "-c", code, *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as running:  # fmt: skip
        address = running.stdout.readline().strip()
        host = address.removeprefix("http://").rstrip("/")
        connection = HTTPConnection(host, timeout=30)
        connection.request("GET", "/")
        assert b"&#34;epsilon&#34;: 3.0" in connection.getresponse().read()
        connection.close()
        running.send_signal(signal.SIGINT)
        out, told = running.communicate(timeout=30)
    assert (running.returncode, out, told) == (0, "", "")
    assert host.startswith("127.0.0.1:")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--serve", "--json"], "leave out --json and --plot"),
        (["--serve", "--n", "many"], "'many' is not a whole number"),
        (["--port", "8000"], "--port and --open go with --serve"),
        (["--epsilon", "1"], "Missing option '--n'"),
        (["--serve", "--port", "70000"], "port=70000"),
    ],
)
def test_the_command_in_one_line(words, says, monkeypatch, capsys) -> None:
    from honestdp.cli import main

    monkeypatch.setattr(sys, "argv", ["honestdp", "plan", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    out, told = capsys.readouterr()
    assert (ended.value.code, out, told.count("\n")) == (2, "", 1)
    assert says in told


def test_answers_are_json_without_surprises(server) -> None:
    found = json.loads(ask(server, f"/answers/candidates?{SMALL}").body)
    assert next(name for name, _, _ in found["most"]) == "composition"
