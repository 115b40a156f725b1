"""Experiments 3 to 6: what follows from trainings, on made-up ones and on those committed."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from honestdp.report.picture import save
from honestdp_reproduction import adaptive, advantage, defaults, pruning
from honestdp_reproduction.experiment import Choice
from honestdp_reproduction.experiment_trainings import Panels, selected_trainings
from honestdp_reproduction.grids import GRIDS
from honestdp_reproduction.store import SHIPPED, Store
from honestdp_reproduction.trainings import Results, Training


def put(folder: Path, training: Training, correct, rows: int = 1000) -> None:
    """A training as if it had been run: correct [candidate, time]."""
    steps = list(range(training.every, training.steps + 1, training.every))
    facts: dict[str, Any] = {
        "training": asdict(training),
        "steps": steps,
        "rows": rows,
        "core_seconds": 2.0,
    }
    facts["settings"] = [dict(setting) for setting in GRIDS[training.grid].settings]
    counts = np.broadcast_to(correct, (len(GRIDS[training.grid]), len(steps)))
    Results(Store(folder)).save(training, facts | {"correct": counts.tolist()})


def curves(grid: str, repetition: int = 1) -> Training:
    return Training("adult", "lr", grid, 4.0, 10_000, repetition)


ADULT = Choice(datasets=("adult",))


def test_every_time_has_one_winner_and_ties_share(tmp_path) -> None:
    counts = np.full((40, 100), 700)
    counts[3] = 800  # always best
    counts[7, :50] = 800  # half of the time as good
    put(tmp_path, curves("dpsgd-40"), counts)
    found = pruning.result(ADULT, Store(tmp_path))
    assert found["times"] == 100
    won = {i: row["wins"] for i, row in enumerate(found["wins"]) if row["wins"]}
    assert won == {3: 75.0, 7: 25.0}
    rates = {GRIDS["dpsgd-40"].settings[i]["learning_rate"] for i in (3, 7)}
    assert found["kept_rates"] == sorted(rates)
    assert "never best, and so pruned: 0.005" in pruning.text(found)


def test_repetitions_are_averaged_before_the_maximum(tmp_path) -> None:
    for repetition, lucky in ((1, 0), (2, 1)):
        counts = np.full((40, 100), 500)
        counts[lucky] = 900
        put(tmp_path, curves("dpsgd-40", repetition), counts)
    panels = Panels.of([curves("dpsgd-40", r) for r in (1, 2)], Results(Store(tmp_path)))
    (grids,) = panels.found.values()
    assert pruning.mean_accuracy(grids["dpsgd-40"]).max() == pytest.approx(0.7)


def test_the_mean_over_all_draws() -> None:
    from itertools import combinations

    accuracy = np.random.RandomState(1).random_sample((9, 3)).round(1)  # with ties
    draws = [accuracy[list(four)].max(axis=0) for four in combinations(range(9), 4)]
    assert advantage._best_of_four(accuracy) == pytest.approx(np.mean(draws, axis=0))
    below = [four for four in combinations(accuracy[:, 0], 4) if max(four) < 0.7]
    assert advantage._all_below(accuracy[:, 0], 0.7) == pytest.approx(len(below) / len(draws))


def test_the_best_of_four_drawn(tmp_path) -> None:
    """One of 40 is good: four draws hit it one time in ten."""
    counts = np.full((40, 100), 500)
    counts[17] = 900
    put(tmp_path, curves("dpsgd-40"), counts)
    put(tmp_path, curves("dpadam-4"), 850)
    found = advantage.result(ADULT, Store(tmp_path))
    (panel,) = found["panels"]
    assert panel["best"]["dpsgd-40"][-1] == 0.9
    assert panel["best"]["dpadam-4"][-1] == 0.85
    whole, pruned = (panel[part]["dpsgd-40"] for part in ("held_unpruned", "held"))
    assert whole["mean"][-1] == pytest.approx(0.5 + 0.4 * 0.1, abs=0.05)
    assert whole["exact"][-1] == pytest.approx(0.5 + 0.4 * 0.1)
    # 39 of 40 are beneath: all four drawn, nine times in ten; DPAdam's best is not.
    assert panel["catastrophes"] == {"dpsgd-40": 0.9, "dpadam-4": 0.0}
    assert panel["range"] == {"dpsgd-40": 0.4, "dpadam-4": 0.0}
    assert pruned["mean"][-1] == 0.9  # one rate is left, with four candidates: all are drawn
    assert whole["low"][0] < whole["mean"][0] < whole["high"][0]
    assert found["not_run"] == [
        "adult-lr-dpmomentum-280-sigma4-T10000-1",
        "adult-lr-dpadam-24-sigma4-T10000-1",
    ]
    assert found["candidate_steps"] == {"adult-lr": 440_000}
    assert found["core_seconds"] == {"adult-lr": 4.0}


@pytest.mark.parametrize(("gap", "good"), [(4, ["0.5", "0.6", "0.7"]), (6, [])])
def test_a_good_default_momentum_loses_nowhere(tmp_path, gap, good) -> None:
    momenta = np.array([s["momentum"] for s in GRIDS["dpmomentum-280"].settings])
    for dataset, best in (("adult", 0.5), ("mnist", 0.6)):
        counts = np.where(momenta == best, 800, np.where(momenta < 0.75, 800 - gap, 700))
        training = Training(dataset, "lr", "dpmomentum-280", 4.0, 10_000)
        put(tmp_path, training, counts[:, None])
    found = advantage.result(Choice(datasets=("adult", "mnist")), Store(tmp_path))
    assert advantage.good_momentum(found) == good
    assert f"within 0.005 of the best everywhere: {', '.join(good) or 'none'}" in advantage.text(
        found
    )


def test_where_the_default_of_adam_ranks(tmp_path) -> None:
    settings = GRIDS["dpadam-180"].settings
    counts = np.array([700 + (s["learning_rate"] == 0.01) * 50 for s in settings])
    default = next(i for i, s in enumerate(settings) if defaults._is(s, defaults.DEFAULT))
    counts[default] = 730
    training = Training("adult", "lr", "dpadam-180", 4.0, 2500, 1, 2500)
    put(tmp_path, training, counts[:, None])
    (panel,) = defaults.result(ADULT, Store(tmp_path))["panels"]
    assert (panel["default"], panel["best"], panel["rank_of_default"]) == (0.73, 0.75, 37)
    assert panel["best_by_rate"]["0.001"] == 0.73
    assert sum(panel["usual_rate"]) == 36
    assert panel["best_setting"]["learning_rate"] == 0.01


def test_best_and_median_over_the_clip_norms(tmp_path) -> None:
    for grid in adaptive.NAMES:
        put(tmp_path, curves(grid), np.array([[100], [200], [400], [800]]))
    (panel,) = adaptive.result(ADULT, Store(tmp_path))["panels"]
    assert panel["best"]["adadp-4"] == [0.8] * 100
    assert panel["median"]["adadp-4"] == [0.3] * 100


def test_an_interrupted_timing_goes_on(tmp_path, monkeypatch) -> None:
    """Beside tables that are timed already the others are, and none of them twice."""
    monkeypatch.setattr(adaptive, "RUN", ())
    monkeypatch.setattr(adaptive, "TIMED", dict.fromkeys([("adult", "lr"), ("adult", "tlnn")], 2))
    monkeypatch.setattr(adaptive, "TURNS", 2)
    told: list[str] = []

    def tell(stage: str, share: float) -> None:
        told.append(stage)
        if stage == "timing adult tlnn" and len(set(told)) == 2 and "again" not in told:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        adaptive.run(Choice(), Store(tmp_path), tell)
    assert adaptive._times_missing(Choice(), Store(tmp_path)) == ["timing adult tlnn"]
    told[:] = ["again"]
    adaptive.run(Choice(), Store(tmp_path), tell)
    assert set(told) == {"again", "timing adult tlnn"}
    assert adaptive._times_missing(Choice(), Store(tmp_path)) == []
    for row in adaptive._timed(Store(tmp_path))["rows"]:
        low, middle, high = row["quartiles"]["adadp-4"]
        assert 0 < low <= middle == row["milliseconds"]["adadp-4"] <= high


def test_steps_and_repetitions_as_run_here_and_as_chosen() -> None:
    here = selected_trainings(Choice(), advantage.RUN)
    assert {t.steps for t in here if t.dataset == "enron"} == {5000}
    assert {t.steps for t in here if t.dataset == "mnist"} == {10_000}
    momentum = [t for t in here if t.grid == advantage.MOMENTUM]
    assert {t.repetition for t in momentum} == {1}
    assert max(t.repetition for t in here if t.dataset == "adult") == 3
    chosen = selected_trainings(
        Choice(sigmas=(2.0,), models=("tlnn",), repetitions=2), adaptive.RUN
    )
    assert len(chosen) == 4 * 3 * 2
    assert {(t.model, t.sigma) for t in chosen} == {("tlnn", 2.0)}
    # DPAdam's curves serve two experiments, and are trained once.
    both = set(here) & set(selected_trainings(Choice(), adaptive.RUN))
    assert {t.grid for t in both} == {"dpadam-4"}


SHOW = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "numba"):
            raise ImportError(name)
sys.meta_path.insert(0, Blocked())
from importlib import import_module
from honestdp_reproduction.experiment import Choice
from honestdp_reproduction.store import SHIPPED, Store
from honestdp.report.picture import Picture
name = sys.argv[1]
experiment = import_module("honestdp_reproduction." + name)
found = experiment.result(Choice(), Store(SHIPPED))
assert not found["not_run"], found["not_run"]
assert "SIMULATION" in experiment.text(found)
drawn = experiment.picture(found)
assert drawn.simulation and "SIMULATION" in found["what"]
"""


@pytest.mark.parametrize("name", ["defaults", "advantage", "pruning", "adaptive", "threshold"])
def test_what_is_committed_is_whole_and_shown_without_torch_or_data(name) -> None:
    done = subprocess.run([sys.executable, "-c", SHOW, name], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("experiment", [defaults, advantage, pruning, adaptive])
def test_a_picture_is_drawn_from_the_files_alone(experiment, tmp_path) -> None:
    found = experiment.result(Choice(), Store(SHIPPED))
    save(experiment.picture(found), tmp_path / "drawn.png")
    assert (tmp_path / "drawn.png").read_bytes()[:4] == b"\x89PNG"
