"""A run that was stopped anywhere goes on: one charge, one release, the same coins, fresh noise."""

from __future__ import annotations

import gc
import shutil
from pathlib import Path

import pytest
from bombs import GRID, KINDS, Bomb, Killed, new_ledger, plan_of, table

from honestdp import InputError, Ledger, files, load, verify
from honestdp.errors import FolderError, Interrupted
from honestdp.privacy.run_count import RunCount
from honestdp.randomness import Randomness
from honestdp.runner.run import run

FILES = ["card.json", "model.json", "model.safetensors"]
LAST = 400  # no run here passes so many points


def points(kind: str) -> list:
    """Some points of every procedure in the quick run, more in the slow one, all in the nightly."""
    quick = {"random-repeats": range(1, LAST, 26), "subset-tuning": range(2, LAST, 34)}
    more = pytest.param(kind, range(1, LAST, 6), id=f"{kind}-more", marks=pytest.mark.slow)
    every = pytest.param(kind, range(1, LAST), id=f"{kind}-all", marks=pytest.mark.nightly)
    return [pytest.param(kind, quick.get(kind, range(3, LAST, 31)), id=kind), more, every]


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
    made, drawn = Randomness.__init__, RunCount.draw_exactly

    def noted(self, *given) -> None:
        made(self, *given)
        roots.append(self.key.tobytes())

    monkeypatch.setattr(Randomness, "__init__", noted)
    monkeypatch.setattr(
        RunCount, "draw_exactly", lambda s, u: coins.append(u._bits(64)) or drawn(s, u)
    )
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

    plan = plan_of("random-repeats")
    for runs in (1, 50):
        monkeypatch.setattr(RunCount, "draw_exactly", lambda self, uniform, runs=runs: runs)
        for at in range(3, LAST, 17):
            folder = tmp_path / f"{runs}-{at}"
            if not stopped(monkeypatch, at, plan, table(), seed=1, folder=folder):
                break
            if (folder / ".private" / "state").exists():
                look(folder)
    assert len(seen["state"]) == 1


def test_whoever_sees_a_state_sees_what_was_asked(tmp_path, monkeypatch):
    """Whoever waits for the state, or is stopped before it, can resume by the command."""
    plan, written = plan_of("untuned"), []
    replace = files.replace_file

    def noted(path, content, *how):
        replace(path, content, *how)
        written.append((path.name, (path.parent / "asked.toml").is_file()))

    with monkeypatch.context() as patch:
        patch.setattr("honestdp.resume.journal.replace_file", noted)
        run(plan, table(), seed=1, folder=tmp_path / "whole", config="seed = 1\n")
    assert written[:2] == [("asked.toml", True), ("state", True)]
    for at in range(1, 9):  # before and after each of the two, and around their renames
        folder, asked = tmp_path / str(at), {"seed": 1, "config": "seed = 1\n"}
        assert stopped(monkeypatch, at, plan, table(), folder=folder, **asked)
        assert (folder / ".private" / "asked.toml").is_file() == (at > 2)
        run(plan, table(), folder=folder, **asked)
        assert (folder / "asked.toml").read_text() == "seed = 1\n"


def test_a_copy_is_released_once(tmp_path, monkeypatch):
    plan, ledger = plan_of("random-repeats"), new_ledger(tmp_path)
    folder, copy = tmp_path / "run", tmp_path / "copy"
    assert stopped(monkeypatch, 20, plan, table(), ledger, folder=folder)
    shutil.copytree(folder, copy)
    run(plan, table(), ledger, folder=folder)
    with pytest.raises(InputError, match="was released from another copy of this folder"):
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
    with pytest.raises(InputError, match="released from another copy"):
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
    refused("one is a simulation", plan, folder, seed=1)
    state = folder / ".private" / "state"
    whole = state.read_bytes()
    for content in (b"", whole[:50], whole[:-1], b"\xff" * 1000, whole[:8] + b"x" + whole[9:]):
        state.write_bytes(content)
        refused("its state", plan, folder, ledger)
    state.write_bytes(whole)
    run(plan, table(), ledger, folder=folder)
    refused("holds a finished run", plan, folder, ledger)
    assert len(ledger.history()) == 1


