"""balanced: the mean it keeps is the engine's, its smoothness the eigenvalue, its files resume."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from honestdp.engine import Candidate, Linear, Randomness, Schedule, examples, train
from honestdp.errors import InputError
from honestdp.text import SIMULATION
from honestdp_reproduction import balanced, curvature, data
from honestdp_reproduction.experiment import Choice
from honestdp_reproduction.store import Store

ROWS = 500


def made_up(dataset: str = "", model: str = "lr") -> data.Rows:
    source = np.random.RandomState(0)
    inputs = source.rand(ROWS, 4).astype(np.float32)
    some = source.rand(ROWS) < 0.1  # on the wrong side, so that there is something to clip
    rows = examples(inputs, ((inputs.sum(1) > 2) ^ some).astype(np.int64))
    return data.Rows(rows, rows, Linear(4, 2))


@pytest.mark.parametrize("steps", [6, 7])
def test_one_training_gives_the_engines_average_too(steps: int) -> None:
    rows, mean = made_up(), balanced.Mean(steps)

    def candidates(average: bool) -> list[Candidate]:
        return [
            Candidate(
                noise_multiplier=1.0, rule="balanced", kappa=kappa, row_norm=1.2, average=average
            )
            for kappa in (1.0, 3.0)
        ]

    schedule = Schedule(steps, 20)
    train(
        rows.model,
        rows.train,
        candidates(False),
        schedule,
        Randomness.simulation(3),
        observe=mean.observe,
        observe_every=1,
    )
    asked = train(rows.model, rows.train, candidates(True), schedule, Randomness.simulation(3))
    assert np.allclose(mean.of([0, 1]), asked.stacked, atol=1e-7)


def test_smoothness_is_the_largest_eigenvalue_over_four() -> None:
    rows = made_up()
    inputs = np.column_stack([np.ones(ROWS), rows.train.inputs])
    largest = np.linalg.eigvalsh(inputs.T @ inputs / ROWS)[-1]
    assert curvature.smoothness(rows) == pytest.approx(largest / 4, rel=1e-6)


def test_the_clipped_curvature_of_two_classes_is_that_of_rows_which_are_not_clipped() -> None:
    """A clipped example's gradient is constant: the others' p (1 - p) x x' is all there is."""
    rows = made_up()
    inputs = np.column_stack([np.ones(ROWS), rows.train.inputs]).astype(float)
    targets = rows.train.targets.numpy()
    fitted = LogisticRegression(max_iter=200).fit(inputs[:, 1:], targets)
    p = fitted.predict_proba(inputs[:, 1:])[:, 1]
    kept = np.abs(p - targets) * np.linalg.norm(inputs, axis=1) < 1
    assert 0 < kept.sum() < ROWS
    weights = p * (1 - p) * kept
    expected = np.linalg.eigvalsh((inputs * weights[:, None]).T @ inputs / ROWS)[-1]
    assert curvature.clipped_curvature(rows) == pytest.approx(expected, rel=1e-4)


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> Choice:
    monkeypatch.setattr(data, "load", made_up)
    monkeypatch.setattr(balanced, "STEPS", (6,))
    table = balanced.Table("adult-104", (100, 250), 2.0, 2)
    monkeypatch.setattr(balanced, "TABLES", (table,))
    return Choice()


def test_a_run_that_goes_on_has_the_same_files(tmp_path: Path, tiny: Choice) -> None:
    told: list[float] = []

    def counts(store: Store) -> dict[str, object]:
        names = [name for name in store.names("balanced") if "-T" in name]
        return {name: store.read("balanced", name, "trained")["trained"] for name in names}

    whole, parts = Store(tmp_path / "whole"), Store(tmp_path / "parts")
    balanced.run(tiny, whole, lambda what, share: told.append(share))
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1)
    first = Choice(repetitions=1)
    balanced.run(first, parts, lambda what, share: None)
    with pytest.raises(InputError, match="run the experiment first"):
        balanced.result(tiny, parts)
    balanced.run(tiny, parts, lambda what, share: None)
    assert counts(parts) == counts(whole)
    result = balanced.result(tiny, whole)
    for point in result["points"]:
        assert 0.99 * 2 < point["guarantee"] <= 2
        assert point["free"] == max(max(point["averaged"]), max(point["last"]))
        assert all(loss >= 0 for losses in point["loss"].values() for loss in losses.values())
        assert point["stability"] == sorted(point["stability"])
    assert SIMULATION in balanced.text(result)
    assert balanced.picture(result).simulation


def test_a_repetition_is_saved_once(tmp_path: Path, tiny: Choice) -> None:
    first = next(setup for setup, _ in balanced.setups(tiny))
    for _ in range(2):  # as two processes would
        balanced._train(first, 0, Store(tmp_path), lambda share: None)
    known = first.read(Store(tmp_path))
    assert known is not None
    assert len(known["trained"]) == 1


def test_other_kappas_are_not_added_to_these(
    tmp_path: Path, tiny: Choice, monkeypatch: pytest.MonkeyPatch
) -> None:
    balanced.run(Choice(repetitions=1), Store(tmp_path), lambda what, share: None)
    monkeypatch.setattr(balanced, "KAPPAS", (1.0, 3.0))
    with pytest.raises(InputError, match="holds another setup"):
        balanced.run(tiny, Store(tmp_path), lambda what, share: None)


def test_it_trains_with_the_noise_of_its_epsilon(
    tmp_path: Path, tiny: Choice, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = set()

    def spy(model, rows, chosen, *rest, **more):
        asked.update((c.noise_multiplier, rest[0].lot_size) for c in chosen)
        return train(model, rows, chosen, *rest, **more)

    monkeypatch.setattr("honestdp.engine.train", spy)
    balanced.run(tiny, Store(tmp_path), lambda what, share: None)
    points = balanced.result(tiny, Store(tmp_path))["points"]
    assert asked == {(point["noise_multiplier"], point["lot_size"]) for point in points}


def test_a_clip_norm_is_trained_with_and_has_a_file_of_its_own(
    tmp_path: Path, tiny: Choice, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = balanced.Table("adult-104", (100,), 2.0, 1, clip_norm=0.2)
    monkeypatch.setattr(balanced, "TABLES", (*balanced.TABLES, short))
    asked = set()

    def spy(model, rows, chosen, *rest, **more):
        asked.update((c.clip_norm, rest[0].lot_size) for c in chosen)
        return train(model, rows, chosen, *rest, **more)

    monkeypatch.setattr("honestdp.engine.train", spy)
    balanced.run(tiny, Store(tmp_path), lambda what, share: None)
    assert asked == {(1.0, 100), (1.0, 250), (0.2, 100)}
    points = balanced.result(tiny, Store(tmp_path))["points"]
    assert [point["clip_norm"] for point in points] == [1.0, 1.0, 0.2]
    # Five times the rate at a fifth of the clip norm: the noise moves logits as far.
    assert points[2]["stability"] == pytest.approx([5 * s for s in points[0]["stability"]])
    assert "C 0.2" in balanced.text({"what": "", "points": points})


def test_choices_it_has_not(tmp_path: Path) -> None:
    for choice, name in (
        (Choice(datasets=("zero",)), "datasets"),
        (Choice(models=("tlnn",)), "models"),
        (Choice(sigmas=(4.0,)), "sigmas"),
    ):
        with pytest.raises(InputError, match=name):
            balanced.result(choice, Store(tmp_path))
