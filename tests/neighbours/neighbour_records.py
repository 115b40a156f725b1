"""A small table, and the records that may stand in one place of it.

Neighbouring tables differ in one record, which is a null record (all its cells missing) in one of
them. Two arbitrary records in that place are each a neighbour of the null record: so every record
here is compared with that one.
"""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import torch

from honestdp.schema import (
    Boolean,
    Categorical,
    Column,
    Counts,
    Cross,
    Date,
    Hashed,
    Image,
    Numeric,
    Ordinal,
    Schema,
    Target,
    Text,
)

ROWS = 40
DAYS = [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)]
GOALS: dict[str, list[Any]] = {  # what is predicted: two targets of it
    "words": ["no", "yes"],
    "numbers": [0, 1],
    "digits": ["0", "1"],
    "truths": [False, True],
    "amounts": [10.5, 29.0],
    "lists": [[0], [1]],  # which are no targets at all
}
_TARGETS: dict[str, dict[str, Any]] = {
    "words": {"classes": ("no", "yes")},
    "numbers": {"classes": ("0", "1")},
    "digits": {"classes": ("0", "1")},
    "truths": {"classes": ("False", "True")},
    "amounts": {"bounds": (0, 40)},
}


def schema(goal: str = "words", *, learn: bool = False, norm: bool = False) -> Schema:
    """learn: the bounds of two columns are learnt. norm: rows are scaled to a norm; numbers are no
    curves then and no bin takes unknown words, so that a record can be all zeros, or all but."""
    bounds: dict[str, dict[str, Any]] = {"age": {"bounds": (0, 100)}, "dose": {"bounds": (0, 1)}}
    if learn:
        outer = {"age": (0, 128), "dose": (-1, 3)}
        bounds = {name: {"bounds": "learn", "outer": pair} for name, pair in outer.items()}
    line = "linear" if norm else None
    return Schema(
        name="neighbours",
        row_norm=1.5 if norm else None,
        target=Target(column="goal", **_TARGETS[goal]),
        columns=(
            Numeric(name="age", **bounds["age"], missing=0 if norm else 20, encode=line),
            Numeric(name="dose", **bounds["dose"], missing=0 if norm else None, encode=line),
            Numeric(name="member", bounds=(0, 1), missing=0 if norm else None, encode=line),
            Categorical(name="job", categories=("clerk", "smith"), other=not norm),
            Categorical(name="day", categories=("2020-01-01", "2020-01-02")),
        ),
    )


NAMES = ["age", "dose", "member", "job", "day", "goal"]
_LEARN: dict[str, Any] = {"bounds": "learn", "missing": 0}
# The same cells read as other kinds of columns. "curves": what a plan chooses by itself; "learnt":
# edges, a scale, and the norm of rows, as nothing of it follows from the schema.
KINDS: dict[str, tuple[Column, ...]] = {
    "curves": tuple(Numeric(name=name, bounds=(0, 100)) for name in NAMES[:-1]),
    "splines": (
        Numeric(name="age", bounds=(0, 100), encode="spline", missing="own"),
        Numeric(name="dose", bounds=(0, 1), encode="spline", edges="log", missing="own"),
        Numeric(name="member", bounds=(0, 1), encode="both", missing="own"),
        Ordinal(name="job", categories=("clerk", "smith", "baker")),
        Date(name="day", first="2019-01-01", last="2020-12-31"),
    ),
    "texts": (
        Hashed(name="age", buckets=5),
        Text(name="job", buckets=32),
        Text(name="day", buckets=32, ngrams=3),
        Boolean(name="member"),
    ),
    "counts": (
        *(Counts(name=name) for name in ("age", "dose", "day")),
        Counts(name="job", count="presence"),
        Boolean(name="member"),
    ),
    "an image": (
        Image(name="scan", size=(2, 2), columns=("age", "dose", "member", "day"), range=(0, 9)),
        Categorical(name="job", categories=("clerk", "smith"), ignore_case=True),
    ),
    "pairs": (
        Categorical(name="job", categories=("clerk", "smith"), other=True),
        Numeric(name="age", bounds=(0, 100)),
        Boolean(name="member"),
        Cross(name="job and age", columns=("job", "age")),
        Cross(name="job and member", columns=("job", "member")),
    ),
    "learnt": (
        Numeric(name="age", outer=(0, 128), encode="linear", **_LEARN),
        Numeric(name="dose", bounds=(0, 1), encode="linear", missing=0),
        Numeric(name="member", bounds=(0, 1), scale="learn"),
    ),
    "learnt edges": (
        Numeric(name="age", outer=(0, 128), encode="spline", edges="learn", bins=3, **_LEARN),
        Numeric(name="dose", bounds=(-1, 3), edges="learn", bins=3, missing="own"),
        Numeric(name="member", bounds=(-1, 3), encode="both", edges="learn", scale="learn"),
    ),
}


