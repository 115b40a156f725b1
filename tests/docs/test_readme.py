"""The README claims what its commands show: its code runs and its figures come out."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import honestdp

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
RUN = "from honestdp.cli import main; main()"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


def test_python_blocks_run_in_order_and_show_the_figures_in_their_comments(
    capsys, monkeypatch, tmp_path
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for code in blocks("python"):
        exec(compile(code, "README.md", "exec"), names)
        printed = capsys.readouterr().out
        for figure in re.findall(r"# .*: (\d\.\d+)$", code, flags=re.MULTILINE):
            assert figure in printed


def test_what_a_budget_affords() -> None:
    (code,) = [block for block in blocks("python") if "affordable(" in block]
    most = eval(code.split("#")[0], {"honestdp": honestdp})
    for name, count in re.findall(r"'([a-z-]+)': (\d+)", code):
        assert most[name] == pytest.approx(int(count), rel=0.01)


def test_the_table_is_what_the_command_prints() -> None:
    (words,) = re.findall(r"\.venv/bin/honestdp (plan .*)", README)
    done = subprocess.run(
        [sys.executable, "-c", RUN, *words.split()], capture_output=True, text=True, check=True
    )
    (table,) = blocks("text")
    for line in table.splitlines():
        assert line in done.stdout


def test_the_demo_is_the_readmes_example() -> None:
    demo = (ROOT / "Makefile").read_text().split("demo: ")[1].splitlines()[1]
    (words,) = re.findall(r"\.venv/bin/honestdp (plan .*) --noise-multiplier", README)
    assert words in demo


def test_pictures_and_files_named_are_there() -> None:
    for path in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (ROOT / path).is_file()
