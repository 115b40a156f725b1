"""A shell to call `honestdp` in."""

from __future__ import annotations

import sys

import pytest
from cli_calls import SCHEMA, Said, Shell, visits

from honestdp.cli import main


@pytest.fixture
def shell(capfd, monkeypatch, tmp_path) -> Shell:
    """Calls in a folder with visits.csv, visits.toml and test.csv."""
    monkeypatch.chdir(tmp_path)
    visits(tmp_path / "visits.csv")
    visits(tmp_path / "test.csv", 100, seed=1)
    (tmp_path / "visits.toml").write_text(SCHEMA)

    def call(*words: object) -> Said:
        monkeypatch.setattr(sys, "argv", ["honestdp", *map(str, words)])
        capfd.readouterr()
        with pytest.raises(SystemExit) as done:
            main()
        out, err = capfd.readouterr()
        assert "Traceback" not in err
        assert "Quokkazyx" not in out + err
        return Said(int(done.value.code or 0), out, err)

    return call