def test_no_bit_of_a_state_may_change(tmp_path, monkeypatch):
    plan, folder = plan_of("random-repeats"), tmp_path / "run"
    assert stopped(monkeypatch, 15, plan, table(), seed=1, folder=folder)
    state = folder / ".private" / "state"
    whole = state.read_bytes()
    for bit in range(0, 8 * len(whole), 8 * len(whole) // 60):
        changed = bytearray(whole)
        changed[bit // 8] ^= 1 << (bit % 8)
        state.write_bytes(changed)
        refused("folder=", plan, folder, seed=1)
    state.write_bytes(whole)
    refused("of another seed", plan, folder, seed=2)
    assert run(plan, table(), seed=1, folder=folder).files == run(plan, table(), seed=1).files


def test_two_ledgers_do_not_share_a_run(tmp_path, monkeypatch):
    """Their releases would have the same coins, and halves of trainings in common."""
    plan, ledger = plan_of("random-repeats"), new_ledger(tmp_path)
    folder = tmp_path / "run"
    assert stopped(monkeypatch, 15, plan, table(), ledger, folder=folder)
    (tmp_path / "other").mkdir()
    other = new_ledger(tmp_path / "other")
    refused("its charge is not in the ledger", plan, folder, other)
    assert other.history() == ()
    assert (folder / ".private" / "state").exists()


def test_other_rows_are_not_gone_on_with(tmp_path, monkeypatch):
    """Which rows train and which score goes by their numbers: a row must not change sides."""
    plan, ledger = plan_of("random-repeats"), new_ledger(tmp_path)
    folder = tmp_path / "run"
    assert stopped(monkeypatch, 15, plan, table(), ledger, folder=folder)
    turned = {name: cells[::-1] for name, cells in table().items()}
    with pytest.raises(InputError, match="not those the run began with"):
        run(plan, turned, ledger, folder=folder)
    run(plan, table(), ledger, folder=folder)
    assert len(ledger.history()) == 1


def test_bounds_are_learnt_once(tmp_path, monkeypatch):
    from honestdp.runner import private_data

    plan, ledger, calls = plan_of("untuned"), new_ledger(tmp_path), []
    learn = private_data.learn_numbers
    monkeypatch.setattr(
        private_data, "learn_numbers", lambda *a, **k: calls.append(1) or learn(*a, **k)
    )
    folder = tmp_path / "run"
    assert stopped(monkeypatch, 12, plan, table(), ledger, folder=folder)
    run(plan, table(), ledger, folder=folder)
    assert calls == [1]


def test_a_disk_that_is_full_is_told_as_such(tmp_path, monkeypatch):
    plan, ledger = plan_of("random-repeats"), new_ledger(tmp_path)
    folder = tmp_path / "run"
    for at in (1, 3, 2):  # before it is paid for, as rows are opened, in the search gone on with
        calls = []

        def full(path, content, *how, at=at, calls=calls):
            calls.append(path)
            if len(calls) >= at:
                raise OSError(28, "No space left on device")
            files.replace_file(path, content, *how)

        with monkeypatch.context() as patch:
            patch.setattr("honestdp.resume.journal.replace_file", full)
            patch.setattr("honestdp.resume.journal.EVERY", -1.0)
            with pytest.raises(FolderError) as caught:
                run(plan, table(), ledger, folder=folder)
        said = str(caught.value)
        assert "No space left on device" in said
        assert caught.value.__context__ is None or at != 2
        if at == 1:
            assert "choose another, or make room" in said
            assert ledger.history() == ()
        else:
            assert "charge 1 stands: make room and run again in this folder" in said
    run(plan, table(), ledger, folder=folder)
    assert len(ledger.history()) == 1


def test_what_is_not_a_runs_is_left_alone(tmp_path):
    plan, ledger = plan_of("untuned"), new_ledger(tmp_path)
    folder = tmp_path / "mine"
    (folder / ".private").mkdir(parents=True)
    diary = folder / ".private" / "diary.txt"
    diary.write_text("dear diary")
    refused("is not the folder of a run", plan, folder, ledger)
    (folder / "card.json").write_text("{}")
    refused("is not the folder of a run", plan, folder, ledger)
    assert diary.read_text() == "dear diary"
    link = tmp_path / "link"
    link.mkdir()
    (link / ".private").symlink_to(folder / ".private")
    refused("is not the folder of a run", plan, link, ledger)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InputError, match="left are"):
        run(plan_of("untuned", epsilon=40.0), table(), ledger, folder=empty)
    assert list(empty.iterdir()) == []  # it was there before
    assert ledger.history() == ()


def test_ctrl_c_while_the_rows_are_read(tmp_path, monkeypatch):
    plan, ledger = plan_of("untuned"), new_ledger(tmp_path)

    def pressed(*given):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("honestdp.runner.private_data.split", pressed)
        with pytest.raises(Interrupted, match=r"charge 1 stands. Run again with folder="):
            run(plan, table(), ledger, folder=tmp_path / "run")
    run(plan, table(), ledger, folder=tmp_path / "run")
    other = new_ledger_in(tmp_path / "other")
    with monkeypatch.context() as patch:
        patch.setattr("honestdp.runner.private_data.split", pressed)
        with pytest.raises(
            Interrupted, match=r"receipt=ledger.charge\(1\) to go on from the start"
        ):
            run(plan, table(), other)


def new_ledger_in(folder: Path) -> Ledger:
    folder.mkdir()
    return new_ledger(folder)


def test_progress_of_groups_adds_up(monkeypatch):
    monkeypatch.setattr("honestdp.resume.state._MOST", 2)
    told = []
    run(plan_of("composition"), table(), seed=1, progress=told.append, workers=1)
    shares = [share for _, share in told if share is not None]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_one_at_a_time(tmp_path, monkeypatch):
    plan = plan_of("composition")
    folder = tmp_path / "run"
    seen = []

    def second(progress) -> None:
        if not seen:
            seen.append(progress)
            refused("another process uses it", plan, folder, seed=1)

    run(plan, table(), seed=1, folder=folder, progress=second)
    assert seen


def test_states_of_every_rule_are_written_in_full():
    """The grid here has every kind of state that a rule may have."""
    from honestdp.optimizers import optimizers

    used = [optimizers.get(setting["rule"]) for setting in GRID]
    kinds = {(bool(rule.slots), bool(rule.rates), len(rule.slots)) for rule in optimizers}
    assert kinds <= {(bool(r.slots), bool(r.rates), len(r.slots)) for r in used}
