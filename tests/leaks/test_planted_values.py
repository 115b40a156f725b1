"""Values planted in the rows, to train on and to score on, come out nowhere.

Ten texts and ten numbers. Looked through: what is returned (as text, HTML, prose, files), output,
logs, warnings, progress, the ledger, exceptions with their tracebacks, and the run's own private
folder, every time it is written.
"""

from __future__ import annotations

import io
import logging
import struct
import traceback
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from torch import nn

from honestdp import HonestSearch, Ledger, files
from honestdp.errors import InputError
from honestdp.planning.make import make_plan
from honestdp.planning.spec import Spec
from honestdp.runner.private_data import split
from honestdp.schema import Categorical, Numeric, Schema, Target

ROWS = 80
WORDS = [f"Quokka{chr(65 + i)}zyx" for i in range(10)]
NUMBERS = [31.4159265 + 1.7320508 * i for i in range(10)]
SCHEMA = Schema(
    name="planted",
    columns=(
        Numeric(name="age", bounds=(0.0, 100.0)),
        Categorical(name="job", categories=("clerk", "smith"), other=True),
    ),
    target=Target(column="pay", classes=("no", "yes")),
)
LEARNT = SCHEMA.model_copy(
    update={"columns": (Numeric(name="age", bounds="learn", outer=(0.0, 128.0)), SCHEMA.columns[1])}
)
GRID = {"rule": "dpadam", "learning_rate": [0.1, 0.01]}
KINDS: dict[str, dict[str, Any]] = {
    "untuned": {},
    "composition": {"grid": GRID, "procedure": "composition"},
    "random-repeats": {"grid": GRID, "procedure": "random-repeats", "options": {"mean_runs": 3}},
    "subset-tuning": {"grid": GRID, "procedure": "subset-tuning",
                      "options": {"mean_runs": 3, "subset": 0.5}},
    "learnt": {"schema": LEARNT},
    "mlp": {"model": "mlp"},
    "module": {"model": lambda: nn.Linear(4, 1)},
}  # fmt: skip


def planted() -> pd.DataFrame:
    """Half of the values in rows to train on, half in rows to score on."""
    plan = make_plan(
        Spec(schema=SCHEMA, rows=ROWS, epsilon=1.0, delta=1e-4, grid=GRID, procedure="composition")
    )
    training, validation, *_ = split(plan)
    places = [*training[:5], *validation[:5]]
    table = pd.DataFrame(
        {
            "age": [20.0 + i % 40 for i in range(ROWS)],
            "job": ["clerk", "smith"] * (ROWS // 2),
            "pay": ["no", "yes", "yes", "no"] * (ROWS // 4),
        }
    )
    for place, word, number in zip(places, WORDS, NUMBERS, strict=True):
        table.loc[place, "job"] = word
        table.loc[place, "age"] = number
        table.loc[place, "pay"] = word  # no class of the schema
    return table


def forms() -> list[bytes]:
    """A value as text, and as the numbers of a file: as it is, and scaled to declared bounds."""
    found = [word.encode() for word in WORDS]
    for number in NUMBERS:
        for one in (number, number / 100, number / 50 - 1, number / 128, number / 64 - 1):
            found += [repr(one)[:8].encode(), f"{one:.6f}".encode(), struct.pack("<d", one)]
            found += [struct.pack("<f", one)]
    return found


class Witness:
    """Everything that could be seen from outside."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seen: list[bytes] = []
        write = files.replace_file

        def noted(path: Path, content: bytes, *how: Any) -> None:
            self.seen.append(content)
            write(path, content, *how)

        monkeypatch.setattr("honestdp.resume.journal.replace_file", noted)

    def text(self, *words: object) -> None:
        self.seen += [str(word).encode() for word in words]

    def folder(self, folder: Path) -> None:
        self.seen += [file.read_bytes() for file in folder.rglob("*") if file.is_file()]

    def check(self) -> None:
        whole = b"\n".join(self.seen)
        assert len(whole) > 1000
        for form in forms():
            assert form not in whole, form


def watched(witness: Witness, search: HonestSearch, table: pd.DataFrame) -> None:
    """A fit, with all that it says."""
    said, records = io.StringIO(), []
    handler = logging.Handler()
    handler.emit = records.append  # type: ignore[method-assign]
    logging.getLogger().addHandler(handler)
    try:
        with (
            redirect_stdout(said),
            redirect_stderr(said),
            warnings.catch_warnings(record=True) as w,
        ):
            warnings.simplefilter("always")
            search.fit(table)
    finally:
        logging.getLogger().removeHandler(handler)
        witness.text(
            said.getvalue(), *(r.getMessage() for r in records), *(one.message for one in w)
        )


@pytest.mark.parametrize("kind", KINDS)
def test_nowhere(kind, tmp_path, monkeypatch):
    witness, table = Witness(monkeypatch), planted()
    facts: dict[str, Any] = {"schema": SCHEMA, **KINDS[kind]}
    ledger = Ledger.create(tmp_path / "l", schema=facts["schema"], epsilon=2.0, delta=1e-4)
    told: list[object] = []
    search = HonestSearch(
        **facts, epsilon=2.0, delta=1e-4, steps=8, lot_size=10, ledger=ledger,
        folder=tmp_path / "run",
        on_candidate=told.append if kind in ("untuned", "composition") else None,
    )  # fmt: skip
    watched(witness, search, table)
    card = search.card_
    witness.text(
        repr(search), search._repr_html_(), card.prose(), card, *told, search.plan_,
        repr(search.release_), vars(search), ledger.history(), ledger.remaining(),
    )  # fmt: skip
    search.save(tmp_path / "saved")
    witness.folder(tmp_path)
    witness.check()


class Quotes(nn.Module):
    """A module that fails on some rows, and says which."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not x.requires_grad and x.abs().sum() > 0:
            raise ValueError(f"cannot do {x.tolist()} of {WORDS} {NUMBERS}")
        return self.layer(x)


def test_nor_in_failures(tmp_path, monkeypatch):
    witness, table = Witness(monkeypatch), planted()
    bad: list[tuple[dict[str, Any], Any]] = [
        ({"model": Quotes}, table),
        ({}, table.drop(columns="age")),
        ({}, table.rename(columns={"job": "post"})),
        ({"steps": -1}, table),
        ({"schema": table}, table),
        ({"ledger": table}, table),
        ({"grid": table}, table),
        ({"model": table}, table),
        ({"random_state": table}, table),
        ({"epsilon": 50.0}, table),
        ({}, table["age"]),
        ({}, table.to_numpy()[:, :2]),
    ]
    for number, (changes, rows) in enumerate(bad):
        ledger = Ledger.create(tmp_path / f"{number}.l", schema=SCHEMA, epsilon=2.0, delta=1e-4)
        facts = {"schema": SCHEMA, "ledger": ledger, "epsilon": 2.0, "delta": 1e-4, "steps": 8,
                 "lot_size": 10, **changes}  # fmt: skip
        with pytest.raises((InputError, RuntimeError)) as caught:
            watched(witness, HonestSearch(**facts), rows)
        witness.text("".join(traceback.format_exception(caught.value)))
        witness.folder(tmp_path)
    witness.check()


def test_the_witness_sees(monkeypatch):
    for leak in (WORDS[7], f"{NUMBERS[3]}", f"{NUMBERS[2] / 50 - 1}"):
        witness = Witness(monkeypatch)
        witness.text("x" * 2000, f"row {leak} is odd")
        with pytest.raises(AssertionError):
            witness.check()
