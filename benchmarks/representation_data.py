"""The tables of `representation.py`, and what the default plan should reach on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes, make_friedman1

from honestdp import datasets
from honestdp.datasets import Dataset
from honestdp.datasets.dataset import split
from honestdp.schema import Numeric, Schema

Goals = Mapping[str, tuple[float, float, float]]  # by score, for epsilon 0.3, 1 and 3


@dataclass(frozen=True)
class Case:
    """A table. plain: The same rows declared as numbers, if that is another declaration. no_linear:
    There are no numbers to pin. goals: Of issue 16. peers: Whether peers are measured on it."""

    name: str
    load: Callable[[], Dataset]
    plain: Callable[[], Dataset] | None = None
    no_linear: bool = False
    goals: Goals = field(default_factory=dict)
    peers: bool = False


def diabetes() -> Dataset:
    """442 patients; bounds are round numbers around the cells, as scikit-learn documents them."""
    inputs, targets = load_diabetes(return_X_y=True, scaled=False)
    bounds = [
        (18, 80), (1, 2), (15, 45), (60, 140), (90, 310), (40, 250), (20, 100), (2, 10), (3, 6.5),
        (50, 130),
    ]  # fmt: skip
    return numbers("diabetes", inputs, targets, bounds, (0, 350))


def friedman() -> Dataset:
    """Friedman's first function of five of ten uniform columns, with noise: 25,000 made-up rows."""
    inputs, targets = make_friedman1(25_000, noise=1.0, random_state=1)
    return numbers("friedman", inputs, targets, [(0, 1)] * inputs.shape[1], (0, 30))


def numbers(
    name: str,
    inputs: NDArray[np.float64],
    targets: NDArray[np.float64],
    bounds: list[tuple[float, float]],
    target: tuple[float, float],
) -> Dataset:
    columns = [
        {"kind": "numeric", "name": f"x{i}", "bounds": list(map(float, pair))}
        for i, pair in enumerate(bounds)
    ]
    facts = {"column": "y", "bounds": list(map(float, target))}
    schema = Schema.model_validate({"name": name, "target": facts, "columns": columns})
    table = np.column_stack([inputs, targets])
    trains, tests = split(len(table))
    return Dataset(schema, table[trains], table[tests])


def pinned(schema: Schema) -> Schema:
    """Every numeric column as the number that it is."""
    changed = {"encode_as": "linear", "bins": None, "edges": None}
    columns = tuple(
        column.model_copy(update=changed) if isinstance(column, Numeric) else column
        for column in schema.columns
    )
    return schema.model_copy(update={"columns": columns})


CASES = (
    Case(
        "Adult",
        datasets.adult,
        goals={"accuracy": (0.852, 0.859, 0.861), "auc": (0.902, 0.907, 0.910)},
        peers=True,
    ),
    Case(
        "ENRON as counts",
        partial(datasets.enron, view="counts"),
        plain=datasets.enron,
        goals={"accuracy": (0.90, 0.950, 0.968)},
    ),
    Case(
        "MNIST as images",
        partial(datasets.mnist, view="images"),
        plain=datasets.mnist,
        goals={"accuracy": (0.970, 0.981, 0.986)},
    ),
    Case("Gisette stand-in", datasets.gisette, goals={"accuracy": (0.900, 0.943, 0.960)}),
    Case("ENRON as text", partial(datasets.enron, view="text"), no_linear=True),
    Case("Synthetic regression", datasets.synthetic),
    Case("Friedman regression", friedman),
    Case("Diabetes regression", diabetes),
)
