"""`honestdp paper ...` as a user runs it: in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from cli_calls import commands, complaint

from honestdp import __version__

COMMANDS = {words: found for words, found in commands() if words[0] == "paper"}
RUN = "from honestdp.cli import main; main()"
# The same, telling on stdout if the accountant was imported.
TELL = "import atexit, sys; atexit.register(lambda: 'dp_accounting' in sys.modules and print('!'));"


def honestdp(*arguments: str, code: str = RUN) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )


def test_table3_json() -> None:
    done = honestdp("paper", "table3", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    result = json.loads(done.stdout)
    assert list(result) == ["rows"]
    keys = {"dataset", "optimizer", "procedure", "candidates", "n", "steps", "delta"}
    assert all(set(row) == keys | {"epsilon", "printed"} for row in result["rows"])
    searches = [(row["optimizer"], row["procedure"], row["candidates"]) for row in result["rows"]]
    assert searches == 4 * [
        ("DPSGD", "random-stopping", 40),
        ("DPMomentum", "random-stopping", 280),
        ("DPAdam", "composition", 4),
    ]
    datasets = [row["dataset"] for row in result["rows"][::3]]
    assert datasets == ["Adult", "ENRON", "Gisette", "MNIST"]
    assert all(abs(row["epsilon"] - row["printed"]) < 0.015 for row in result["rows"])


def test_text_shows_the_printed_figure_and_the_reason(tmp_path: Path) -> None:
    target = tmp_path / "candidates.png"
    done = honestdp("paper", "fig-candidates", "--plot", str(target))
    assert done.returncode == 0
    assert target.exists()
    assert done.stderr == f"drawn: {target}\n"
    line = next(line for line in done.stdout.splitlines() if "n = 60000" in line)
    assert line.split()[-3:] == ["26", "25", "26"]  # printed, natural log, base 2
    assert "No single log" in done.stdout


@pytest.mark.parametrize("command", ["table3", "fig1", "fig-candidates"])
def test_a_wrong_picture_name_fails_at_once(command: str) -> None:
    done = honestdp("paper", command, "--plot", "x.txt", code=TELL + RUN)
    assert done.returncode == 2
    assert done.stdout == ""  # nothing was computed, nor could have been: fast by construction
    assert done.stderr.count("\n") == 1
    assert "plot='x.txt'" in done.stderr


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_each_has_json_quiet_and_an_example(words, shell) -> None:
    options = {name for p in COMMANDS[words].params for name in p.opts}
    assert {"--json", "--quiet"} <= options
    said = shell(*words, "--help")
    assert said.code == 0
    assert f"Example: honestdp {' '.join(words)}" in " ".join(said.out.split())
    assert "--nonsense" in complaint(shell(*words, "--nonsense"))


@pytest.mark.parametrize("words", [["paper"], ["paper", "--help"], ["paper", "fig1", "--help"]])
def test_help_is_quick_and_has_an_example(words: list[str]) -> None:
    done = honestdp(*words, code=TELL + RUN)
    assert done.returncode == 0
    assert "Example: honestdp paper" in done.stdout
    assert not done.stdout.endswith("!\n")  # without the accountant


def test_it_has_the_librarys_version() -> None:
    """It uses more of the library than its public names."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
    assert project["version"] == __version__
    assert project["dependencies"] == [f"honestdp=={__version__}"]
