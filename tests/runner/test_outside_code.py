"""Code that is not honestdp's own: what it returns is checked, what it says is not passed on."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from tiny_runs import GRID, new_ledger, one_training, search, small_spec, table

from honestdp import InputError, SearchError, make_plan, run, verify
from honestdp.engine import Module
from honestdp.executors import Executor
from honestdp.executors.local import LocalExecutor as Local
from honestdp.procedures import procedures
from honestdp.procedures.composition import Composition

SECRET = "the row is 29.5185851"


class Greedy(Composition):
    """Says that only the winner is released, and keeps everybody; costs next to nothing."""

    name = "greedy"
    releases_all = False

    @classmethod
    def automatic(cls, hit_probability: float) -> Any:
        return ({},)

    def price(self, bound: str, run: Any, final: Any, delta: float) -> float:
        return super().price(bound, run, final, delta) / 100


@pytest.fixture
def greedy() -> Iterator[None]:
    procedures.register(Greedy)
    yield
    procedures.unregister("greedy")


def test_a_procedure_cannot_release_more_than_it_says(greedy, tmp_path, monkeypatch) -> None:
    plan = make_plan(small_spec(grid=GRID, procedure="greedy"))
    ledger = new_ledger(tmp_path / "l")
    with pytest.raises(InputError, match="more outcomes than may be released"):
        run(plan, table(), ledger)
    assert not ledger.history()
    # One that behaves on made-up outcomes, and not on real ones.
    keep = Greedy.keep
    monkeypatch.setattr(
        Greedy,
        "keep",
        lambda self, k, new, s: keep(self, k, new, s)[: 2 if new[0].parameters is not None else 1],
    )
    with pytest.raises(SearchError, match="InputError"):
        run(plan, table(), ledger)
    assert not ledger.history()[0].released


def test_auto_takes_no_price_from_outside(greedy) -> None:
    assert make_plan(small_spec(grid=GRID, procedure="auto")).procedure.name != "greedy"


def test_plan_and_card_name_what_is_taken_at_its_word(greedy, monkeypatch) -> None:
    monkeypatch.setattr(Greedy, "releases_all", True)
    plan = make_plan(small_spec(grid=GRID, procedure="greedy"))
    part = f"procedure 'greedy' ({__name__}:Greedy)"
    assert plan.outside == (part,)
    assert plan.public()["outside"] == [part]
    assert part in str(plan)
    assert part in run(plan, table(), seed=1).card.trusted
    own = one_training()
    assert own.outside == ()
    assert "outside" not in own.public()


class Raises(Executor):
    """Raises what it is given."""

    name = "raises"

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def train(self, work: Any, begun: Any = None) -> Any:
        raise self.error


class Panic(BaseException):
    """As a Rust library raises it."""


@pytest.mark.parametrize("plan", [one_training(), search()], ids=["untuned", "best of K"])
@pytest.mark.parametrize(
    "error", [InputError(SECRET), ValueError(SECRET), Panic(SECRET)], ids=lambda e: type(e).__name__
)
def test_nothing_that_is_said_inside_is_passed_on(plan, error, tmp_path) -> None:
    with pytest.raises(SearchError) as caught:
        run(plan, table(), new_ledger(tmp_path / "l"), executor=Raises(error))
    assert SECRET not in str(caught.value)
    assert caught.value.__context__ is caught.value.__cause__ is None
    assert type(error).__name__ in str(caught.value)
    frames = [frame.f_locals for frame, _ in traceback.walk_tb(caught.value.__traceback__)]
    held = {type(value).__name__ for names in frames for value in names.values()}
    assert not held & {"PrivateData", "Work", "Trainer", "Randomness", "Outcome"}
    with pytest.raises(type(error), match=r"29\.5"):  # a simulation shows the whole error
        run(plan, table(), seed=1, executor=Raises(error))


def test_an_exit_keeps_its_kind_and_loses_its_words(tmp_path) -> None:
    with pytest.raises(SystemExit) as caught:
        run(
            one_training(), table(), new_ledger(tmp_path / "l"), executor=Raises(SystemExit(SECRET))
        )
    assert caught.value.args == ()


class Fragile(torch.nn.Module):
    """Cannot answer once it was trained."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if Fragile.broken:
            raise ValueError(f"weights {self.layer.weight}")
        return self.layer(x)

    broken = False


def test_a_model_that_cannot_answer_is_no_second_chance(tmp_path, monkeypatch) -> None:
    """Whether it answers depends on parameters that are not released yet: a run that failed here
    could be repeated with new noise until they suit."""
    ledger, train = new_ledger(tmp_path / "l"), Local.train

    def breaks(self: Local, *given: Any) -> Any:
        done = train(self, *given)
        monkeypatch.setattr(Fragile, "broken", True)
        return done

    monkeypatch.setattr(Local, "train", breaks)
    plan = one_training(model=Module(Fragile(), classes=2))
    release = run(plan, table(), ledger)
    assert verify(release.card, ledger)
    assert b"weights" not in b"".join(release.files.values())


def test_what_fails_before_the_release_is_sealed(tmp_path, monkeypatch) -> None:
    def breaks(*given: Any) -> Any:
        raise ValueError(SECRET)

    monkeypatch.setattr("honestdp.runner.publish.write_model", breaks, raising=True)
    monkeypatch.setattr("honestdp.runner.run.check_serialisable", lambda *given: None)
    ledger = new_ledger(tmp_path / "l")
    with pytest.raises(SearchError) as caught:
        run(one_training(steps=12), table(), ledger)
    assert SECRET not in str(caught.value)
    assert not ledger.history()[0].released


def test_an_executor_is_closed_by_whoever_made_it(tmp_path, monkeypatch) -> None:
    closed: list[str] = []
    monkeypatch.setattr(Local, "close", lambda self: closed.append("closed"))
    run(one_training(), table(), seed=1)
    assert closed == ["closed"]
    monkeypatch.setattr(Local, "train", _broken)
    with pytest.raises(ValueError, match="broken"):
        run(one_training(), table(), seed=1)
    assert closed == ["closed"] * 2
    run_with = Raises(ValueError("broken"))
    with pytest.raises(ValueError, match="broken"):
        run(one_training(), table(), seed=1, executor=run_with)
    assert closed == ["closed"] * 2


def test_a_named_executor_is_closed_when_the_run_is_refused(monkeypatch) -> None:
    closed: list[str] = []
    monkeypatch.setattr(Local, "close", lambda self: closed.append("closed"))
    short = {name: cells[:-1] for name, cells in table().items()}
    with pytest.raises(InputError, match="rows"):
        run(one_training(), short, seed=1)
    assert closed == ["closed"]
    with pytest.raises(InputError, match="folder"):
        run(one_training(), table(), seed=1, folder=__file__)
    assert closed == ["closed"] * 2


def _broken(*given: Any) -> Any:
    raise ValueError("broken")