def of_kinds(name: str, goal: str = "words") -> Schema:
    target = Target(column="goal", **_TARGETS[goal])
    return Schema(name="neighbours", target=target, columns=KINDS[name])


def plain(i: int, goal: str) -> dict[str, Any]:
    """A record like most: a whole number, a fraction, a truth, a word, a date, a target."""
    return {
        "age": 20 + 7 * i % 60,
        "dose": (1 + 3 * i % 8) / 9,
        "member": i % 3 == 0,
        "job": ["clerk", "smith"][i % 2],
        "day": DAYS[i // 2 % 2],
        "goal": GOALS[goal][(i + i // 3) % 2],
    }


def _all(cell: Any) -> dict[str, Any]:
    return dict.fromkeys(NAMES, cell)


NULL = "null"
# What differs from a plain record.
RECORDS: dict[str, dict[str, Any]] = {
    NULL: _all(None),
    "plain": {},
    "no target": {"goal": None},
    "only a target": {name: None for name in NAMES if name != "goal"},
    "NaN": _all(math.nan),
    "pandas' missing": {**_all(pd.NA), "day": pd.NaT},
    "empty texts": _all(""),
    "blanks": _all("  "),
    "not finite": {**_all(math.inf), "dose": -math.inf},
    "not finite, as text": {**_all("inf"), "dose": "nan"},
    "huge": {**_all(1e308), "dose": -1e308},
    "huge whole numbers": {**_all(10**400), "dose": -(10**400)},
    "just beyond 64 bits": {**_all(2**64), "dose": -(2**63) - 1},
    "huge, as text": {**_all("9" * 5000), "dose": "1e400"},
    "tiny": {**_all(1e-42), "job": "who", "day": None},
    "tiny, as text": {**_all("1e-42"), "job": "", "day": ""},
    "smallest": {"age": 5e-324, "dose": 5e-324, "member": 0.0, "job": None, "day": None},
    "zeros": _all(0),
    "out of range": {"age": -5, "dose": 7.5, "member": 2, "goal": 1000},
    "texts": {"age": "20", "dose": "0.5", "member": "True", "job": "clerk", "day": "2020-01-01"},
    "unparsable": _all("abc"),
    "unknown words": {"job": "baker", "day": "1999-12-31", "goal": "maybe"},
    "a word to predict": {"goal": "abc"},
    "a number to predict": {"goal": 7.5},
    "a truth to predict": {"goal": True},
    "truths": _all(True),
    "bytes": _all(b"\xff\xfe20"),
    "complex": _all(1j),
    "complex without need": {"age": complex(20), "dose": complex(0.5)},
    "a moment": _all(datetime.datetime(2020, 1, 1, 12, 30)),
    "a moment with a zone": _all(pd.Timestamp("2020-01-01", tz="UTC")),
    "a while": _all(datetime.timedelta(days=1)),
    "decimals": _all(Decimal("1.50")),
    "no decimals": _all(Decimal("sNaN")),
    "fractions": _all(Fraction(1, 3)),
    "lists": _all([1, 2]),
    "arrays": _all(np.array([1.0, 2.0])),
    "an array of one": _all(np.array(1.0)),
    "a tensor": _all(torch.tensor(1.0)),
    "dicts": _all({"a": 1}),
    "an object": _all(object),
    "NumPy's own": {"age": np.float32(20), "dose": np.float64(0.5), "job": np.str_("clerk"),
                    "member": np.bool_(True), "day": np.datetime64("2020-01-01")},
    "NumPy's missing": _all(np.datetime64("NaT")),
    "a long text": _all("x" * 100_000),
    "separators and quotes": _all('a,"b";\t\nc\rd\'e'),
    "no text at all": _all("\0\ud800\N{PILE OF POO}"),
}  # fmt: skip
MISSING_TARGET = [  # whatever else they hold, without a target they count for nothing
    NULL, "no target", "NaN", "pandas' missing", "empty texts", "blanks", "not finite",
    "not finite, as text", "unparsable", "lists", "no text at all",
]  # fmt: skip


def table(name: str, place: int, goal: str) -> dict[str, list[Any]]:
    """The columns of the table with this record in that place."""
    rows = [plain(i, goal) for i in range(ROWS)]
    rows[place] |= RECORDS[name]
    return {column: [row[column] for row in rows] for column in NAMES}
