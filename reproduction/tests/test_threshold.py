"""threshold: the bias is moved to where the training rows have it best, and nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from honestdp.engine import Linear, Snapshot, examples
from honestdp.errors import InputError
from honestdp_reproduction import experiment_trainings, threshold, trainings
from honestdp_reproduction.data import Rows
from honestdp_reproduction.experiment import Choice
from honestdp_reproduction.store import Store
from honestdp_reproduction.trainings import Results

ADULT = Choice(datasets=("adult",), repetitions=1)


def right(scores, targets, at: float) -> int:
    return int(((np.asarray(scores) > at) == np.asarray(targets)).sum())


@given(st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=1, max_size=12))
def test_no_threshold_is_better(rows) -> None:
    """Against every place there is, equal scores included."""
    # Next to each other in float32: nothing of that type lies between two of them.
    near = np.cumsum([0.5] + [np.spacing(np.float32(0.5))] * 6)
    scores = np.array([near[score] for score, _ in rows], dtype=np.float32).astype(float)
    targets = np.array([int(one) for _, one in rows])
    places = [-1.0, *sorted({float(score) for score in scores})]
    best = max(right(scores, targets, place) for place in places)
    assert right(scores, targets, threshold.cut(scores, targets)) == best


def test_a_ranking_is_counted_whatever_its_bias() -> None:
    import torch

    column = torch.arange(8.0).unsqueeze(1)
    rows = examples(column, (column.squeeze(1) > 2.5).long())
    model = Linear(1, 2)
    for bias in (-9.0, 0.0, 9.0):
        params = torch.tensor([[1.0, bias]])
        seen = Snapshot(1, (0,), model, params)
        assert threshold.Moved(Store(Path())).count(seen, Rows(rows, rows, model)) == [8]
    backwards = Snapshot(1, (0,), model, torch.tensor([[-1.0, 0.0]]))
    assert threshold.Moved(Store(Path())).count(backwards, Rows(rows, rows, model)) == [
        5
    ]  # all are 1


def test_the_threshold_is_the_training_rows() -> None:
    """Validation rows that would have another are counted with that one."""
    import torch

    column = torch.arange(8.0).unsqueeze(1)
    train, validation = (examples(column, (column.squeeze(1) > edge).long()) for edge in (2.5, 4.5))
    seen = Snapshot(1, (0,), Linear(1, 2), torch.tensor([[1.0, 0.0]]))
    assert threshold.Moved(Store(Path())).count(seen, Rows(train, validation, seen.model)) == [6]


def test_it_trains_the_same_and_shows_both(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(experiment_trainings, "STEPS", {"adult": 100})
    block = experiment_trainings.Block(("adult",), ("lr",), (4.0,), {"dpadam-4": 1})
    monkeypatch.setattr(threshold, "RUN", (block,))
    with pytest.raises(InputError, match="run the experiment first"):
        threshold.result(ADULT, Store(tmp_path))
    shares: list[float] = []
    threshold.run(ADULT, Store(tmp_path), lambda _, share: shares.append(share))
    assert shares == sorted(shares)
    found = threshold.result(ADULT, Store(tmp_path))
    (row,) = found["panels"]
    # After 100 steps everyone is called poor, and the ranking is better than that.
    assert row["moved"]["dpadam-4"][0] > row["best"]["dpadam-4"][0] + 0.003
    assert "moved" in threshold.Moved(Store(tmp_path)).what
    assert "SIMULATION" in threshold.text(found)
    assert threshold.picture(found).simulation
    (training,) = threshold._wanted(ADULT)
    both = [kind(Store(tmp_path)).read(training) for kind in (Results, threshold.Moved)]
    assert both[0]["seed"] == both[1]["seed"] == trainings.Training.seed.fget(training)


def test_more_than_two_classes_are_refused() -> None:
    with pytest.raises(InputError, match="this experiment has adult, enron"):
        threshold._wanted(Choice(datasets=("mnist",)))
    some = threshold._wanted(Choice(sigmas=(2.0,)))
    assert {training.dataset for training in some} == set(threshold.TABLES)
