"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from honestdp.files import ANYONE, DRAFT, replace_file, sync_folder


@pytest.mark.parametrize(("mode", "found"), [(0o600, 0o600), (0o644, 0o644), (ANYONE, 0o644)])
def test_a_file_is_whole_and_of_its_mode(tmp_path: Path, mode: int, found: int) -> None:
    before = os.umask(0o022)
    try:
        for content in (b"one", b"another"):
            replace_file(tmp_path / "a", content, mode)
            assert (tmp_path / "a").read_bytes() == content
            assert (tmp_path / "a").stat().st_mode & 0o777 == found
    finally:
        os.umask(before)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("shared", [False, True])
def test_what_was_there_stays_if_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared: bool
) -> None:
    replace_file(tmp_path / "a", b"old")
    for call in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, call, _full)
            with pytest.raises(OSError, match="No space"):
                replace_file(tmp_path / "a", b"new", shared=shared)
        assert (tmp_path / "a").read_bytes() == b"old"
        assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_processes_that_share_a_file_have_drafts_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drafts = []
    usual = os.replace
    monkeypatch.setattr(os, "replace", lambda *pair: (drafts.append(pair[0].name), usual(*pair)))
    replace_file(tmp_path / "a", b"")
    replace_file(tmp_path / "a", b"", shared=True)
    assert drafts == [f"a{DRAFT}", f"a.{os.getpid()}{DRAFT}"]


def test_a_folder_that_cannot_be_synced_is_let_be_but_a_failing_disk_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(number: int) -> object:
        def fsync(handle: int) -> None:
            raise OSError(number, "no")

        return fsync

    sync_folder(tmp_path / "none")
    monkeypatch.setattr(os, "fsync", failing(errno.EINVAL))
    sync_folder(tmp_path)
    monkeypatch.setattr(os, "fsync", failing(errno.EIO))
    with pytest.raises(OSError, match="no"):
        sync_folder(tmp_path)


def _full(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")
