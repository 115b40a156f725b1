"""The planner's server: this machine only, GET only, a few fixed routes, no files by path.

It reads no data. It still answers only its own page: other sites open in the browser cannot use it
(`Host`, `Origin`, `Sec-Fetch-Site`), and the cost of one request is limited.
"""

from __future__ import annotations

import json
import select
import socket
import threading
from dataclasses import asdict
from functools import cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from jinja2 import Environment

from honestdp.errors import fail
from honestdp.planner.answers import ANSWERS, PlannerInputs, answer

LOOPBACK = "127.0.0.1"
LONGEST = 1000  # characters of a path with its query
WAITING = 16  # queued requests; a page sends one at a time

POLICY = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; img-src data:; "
    "style-src 'self' 'unsafe-inline'; "  # plotly writes style attributes
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
KINDS = {"css": "text/css", "html": "text/html", "js": "text/javascript"}


class Server(ThreadingHTTPServer):
    """Bound to the loopback address; port 0 is any free one."""

    daemon_threads = True

    def __init__(self, start: PlannerInputs, port: int = 0) -> None:
        if not 0 <= port < 65536:
            raise fail("port", port, "must lie between 0 (any free one) and 65535")
        try:
            super().__init__((LOOPBACK, port), Handler)
        except OSError as error:
            raise fail("port", port, f"{error.strerror}; leave it out for a free one") from None
        self.turns = threading.Lock()  # one answer at a time: in parallel they slow each other
        self.waiting, self.counting = 0, threading.Lock()
        self.page = _page(start)

    @property
    def address(self) -> str:
        return f"http://{LOOPBACK}:{self.server_address[1]}/"

    @property
    def hosts(self) -> tuple[str, ...]:
        port = self.server_address[1]
        return f"{LOOPBACK}:{port}", f"localhost:{port}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a browser that closed the connection."""


class Handler(BaseHTTPRequestHandler):
    server: Server
    timeout = 30
    server_version, sys_version = "honestdp", ""

    def do_GET(self) -> None:
        refusal = self._refusal()
        if refusal is not None:
            self._send(refusal, refusal.phrase.encode(), "text/plain")
            return
        url = urlsplit(self.path)
        if url.path in (f"/answers/{name}" for name in ANSWERS):
            self._answer(
                url.path.rpartition("/")[2], dict(parse_qsl(url.query, keep_blank_values=True))
            )
        elif url.path == "/":
            self._send(HTTPStatus.OK, self.server.page, KINDS["html"])
        elif url.path in ("/planner.js", "/planner.css", "/plotly.js"):
            name = url.path[1:]
            self._send(HTTPStatus.OK, _asset(name), KINDS[name.partition(".")[2]])
        else:
            self._send(HTTPStatus.NOT_FOUND, b"Not Found", "text/plain")

    def _refusal(self) -> HTTPStatus | None:
        host, origin = self.headers.get("Host", ""), self.headers.get("Origin")
        if host not in self.server.hosts:  # DNS rebinding: a foreign name that resolves to here
            return HTTPStatus.FORBIDDEN
        if origin is not None and origin != f"http://{host}":
            return HTTPStatus.FORBIDDEN
        if self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            return HTTPStatus.FORBIDDEN
        return HTTPStatus.REQUEST_URI_TOO_LONG if len(self.path) > LONGEST else None

    def _answer(self, name: str, query: dict[str, str]) -> None:
        server = self.server
        with server.counting:
            full = server.waiting >= WAITING
            server.waiting += not full
        if full:
            self._send(HTTPStatus.SERVICE_UNAVAILABLE, b"Too many requests in line", "text/plain")
            return
        try:
            with server.turns:
                if self._gone():  # the page has sent a newer request
                    return
                found = answer(name, query)
        finally:
            with server.counting:
                server.waiting -= 1
        self._send(HTTPStatus.OK, json.dumps(found).encode(), "application/json")

    def _gone(self) -> bool:
        readable, _, _ = select.select([self.connection], [], [], 0)
        return bool(readable) and self.connection.recv(1, socket.MSG_PEEK) == b""

    def _send(self, status: HTTPStatus, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer what http.server itself refuses: other methods, malformed requests."""
        status = HTTPStatus(code)
        if status is HTTPStatus.NOT_IMPLEMENTED:
            status = HTTPStatus.METHOD_NOT_ALLOWED
        self._send(status, status.phrase.encode(), "text/plain")

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: the page shows the errors."""


def serve(server: Server) -> None:
    """Serve until Ctrl-C."""
    threading.Thread(target=_warm, daemon=True).start()
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()


def _warm() -> None:
    """Load the largest asset before the first page requests it."""
    _asset("plotly.js")


@cache
def _asset(name: str) -> bytes:
    if name == "plotly.js":
        from plotly.offline import get_plotlyjs

        return str(get_plotlyjs()).encode()
    return _template(name).encode()


def _page(start: PlannerInputs) -> bytes:
    made = Environment(autoescape=True).from_string(_template("planner.html"))
    return made.render(start=json.dumps(asdict(start))).encode()


def _template(name: str) -> str:
    return (resources.files("honestdp.planner") / "templates" / name).read_text("utf-8")
