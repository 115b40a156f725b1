"""What holds for every command: help, --json, --quiet, one line for what is wrong, exit codes."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from cli_calls import QUICK, commands, complaint

from honestdp.cli.registry import OWN

RUN = "import sys; from honestdp.cli import main; sys.argv[0] = 'honestdp'; main()"


COMMANDS = {words: found for words, found in commands() if words[0] in OWN}


def test_they_are_all_there() -> None:
    names = {" ".join(words) for words in COMMANDS}
    assert names >= {
        "tune", "resume", "plan", "schema", "predict", "card", "report",
        "ledger create", "ledger show", "ledger verify",
    }  # fmt: skip


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_each_has_json_quiet_and_an_example(words, shell) -> None:
    options = {name for p in COMMANDS[words].params for name in p.opts}
    assert {"--json", "--quiet"} <= options
    said = shell(*words, "--help")
    assert said.code == 0
    assert f"Example: honestdp {' '.join(words)}" in " ".join(said.out.split())


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_an_unknown_option_is_one_line(words, shell) -> None:
    assert "--nonsense" in complaint(shell(*words, "--nonsense"))


def test_a_fault_in_here_is_told_by_its_kind(shell, monkeypatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("row 7 holds Quokkazyx")

    monkeypatch.setattr("honestdp.schema.from_header", broken)
    said = shell("schema", "visits.csv")
    assert "internal error (ZeroDivisionError)" in complaint(said, 1)


def test_a_failed_search_is_told_by_its_kind(shell, monkeypatch) -> None:
    from honestdp.runner.training import Trainer

    def broken(*_: object) -> None:
        raise ZeroDivisionError("row 7 holds Quokkazyx")

    monkeypatch.setattr(Trainer, "train", broken)
    said = shell("tune", "visits.csv", *QUICK, "--out", "run", "--yes")
    line = complaint(said, 1)
    assert "the search failed (ZeroDivisionError); charge 1 stands" in line
    assert "honestdp resume run" in line


def test_nobody_reads_on(shell) -> None:
    done = subprocess.run(
        f"{sys.executable} -c \"{RUN}\" schema visits.csv | head -c 1",
        shell=True, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("#", "")


@pytest.mark.parametrize(
    ("typed", "expected"),
    [("honestdp tu", "tune"), ("honestdp tune --proc", "--procedure"),
     ("honestdp tune --procedure random-s", "random-stopping"),
     ("honestdp tune --grid dpa", "dpadam-4"), ("honestdp tune --model l", "linear")],
)  # fmt: skip
def test_the_shell_completes(typed, expected) -> None:
    told = {"_HONESTDP_COMPLETE": "complete_bash", "COMP_WORDS": typed,
            "COMP_CWORD": str(len(typed.split()) - 1)}  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", RUN], env={**os.environ, **told}, capture_output=True, text=True,
        timeout=60,
    )  # fmt: skip
    assert expected in done.stdout.split()


def _on_a_terminal(words: list[str], **told: str) -> str:
    """What a program shows on a terminal (a pseudo one)."""
    import pty

    shown = bytearray()

    def read(handle: int) -> bytes:
        got = os.read(handle, 4096)
        shown.extend(got)
        return b"" if not got else b"."  # not on our own terminal

    before = {name: os.environ.get(name) for name in told}
    os.environ.update(told)
    try:
        pty.spawn([sys.executable, "-c", RUN, *words], read)
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
    return shown.decode(errors="replace")


@pytest.mark.slow  # a process of its own, twice
def test_colours_on_a_terminal_only(shell) -> None:
    words = ["tune", "visits.csv", *QUICK, "--dry-run"]
    assert "\x1b[1;32mThe plan" in _on_a_terminal(words, TERM="xterm-256color")
    assert "32m" not in _on_a_terminal(words, TERM="xterm-256color", NO_COLOR="1")
    assert "\x1b" not in "".join(shell(*words)[1:])
