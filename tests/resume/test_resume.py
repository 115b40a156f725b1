"""A run that was stopped anywhere goes on: one charge, one release, the same coins, fresh noise."""

from __future__ import annotations

import gc
import shutil
from pathlib import Path

import pytest
from bombs import GRID, KINDS, Bomb, Killed, new_ledger, plan_of, table

from honestdp import InputError, Ledger, load, verify
from honestdp.privacy.runs import RunCount
from honestdp.randomness import Randomness
from honestdp.run import run

FILES = ["card.json", "model.json", "model.safetensors"]
LAST = 400  # no run here passes so many points


def points(kind: str) -> list:
    """Some points of every procedure in the quick run, all in the slow one."""
    quick = {"random-repeats": range(1, LAST, 7), "subset-tuning": range(2, LAST, 9)}
    every = pytest.param(kind, range(1, LAST), id=f"{kind}-all", marks=pytest.mark.slow)
    return [pytest.param(kind, quick.get(kind, range(3, LAST, 13)), id=kind), every]


ALL = [case for kind in KINDS for case in points(kind)]


def stopped(monkeypatch, at: int, *given, **named) -> bool:
    """Whether the run was stopped at this point; it has fewer points otherwise."""
    with monkeypatch.context() as patch:
        Bomb(patch, at)
        try:
            run(*given, **named)
        except Killed:
            gc.collect()  # what dies with a process: its hold of the lock
            return True
    return False


@pytest.mark.parametrize(("kind", "chosen"), ALL)
def test_a_simulation_comes_to_the_same_end(kind, chosen, tmp_path, monkeypatch):
    plan = plan_of(kind)
    whole = run(plan, table(), seed=3)
    for at in chosen:
        folder = tmp_path / str(at)
        if not stopped(monkeypatch, at, plan, table(), seed=3, folder=folder):
            break
        if (folder / "card.json").exists():
            refused("holds a finished run", plan, folder, seed=3)
            assert load(folder).files == whole.files
            continue
        again = run(plan, table(), seed=3, folder=folder)
        assert again.files == whole.files, at
        assert sorted(f.name for f in folder.iterdir()) == FILES
    else:
        pytest.fail("too few points")


@pytest.mark.parametrize(("kind", "chosen"), ALL)
def test_one_charge_and_one_release_wherever_it_stops(kind, chosen, tmp_path, monkeypatch):
    plan, roots, coins = plan_of(kind), [], []
    made, drawn = Randomness.__init__, RunCount.draw

    def noted(self, *given) -> None:
        made(self, *given)
        roots.append(self.key.tobytes())

    monkeypatch.setattr(Randomness, "__init__", noted)
    monkeypatch.setattr(RunCount, "draw", lambda s, u: coins.append(u) or drawn(s, u))
    for at in chosen:
        place = tmp_path / str(at)
        place.mkdir()
        ledger, folder = new_ledger(place), place / "run"
        roots.clear()
        coins.clear()
        if not stopped(monkeypatch, at, plan, table(), ledger, folder=folder):
            break
        files = [f for f in place.rglob("*") if f.is_file()]
        if any(f.name == "card.json" and f.parent == folder for f in files):
            refused("holds a finished run", plan, folder, ledger)
            assert sorted(f.name for f in folder.iterdir()) == FILES
            assert len(ledger.history()) == 1
            continue
        kept = b"".join(f.read_bytes() for f in files)
        assert all(root not in kept for root in roots)
        release = run(plan, table(), ledger, folder=folder)
        (charge,) = ledger.history()
        assert verify(release.card, ledger).receipt == charge.receipt
        assert load(folder).card == release.card
        assert sorted(f.name for f in folder.iterdir()) == FILES
        assert len(set(roots)) == len(roots)  # no stream of noise twice
        assert len(set(coins)) <= 1  # K once
    else:
        pytest.fail("too few points")


def test_what_is_kept_is_the_owners_alone_and_of_one_size(tmp_path, monkeypatch):
    seen: dict[str, set] = {}

    def look(folder: Path) -> None:
        private = folder / ".private"
        assert private.stat().st_mode & 0o777 == 0o700
        for file in private.iterdir():
            assert file.stat().st_mode & 0o777 == 0o600
            if file.name == "state":
                seen.setdefault("state", set()).add(file.stat().st_size)

    for runs in (1, 50):
        monkeypatch.setattr(RunCount, "draw", lambda self, uniform, runs=runs: runs)
        for at in range(3, LAST, 17):
            folder = tmp_path / f"{runs}-{at}"
            if not stopped(
                monkeypatch, at, plan_of("random-repeats"), table(), seed=1, folder=folder
            ):
                break
            if (folder / ".private" / "state").exists():
                look(folder)
    assert len(seen["state"]) == 1


