"""The witness sees what a record could do by mistake, each thing planted once."""

from __future__ import annotations

import logging
import os
import secrets
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from witness import Witness, differences, form

PLANTED: dict[str, Callable[[Path], object]] = {
    "a warning": lambda _: warnings.warn("odd", RuntimeWarning, stacklevel=2),
    "NumPy's own warning": lambda _: np.float32(1e30) * np.float32(1e30),
    "a log line": lambda _: logging.getLogger("honestdp").debug("a row is odd"),
    "a print": lambda _: print("odd"),
    "a print of compiled code": lambda _: os.write(2, b"odd"),
    "a file": lambda place: (place / "odd").touch(),
    "a longer file": lambda place: (place / "card.json").write_text('{"a":  1.5}'),
    "another mode": lambda place: (place / "card.json").chmod(0o600),
    "another key": lambda place: (place / "card.json").write_text('{"b": 1.5}'),
    "another type": lambda place: (place / "card.json").write_text('{"a": 1}'),
    "a draw": lambda _: secrets.token_bytes(8),
    "an exit": lambda _: exit(4),
    "a failure": lambda _: 1 / 0,
    "an answer": lambda _: 1.5,
}


@pytest.mark.parametrize("name", PLANTED)
def test_it_sees(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    witness = Witness(tmp_path, monkeypatch)

    def work(leak: Callable[[Path], object]) -> object:
        (tmp_path / "card.json").unlink(missing_ok=True)
        (tmp_path / "card.json").write_text('{"a": 1.5}')
        return form(leak(tmp_path))

    sound = [witness.watch(lambda: work(lambda _: None), lengths=True) for _ in range(2)]
    assert not differences(*sound)
    leaking = witness.watch(lambda: work(PLANTED[name]), lengths=True)
    assert differences(sound[0], leaking)


ALIKE: list[tuple[object, object]] = [
    (1.5, -7.25),
    (np.zeros(3), np.ones(3)),
    (torch.zeros(2, 2), torch.ones(2, 2)),
    ({"a": [1.0, None]}, {"a": [2.0, None]}),
    ("a score of 0.75 (" + "ab" * 32 + ")", "a score of -1e-05 (" + "cd" * 32 + ")"),
]
UNLIKE: list[tuple[object, object]] = [
    (1.5, float("nan")),
    (1.5, np.float32(1.5)),
    (1, True),
    (1, 2),
    (None, 0.0),
    (np.zeros(3), np.zeros(3, np.float32)),
    (np.array(["a"]), np.array(["ab"])),
    (np.array([False, True]), np.array([0, 1])),
    (torch.zeros(2), torch.zeros(4)[:2]),
    ({"a": 1.0}, {"b": 1.0}),
    ([1.0], (1.0,)),
    ("0.5 rows", "0.5 odd rows"),
]


def test_values_alone_are_no_difference() -> None:
    assert all(form(one) == form(other) for one, other in ALIKE)
    assert all(form(one) != form(other) for one, other in UNLIKE)
