"""The fenced blocks of a page, and what it means to carry one out.

A page runs from top to bottom in one folder: `python` blocks share their names, `sh` blocks share
the folder, and `text` or `json` after one of them is what it printed. A block with a title is a
file of that name, which later blocks use. A block of any other kind is an error.
"""

from __future__ import annotations

import ast
import json
import os
import re
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest

from honestdp import Schema
from honestdp.cli.config import TuneConfig

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^( *)```(.*?)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
PATIENCE = 120.0


@dataclass(frozen=True)
class Block:
    """line: where it begins. title: the name of a file, if it is one."""

    kind: str
    title: str | None
    text: str
    line: int


def blocks(page: str) -> Iterator[Block]:
    for found in FENCE.finditer(page):
        kind, _, rest = found[2].partition(" ")
        title = re.search(r'title="([^"]+)"', rest)
        line = page[: found.start()].count("\n") + 1
        yield Block(kind, title[1] if title else None, found[3], line)


@dataclass
class Reader:
    """Someone who does what a page says, in a folder of their own."""

    folder: Path
    said: str = ""  # by the last block that was carried out
    names: dict[str, Any] = field(default_factory=dict)

    def does(self, block: Block) -> None:
        if block.title is not None:
            _check_file(block)
            (self.folder / block.title).write_text(block.text)
            return
        if block.kind not in KINDS:
            raise AssertionError(f"a block of kind {block.kind!r}; there are {', '.join(KINDS)}")
        KINDS[block.kind](self, block.text)

    def runs_python(self, code: str) -> None:
        """In this process; figures in comments (`# one run: 0.349`) must be printed, and a dict in
        a comment must be what the last expression gives, to one in a hundred."""
        tree, value, printed = ast.parse(code), None, StringIO()
        with redirect_stdout(printed):
            last = tree.body[-1]
            if isinstance(last, ast.Expr):
                exec(compile(ast.Module(tree.body[:-1], []), "page", "exec"), self.names)
                value = eval(compile(ast.Expression(last.value), "page", "eval"), self.names)
            else:
                exec(compile(tree, "page", "exec"), self.names)
        self.said = printed.getvalue()
        for figure in re.findall(r"# .*: (\d+\.\d+)$", code, flags=re.MULTILINE):
            assert figure in self.said, f"{figure} is not printed"
        for comment in re.findall(r"# (\{.*)$", code, flags=re.MULTILINE):
            for name, number in re.findall(r"'([a-z-]+)': (\d+)", comment):
                same = value[name] == pytest.approx(int(number), rel=0.01)  # type: ignore[index]
                assert same, f"{name} is not {number}"

    def runs_shell(self, text: str) -> None:
        """Lines in bash; what installs, and what serves until it is stopped, is checked apart."""
        script: list[str] = []
        self.said = ""
        for line in text.splitlines():
            words = line.split(" #")[0].split()
            if words[:1] == ["make"]:
                assert words[1] in TARGETS, f"the Makefile has no {words[1]}"
            elif words[:2] == ["pip", "install"]:
                assert words[-1] in (".", "honestdp"), f"{line}: installs something else"
            elif words[:2] == ["git", "clone"]:
                assert words[-1].rstrip("/").endswith("honestdp"), f"{line}: another repository"
            elif "--serve" in words:
                self._shell(script)
                self._serves(line)
                script = []
            else:
                script.append(line.replace(".venv/bin/honestdp", "honestdp"))
        self._shell(script)

    def runs_console(self, text: str) -> None:
        """`$ command` lines, each followed by what it says."""
        for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            self.runs_shell(command)
            self.reads_text(output)

    def reads_text(self, text: str) -> None:
        """Every line is in what was said, in this order; `...` stands for anything."""
        rest = self.said
        for line in filter(str.strip, text.splitlines()):
            found = re.search(".*".join(map(re.escape, line.split("..."))), rest)
            assert found, f"not said, or not here: {line!r}, of\n{self.said}"
            rest = rest[found.start() :]

    def reads_json(self, text: str) -> None:
        """A part of what was said."""
        _check_part(json.loads(text), json.loads(self.said), "$")

    def reads_toml(self, text: str) -> None:
        _check_toml(text, self.folder)

    def reads_bibtex(self, text: str) -> None:
        entries = re.findall(r"^@(\w+)\{(\w+),\n(.*?)^\}$", text, re.DOTALL | re.MULTILINE)
        assert len(entries) == text.count("@"), "an entry that is not one"
        for kind, key, fields in entries:
            for name in ("author", "title", "year"):
                assert re.search(rf"^  {name} = \{{.+\}},?$", fields, re.MULTILINE), (key, name)
            assert kind in ("inproceedings", "article", "misc"), kind

    def _shell(self, lines: list[str]) -> None:
        if not any(lines):
            return
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", "\n".join(lines)],
            cwd=self.folder,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        self.said += done.stdout
        assert done.returncode == 0, f"ended with {done.returncode}:\n{done.stdout}"

    def _serves(self, line: str) -> None:
        """Until Ctrl-C: it says where, answers there, and stops when told to."""
        server = subprocess.Popen(
            ["bash", "-c", f"exec {line}"],
            cwd=self.folder,
            env=self._environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            # A shell in the background hands on that Ctrl-C is ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        assert server.stdout is not None
        try:
            for told in server.stdout:
                self.said += told
                place = re.search(r"http://(127\.0\.0\.1|localhost):\d+\S*", told)
                if place:
                    with urlopen(place[0].rstrip(".,;"), timeout=20) as page:
                        assert page.status == 200
                    break
            else:
                raise AssertionError(f"{line}: names no address on this machine:\n{self.said}")
            server.send_signal(signal.SIGINT)
            assert server.wait(20) in (0, 130, -signal.SIGINT)
        finally:
            server.kill()
            server.stdout.close()
            server.wait()

    def _environment(self) -> dict[str, str]:
        """`honestdp` and `python` are those of the tests; output is that of a wide terminal."""
        own = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
        quiet = {
            "OMP_NUM_THREADS": "1",
            "COLUMNS": "200",
            "BROWSER": "true",
        }
        return {**os.environ, **quiet, **own}


KINDS: dict[str, Callable[[Reader, str], None]] = {
    "python": Reader.runs_python,
    "sh": Reader.runs_shell,
    "bash": Reader.runs_shell,
    "console": Reader.runs_console,
    "text": Reader.reads_text,
    "json": Reader.reads_json,
    "toml": Reader.reads_toml,
    "bibtex": Reader.reads_bibtex,
}


def _check_file(block: Block) -> None:
    """A file shown in full is a right one of its kind."""
    if block.kind == "toml":
        tomllib.loads(block.text)
    elif block.kind == "python":
        ast.parse(block.text)
    elif block.kind == "json":
        json.loads(block.text)
    elif block.kind not in ("csv", "text"):
        raise AssertionError(f"a file of kind {block.kind!r}")


def _check_toml(text: str, folder: Path) -> None:
    """A schema, or settings of `honestdp tune --spec`."""
    if "columns" in tomllib.loads(text):
        Schema.from_toml(text)
        return
    place = folder / "settings.toml"
    place.write_text(text)
    assert TuneConfig.of(place, {}).values


def _check_part(wanted: Any, found: Any, where: str) -> None:
    if isinstance(wanted, dict):
        for name, value in wanted.items():
            assert name in found, f"{where}.{name} is not there"
            _check_part(value, found[name], f"{where}.{name}")
    elif isinstance(wanted, list):
        assert len(wanted) == len(found), f"{where} has {len(found)}"
        for i, (one, other) in enumerate(zip(wanted, found, strict=True)):
            _check_part(one, other, f"{where}[{i}]")
    elif wanted != "...":
        assert wanted == found, f"{where} is {found}"
