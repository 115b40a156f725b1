"""Results: saved as a whole, packed when an experiment has finished, never lost in between."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from honestdp.errors import InputError
from honestdp_reproduction import store as module
from honestdp_reproduction.store import SHIPPED, Store

RECORD: dict[str, Any] = {"what": "a test", "rows": [[1, None], [0.1, 2]]}


def rows(store: Store, name: str = "a") -> Any:
    found = store.read("things", name, "rows")
    return None if found is None else found["rows"]


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_a_record_says_by_which_commits_it_was_made(tmp_path, monkeypatch) -> None:
    store, known = Store(tmp_path), RECORD
    for commit in ("first", "second", "second", "third"):
        monkeypatch.setattr("honestdp_reproduction.machine.commit", lambda commit=commit: commit)
        store.save("things", "a", known, "rows")
        known = store.read("things", "a", "rows") or {}
    store.pack()
    found = store.read("things", "a", "rows") or {}
    assert found == known
    assert (found["commit"], found["earlier_commits"]) == ("third", ["first", "second"])
    assert {"dp_accounting", "scikit_learn", "scipy", "numpy"} <= set(found["machine"])


def test_a_finished_run_is_packed_and_an_interrupted_one_is_not(tmp_path) -> None:
    def interrupted() -> None:
        with Store(tmp_path).running():
            Store(tmp_path).save("things", "a", RECORD, "rows")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert files(tmp_path) == {"things/a.json"}
    store = Store(tmp_path)
    with store.running():
        assert rows(store) == RECORD["rows"]
        store.save("things", "b", RECORD, "rows")
    assert files(tmp_path) == {"things.jsonl.gz"}
    assert store.names("things") == ["a", "b"]
    assert rows(Store(tmp_path)) == rows(Store(tmp_path), "b") == RECORD["rows"]


def test_a_packed_record_goes_on_loose_and_is_packed_again(tmp_path) -> None:
    store = Store(tmp_path)
    for count in (1, 2):
        store.save("things", "a", {"rows": list(range(count))}, "rows")
        assert rows(store) == rows(Store(tmp_path)) == list(range(count))
        store.pack()
        assert rows(store) == rows(Store(tmp_path)) == list(range(count))


def test_the_same_records_are_the_same_bytes(tmp_path) -> None:
    whole, parts = Store(tmp_path / "whole"), Store(tmp_path / "parts")
    for name in "abc":
        whole.save("things", name, RECORD, "rows")
    whole.pack()
    for name in "cab":
        parts.save("things", name, RECORD, "rows")
        parts.pack()
    made = [path.read_bytes() for path in tmp_path.rglob("*.gz")]
    assert len(made) == 2
    assert made[0] == made[1]


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_kill_while_packing_loses_nothing(tmp_path, monkeypatch, when) -> None:
    """Before the archive is replaced, or after it and before the loose files are removed."""
    store = Store(tmp_path)
    store.save("things", "a", RECORD, "rows")
    replace = module.replace_file

    def killed(*what: Any, **more: Any) -> None:
        if when == "after":
            replace(*what, **more)
        raise SystemExit

    with monkeypatch.context() as patch:
        patch.setattr(module, "replace_file", killed)
        with pytest.raises(SystemExit):
            store.pack()
    assert rows(Store(tmp_path)) == RECORD["rows"]
    again = Store(tmp_path)
    assert rows(again) == RECORD["rows"]
    again.pack()
    assert files(tmp_path) == {"things.jsonl.gz"}
    assert Store(tmp_path).names("things") == ["a"]


def test_nothing_is_packed_under_a_process_that_runs(tmp_path) -> None:
    other, store = Store(tmp_path), Store(tmp_path)
    with other.running():
        with store.running():
            store.save("things", "a", RECORD, "rows")
        assert files(tmp_path) == {"things/a.json"}
        assert rows(other) == RECORD["rows"]
    assert files(tmp_path) == {"things.jsonl.gz"}


def test_two_writers_do_not_share_a_draft(tmp_path, monkeypatch) -> None:
    """Experiments share records: one that ends first must not take the other's draft away."""
    drafts = set()
    replace = os.replace

    def spy(draft: Path, target: Path) -> None:
        drafts.add(Path(draft).name)
        replace(draft, target)

    monkeypatch.setattr("os.replace", spy)
    for process in (1, 2):
        monkeypatch.setattr("os.getpid", lambda process=process: process)
        Store(tmp_path).save("things", "a", RECORD, "rows")
    assert len(drafts) == 2


def test_only_its_own_files_are_touched(tmp_path) -> None:
    """A folder that was named may hold all sorts of things."""
    store = Store(tmp_path)
    store.save("things", "a", RECORD, "rows")
    own = {"other/package.json": "{}", "things/notes.json": '{"mine": 1}', "things/cut.json": "{"}
    for name, text in own.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "things" / "b.json.77.new").write_text("{")  # of a process that was killed
    store.pack()
    assert files(tmp_path) == {*own, "things.jsonl.gz"}


def test_what_is_not_there_is_looked_for_in_the_base(tmp_path) -> None:
    base = Store(tmp_path / "base")
    for name in "ab":
        base.save("things", name, {"rows": ["base"]}, "rows")
    base.pack()
    store = Store(tmp_path / "own", base)
    store.save("things", "a", {"rows": ["own"]}, "rows")
    assert (rows(store, "a"), rows(store, "b"), rows(store, "c")) == (["own"], ["base"], None)
    assert store.names("things") == ["a", "b"]
    assert files(tmp_path / "base") == {"things.jsonl.gz"}


@pytest.mark.parametrize(
    "broken",
    [b"{}", gzip.compress(b"{"), gzip.compress(b"[1]\n"), gzip.compress(b'{"name": "a"}\n')[:-9]],
)
def test_a_broken_archive_is_one_line(tmp_path, broken) -> None:
    (tmp_path / "things.jsonl.gz").write_bytes(broken)
    with pytest.raises(InputError, match=r"things.jsonl.gz: is no file of results; remove it"):
        rows(Store(tmp_path))


def test_every_shipped_record_says_where_it_comes_from() -> None:
    count = 0
    for archive in SHIPPED.glob("*.jsonl.gz"):
        for line in gzip.decompress(archive.read_bytes()).splitlines():
            record = json.loads(line)["record"]
            assert record["what"].startswith("SIMULATION")
            assert record["commit"]
            assert {"processor", "python", "torch", "date"} <= set(record["machine"])
            count += 1
    assert count >= 350
    assert {path.suffix for path in SHIPPED.iterdir()} == {".gz"}
