"""The options that procedures share: the name of each, and the check of its values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

from honestdp.errors import (
    above,
    fail,
    open_unit,
    positive,
    positive_integer,
    true_or_false,
    unit,
)
from honestdp.privacy.calibrate import Shape, run_count
from honestdp.privacy.run_count import RunCount
from honestdp.privacy.runs import Capped, Tabulated

# Checks an option's value, and returns it as a plain Python type.
Check = Callable[[str, object], Any]
Options = Mapping[str, Check]

DISTINCT: Literal["distinct"] = "distinct"  # a shape of subset-tuning alone
SHAPES = {"geometric": 1.0, "logarithmic": 0.0}  # by the names users give them


def mean_runs(name: str, value: object) -> float:
    if positive(name, value) < 1:
        raise fail(name, value, "at least one run is made; give 1 or more")
    return float(value)  # type: ignore[arg-type]


def shape(name: str, value: object) -> Shape:
    """The shape of the law of K: "geometric", "logarithmic", "poisson", "optimal", or a number
    above -1."""
    if isinstance(value, str):
        if value == "poisson":
            return "poisson"
        if value == "optimal":
            return "optimal"
        value = SHAPES.get(value, value)
    return above(-1, name, value)


def law_table(name: str, value: object) -> list[float]:
    """The law of K as a list: P(K = 1), P(K = 2), ..."""
    if isinstance(value, str) or not isinstance(value, Sequence):
        raise fail(name, value, "must be a list of probabilities, such as [0.1, 0, 0.9]")
    return list(Tabulated(tuple(value)).chances)


# How long a random search goes on: one of the two.
LENGTH: Options = MappingProxyType({"hit_probability": open_unit, "mean_runs": mean_runs})
LAW: Options = MappingProxyType({"shape": shape, **LENGTH, "cap": positive_integer})
SUBSET_OPTION: Options = MappingProxyType({"subset": open_unit})
SCORES: Options = MappingProxyType({"scores": true_or_false})
THRESHOLD: Options = MappingProxyType({"threshold": unit})


def law(candidates: int, options: Mapping[str, Any]) -> RunCount:
    """The law of K for values of the options of `LAW`; geometric by default."""
    wanted = options.get("shape")
    found = run_count(
        1.0 if wanted is None else wanted,
        candidates,
        options.get("hit_probability"),
        options.get("mean_runs"),
    )
    cap = options.get("cap")
    return found if cap is None else Capped(found, cap)
