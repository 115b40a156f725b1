"""`honestdp paper NAME` for the experiments that train."""

from __future__ import annotations

import json
from importlib import import_module

import pytest
from cli_calls import complaint

from honestdp.cli.console import Console
from honestdp.errors import InputError
from honestdp_reproduction import trainings
from honestdp_reproduction.cli.experiments import EXPERIMENTS, _Teller
from honestdp_reproduction.experiment import DATASETS, MODELS, Choice
from honestdp_reproduction.store import Store

SMALL = ("--datasets", "adult")


@pytest.fixture
def short(monkeypatch):
    """Trainings of four steps."""
    jobs = trainings.training_jobs

    def few(asked, results):
        return jobs([t for t in asked if t.grid == "dpadam-4"], results)

    monkeypatch.setattr("honestdp_reproduction.experiment_trainings.STEPS", {"adult": 100})
    monkeypatch.setattr("honestdp_reproduction.adaptive.training_jobs", few)


def test_it_trains_saves_shows_and_draws(shell, short, tmp_path) -> None:
    said = shell("paper", "adaptive", *SMALL, "--plot", "drawn.html")
    assert said.code == 0, said.err
    assert "adult" in said.out
    assert "% of what was missing" in said.err
    assert "drawn: drawn.html" in said.err
    assert [path.name for path in (tmp_path / "results").iterdir()] == ["trainings.jsonl.gz"]
    assert "SIMULATION" in (tmp_path / "drawn.html").read_text()
    again = shell("paper", "adaptive", *SMALL, "--json")
    assert json.loads(again.out)["panels"][0]["dataset"] == "adult"
    assert again.err == ""


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_nothing_there_is_one_line(shell, name) -> None:
    line = complaint(shell("paper", name, "--show", "--results", "nowhere"))
    assert "run the experiment first" in line


def test_what_is_wrong_is_one_line(shell) -> None:
    assert "must be among adult" in complaint(shell("paper", "pruning", "--datasets", "cifar"))
    assert "'x' is not a number" in complaint(shell("paper", "pruning", "--sigmas", "2,x"))
    assert "has an empty word" in complaint(shell("paper", "pruning", "--sigmas", ","))
    assert "this experiment has enron" in complaint(
        shell("paper", "heatmap-enron", "--datasets", "mnist")
    )
    assert "this experiment has lr" in complaint(shell("paper", "step-size", "--models", "tlnn"))
    assert "leave it out" in complaint(shell("paper", "step-size", "--repetitions", "2"))
    assert "repetitions=0" in complaint(shell("paper", "pruning", "--repetitions", "0"))
    assert "plot='x.txt'" in complaint(shell("paper", "pruning", "--plot", "x.txt"))


@pytest.mark.parametrize("name", ["step-size", "balanced"])
def test_a_folder_that_cannot_be_written_is_found_at_once(shell, name, tmp_path) -> None:
    (tmp_path / "afile").write_text("")
    for place in ("afile", "afile/within"):
        line = complaint(shell("paper", name, "--results", place))
        assert f"results='{place}': is no folder to write to; name another" in line


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_help_names_what_can_be_chosen(name, tmp_path) -> None:
    """All of it, and nothing that is then refused."""
    module = import_module(f"honestdp_reproduction.{name.replace('-', '_')}")
    one = EXPERIMENTS[name]
    for words, option in ((one.datasets, "datasets"), (one.models, "models")):
        for word in DATASETS if option == "datasets" else MODELS:
            with pytest.raises(InputError) as refused:
                module.result(Choice(**{option: (word,)}), Store(tmp_path))
            known = "this experiment has" not in str(refused.value)
            assert known == (word in words.split(",")), (word, str(refused.value))


def test_a_missing_data_set_is_one_line(shell, monkeypatch) -> None:
    monkeypatch.delenv("HONESTDP_DATA", raising=False)
    said = shell("paper", "pruning", "--datasets", "mnist", "--results", "new")
    assert "HONESTDP_DATA" in complaint(said)


def test_ctrl_c_says_how_to_go_on(shell, monkeypatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("honestdp_reproduction.pruning.train_all", interrupted)
    line = complaint(shell("paper", "pruning"), 130)
    assert "the same command goes on" in line


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_what_comes_with_the_package_is_shown(shell, name) -> None:
    said = shell("paper", name, "--show")
    assert (said.code, said.err) == (0, "")
    assert "SIMULATION" in said.out


def test_a_log_is_told_the_time_left(capsys) -> None:
    now = [0.0]
    teller = _Teller(Console(False, False), lambda: now[0])
    for second in range(0, 100, 10):
        now[0] = float(second)
        teller("a training", second / 1000)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 4  # at 0, 30, 60 and 90 seconds
    assert lines[1] == "a training: 3 % of what was missing; about 16 min left"
