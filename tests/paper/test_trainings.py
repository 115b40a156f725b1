"""Trainings: saved as they go, resumed to the same numbers, found again by what they are."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from honestdp.engine import Schedule, train
from honestdp.errors import InputError
from honestdp.paper import trainings
from honestdp.paper.experiment import DATASETS, MODELS, WHAT, Choice, read, save, write
from honestdp.paper.grids import GRIDS, candidates
from honestdp.paper.trainings import Results, Training, train_all

SMALL = Training("adult", "lr", "dpadam-4", 4.0, steps=4, every=2)


def quiet(stage: str, share: float) -> None:
    pass


def saved(folder: Path, training: Training = SMALL) -> dict:
    return json.loads(Results(folder).path(training).read_text())


def test_what_a_file_says(tmp_path) -> None:
    shares: list[float] = []
    train_all([SMALL], Results(tmp_path), lambda stage, share: shares.append(share))
    known = saved(tmp_path)
    assert known["what"] == WHAT
    assert WHAT.startswith("SIMULATION")
    assert known["training"]["sigma"] == 4.0
    assert (known["train_rows"], known["rows"], known["lot_size"]) == (36177, 9045, 250)
    assert known["steps"] == [2, 4]
    assert np.shape(known["correct"]) == (4, 2)
    assert known["seed"] == SMALL.seed
    assert known["seconds"] > 0
    assert {"processor", "python", "torch", "date"} <= set(known["machine"])
    assert known["commit"]
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1)
    assert not list(tmp_path.rglob("*.part"))


def test_an_interrupted_one_goes_on_to_the_same_numbers(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(trainings, "TOGETHER", 1)
    train_all([SMALL], Results(tmp_path / "whole"), quiet)

    def interrupt(stage: str, share: float) -> None:
        if share > 0.6:
            raise KeyboardInterrupt

    parts = Results(tmp_path / "parts")
    with pytest.raises(KeyboardInterrupt):
        train_all([SMALL], parts, interrupt)
    assert parts.missing(SMALL) == 2
    assert parts.find(SMALL) is None
    train_all([SMALL], parts, quiet)
    assert saved(tmp_path / "parts")["correct"] == saved(tmp_path / "whole")["correct"]
    # And not candidate by candidate: the same numbers again.
    monkeypatch.setattr(trainings, "TOGETHER", 40)
    train_all([SMALL], Results(tmp_path / "together"), quiet)
    assert saved(tmp_path / "together")["correct"] == saved(tmp_path / "whole")["correct"]


def test_it_trains_with_its_sigma_and_steps(tmp_path, monkeypatch) -> None:
    asked = []

    def spy(model, rows, chosen, schedule, *rest, **more):
        asked.append(({c.noise_multiplier for c in chosen}, schedule))
        return train(model, rows, chosen, schedule, *rest, **more)

    monkeypatch.setattr("honestdp.engine.train", spy)
    train_all([SMALL], Results(tmp_path), quiet)
    assert asked[-1] == ({SMALL.sigma}, Schedule(SMALL.steps, 250))


def test_what_is_there_is_not_trained_again(tmp_path, monkeypatch) -> None:
    train_all([SMALL], Results(tmp_path), quiet)
    monkeypatch.setattr(trainings, "_train", lambda *_: pytest.fail("trained again"))
    train_all([SMALL], Results(tmp_path), quiet)
    curves = Results(tmp_path).find(SMALL)
    assert curves is not None
    assert curves.accuracy.shape == (4, 2)
    assert [s["clip_norm"] for s in curves.settings] == [0.1, 0.2, 0.5, 1.0]


def test_a_file_that_is_something_else_is_one_line(tmp_path) -> None:
    results = Results(tmp_path)
    path = results.path(SMALL)
    path.parent.mkdir(parents=True)
    path.write_text('{"training": {"dataset": "mnist"}, "correct": []}')
    with pytest.raises(InputError, match="holds another training"):
        results.find(SMALL)
    other = [{"rule": "dpsgd"}]  # of a grid as it was once
    path.write_text(json.dumps({"training": asdict(SMALL), "settings": other, "correct": []}))
    with pytest.raises(InputError, match="holds another training"):
        results.find(SMALL)
    for broken in ("{", json.dumps({"training": asdict(SMALL)})):  # cut off; without its rows
        path.write_text(broken)
        with pytest.raises(InputError, match="is no file of results; remove it"):
            results.find(SMALL)


def test_two_writers_do_not_share_a_draft(tmp_path, monkeypatch) -> None:
    """Experiments share trainings: one that ends first must not take the other's draft away."""
    drafts = set()
    replace = os.replace

    def spy(draft: Path, target: Path) -> None:
        drafts.add(draft.name)
        replace(draft, target)

    monkeypatch.setattr(os, "replace", spy)
    for process in (1, 2):
        monkeypatch.setattr("os.getpid", lambda process=process: process)
        write(tmp_path / "a.json", {}, "rows", [])
    assert len(drafts) == 2