def test_a_copy_is_released_once(tmp_path, monkeypatch):
    plan, ledger = plan_of("random-repeats"), new_ledger(tmp_path)
    folder, copy = tmp_path / "run", tmp_path / "copy"
    assert stopped(monkeypatch, 20, plan, table(), ledger, folder=folder)
    shutil.copytree(folder, copy)
    run(plan, table(), ledger, folder=folder)
    with pytest.raises(InputError, match="was released before, and not as this folder has it"):
        run(plan, table(), ledger, folder=copy)
    assert not (copy / "card.json").exists()


def test_what_a_copy_had_ready_is_not_published_in_place_of_what_was_released(
    tmp_path, monkeypatch
):
    """Both come as far as asking the ledger; only one may leave."""
    plan, ledger = plan_of("random-repeats"), new_ledger(tmp_path)
    folder, copy = tmp_path / "run", tmp_path / "copy"
    assert stopped(monkeypatch, 12, plan, table(), ledger, folder=folder)
    shutil.copytree(folder, copy)
    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "release", lambda *given: (_ for _ in ()).throw(Killed()))
        for place in (folder, copy):
            with pytest.raises(Killed):
                run(plan, table(), ledger, folder=place)
    assert (copy / ".private" / "card.json").exists()
    run(plan, table(), ledger, folder=folder)
    with pytest.raises(InputError, match="not as this folder has it"):
        run(plan, table(), ledger, folder=copy)


def test_a_receipt_may_be_used_in_a_folder(tmp_path, monkeypatch):
    plan, ledger = plan_of("untuned"), new_ledger(tmp_path)
    receipt = ledger.reserve(plan.spending, plan.public())
    folder = tmp_path / "run"
    assert stopped(monkeypatch, 8, plan, table(), ledger, folder=folder, receipt=receipt)
    run(plan, table(), ledger, folder=folder)
    assert [charge.receipt for charge in ledger.history()] == [receipt]


def test_a_run_that_was_not_paid_for_leaves_nothing(tmp_path):
    plan, ledger = plan_of("untuned"), new_ledger(tmp_path, epsilon=0.1)
    with pytest.raises(InputError, match="left are"):
        run(plan, table(), ledger, folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def refused(words: str, plan, folder: Path, ledger=None, **named) -> None:
    with pytest.raises(InputError, match=words) as caught:
        run(plan, table(), ledger, folder=folder, **named)
    assert "\n" not in str(caught.value)


def test_folders_that_are_none_of_this_run(tmp_path, monkeypatch):
    plan, ledger = plan_of("random-repeats"), new_ledger(tmp_path, epsilon=50.0)
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.tex").write_text("words")
    refused("is not empty", plan, mine, ledger)
    refused("is not empty", plan, mine / "thesis.tex", ledger)
    folder = tmp_path / "run"
    assert stopped(monkeypatch, 15, plan, table(), ledger, folder=folder)
    refused("of another plan", plan_of("random-repeats", epsilon=1.0), folder, ledger)
    refused("is a simulation's", plan, folder, seed=1)
    state = folder / ".private" / "state"
    whole = state.read_bytes()
    for content in (b"", whole[:50], whole[:-1], b"\xff" * 1000, whole[:8] + b"x" + whole[9:]):
        state.write_bytes(content)
        refused("its state", plan, folder, ledger)
    state.write_bytes(whole)
    run(plan, table(), ledger, folder=folder)
    refused("holds a finished run", plan, folder, ledger)
    assert len(ledger.history()) == 1


def test_one_at_a_time(tmp_path, monkeypatch):
    plan = plan_of("composition")
    folder = tmp_path / "run"
    seen = []

    def second(progress) -> None:
        if not seen:
            seen.append(progress)
            refused("another process works in it", plan, folder, seed=1)

    run(plan, table(), seed=1, folder=folder, progress=second)
    assert seen


def test_states_of_every_rule_are_written_in_full():
    """The grid here has every kind of state that a rule may have."""
    from honestdp.engine.rules import RULES

    used = [RULES[setting["rule"]] for setting in GRID]
    kinds = {(bool(rule.slots), bool(rule.rates), len(rule.slots)) for rule in RULES.values()}
    assert kinds <= {(bool(r.slots), bool(r.rates), len(r.slots)) for r in used}
