"""What `search.py` compares: the rows of its table, and the rows of Adult they search on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa

from datasets import adult_schema, adult_table, split
from honestdp.engine import Examples, examples
from honestdp.planning.named_grids import NAMED
from honestdp.planning.spec import Spec
from honestdp.schema import Encoded

EPSILONS, DELTA = (1.0, 0.3), 1e-6
SPLIT_SEED = 0
PAPER = {"lot_size": 250, "steps": 2500}
GRIDS: dict[str, dict[str, Any]] = {"dpadam-4": PAPER, "kappa-4": {}, "dpsgd-40": PAPER}
THRESHOLD, HIT = 0.83, 0.9


@dataclass(frozen=True)
class SearchRow:
    """One row of the table. options: fields of `Spec`."""

    procedure: str  # as shown
    grid: str
    options: dict[str, Any]

    @property
    def name(self) -> str:
        return f"{self.grid}/{self.procedure}"


def search_rows() -> list[SearchRow]:
    """The rows of one epsilon."""
    found = [
        SearchRow("auto", "none", {}),
        SearchRow("untuned", "balanced", {"procedure": "untuned", "grid": "balanced"}),
        SearchRow("untuned", "dpadamwosm", {"procedure": "untuned", "grid": "dpadamwosm"}),
    ]
    for grid, schedule in GRIDS.items():
        for shown, options in searches(len(NAMED[grid])).items():
            found.append(SearchRow(shown, grid, {"grid": grid, **schedule, **options}))
    return found


def searches(settings: int) -> dict[str, dict[str, Any]]:
    """Every procedure on a grid of this many settings."""
    stopping = {"procedure": "random-stopping"}
    repeats = {"procedure": "random-repeats"}
    return {
        "composition": {"procedure": "composition"},
        "composition, no scores": {"procedure": "composition", "scores": False},
        "random-stopping": stopping,
        "random-stopping, paper's bound": stopping | {"bound": "liu-talwar"},
        f"threshold {THRESHOLD}": {"procedure": "threshold", "threshold": THRESHOLD},
        "random-repeats, geometric": repeats | {"shape": 1.0, "mean_runs": settings},
        f"random-repeats, shape 0, hit {HIT}": repeats | {"shape": 0.0, "hit_probability": HIT},
        f"random-repeats, geometric, hit {HIT}": repeats | {"shape": 1.0, "hit_probability": HIT},
        f"random-repeats, Poisson, hit {HIT}": repeats
        | {"shape": "poisson", "hit_probability": HIT},
        "subset-tuning": {"procedure": "subset-tuning"},
        "auto": {},
    }


class Adult:
    """The table, split by a public permutation; encoded for what is not a search."""

    def __init__(self) -> None:
        self.schema = adult_schema()
        whole = adult_table()
        self._searched, self._tested = split(whole.num_rows, SPLIT_SEED)
        self._whole = whole
        self.table: pa.Table = whole.take(self._searched)

    @cached_property
    def train(self) -> Encoded:
        return self.schema.encode(self.table)

    @cached_property
    def test(self) -> Encoded:
        return self.schema.encode(self._whole.take(self._tested))

    @cached_property
    def train_rows(self) -> Examples:
        return examples(self.train.inputs, self.train.targets)

    @cached_property
    def test_rows(self) -> Examples:
        return examples(self.test.inputs, self.test.targets)

    def spec(self, epsilon: float, options: dict[str, Any]) -> Spec:
        rows = self.table.num_rows
        return Spec(schema=self.schema, rows=rows, epsilon=epsilon, delta=DELTA, **options)