def test_a_file_says_by_which_commits_it_was_made(tmp_path, monkeypatch) -> None:
    path, known = tmp_path / "a.json", {"rows": [1]}
    for commit in ("first", "second", "second", "third"):
        monkeypatch.setattr("honestdp.paper.machine.commit", lambda commit=commit: commit)
        save(path, known, "rows")
        known = read(path, "rows")
    assert (known["commit"], known["earlier_commits"]) == ("third", ["first", "second"])
    assert {"dp_accounting", "scikit_learn", "scipy", "numpy"} <= set(known["machine"])


def test_what_is_said_twice_is_chosen_once() -> None:
    choice = Choice(("adult", "mnist", "adult"), ("lr", "lr"), (4.0, 2.0, 4))
    assert choice == Choice(("adult", "mnist"), ("lr",), (4.0, 2.0))


def test_sigmas_that_differ_a_little_have_files_of_their_own() -> None:
    names = {Training("adult", "lr", "dpadam-4", s, 4).name for s in (4.0, 4.0000001)}
    assert len(names) == 2


def test_no_two_trainings_share_a_seed() -> None:
    made = [
        Training(dataset, model, grid, sigma, steps, repetition)
        for dataset in DATASETS
        for model in MODELS
        for grid in GRIDS
        for sigma in (2.0, 4.0, 8.0)
        for steps in (2500, 10_000)
        for repetition in (1, 2, 3)
    ]
    assert len({t.seed for t in made}) == len(made) == len({t.name for t in made})


def test_the_grids_are_the_papers() -> None:
    sizes = {name: len(grid) for name, grid in GRIDS.items()}
    assert sizes == {
        "dpsgd-40": 40, "dpmomentum-280": 280, "dpadam-4": 4,
        "adadp-4": 4, "dpadamwosm-4": 4, "dpadam-24": 24, "dpadam-180": 180,
    }  # fmt: skip
    usual = candidates("dpadam-4", 4.0)
    assert {c.noise_multiplier for c in usual} == {4.0}
    assert {(c.beta1, c.beta2) for c in usual} == {(0.9, 0.999)}
    assert {c.learning_rate or 1e-3 for c in usual} == {1e-3}
    assert {c.clip_norm for c in candidates("dpadam-180", 4.0)} == {0.5}
    with pytest.raises(InputError, match="must be one of"):
        candidates("dpsgd-41", 4.0)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"datasets": ("gisette",)}, "datasets='gisette': must be among adult"),
        ({"models": ("cnn",)}, "models='cnn': must be among lr"),
        ({"sigmas": (0.0,)}, "sigmas=0"),
        ({"repetitions": 0}, "repetitions=0"),
    ],
)
def test_a_wrong_choice_is_one_line(wrong, said) -> None:
    with pytest.raises(InputError) as error:
        Choice(**wrong)
    assert said in str(error.value)
