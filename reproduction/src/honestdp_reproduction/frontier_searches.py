"""The searches of honest-frontier: played once for each pool and procedure, and saved.

A saved search is used again only for exactly what it was played from: the procedure, its score
noise, the counts of its pools, the number of searches and the seed. Anything else is played anew.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from honestdp.procedures import Procedure
from honestdp_reproduction.experiment import WHAT
from honestdp_reproduction.resample import Counts, play
from honestdp_reproduction.store import Store

COLLECTION, ROWS = "searches", "played"
SEARCHES = 1000
_FORMAT = 1  # of what is saved, and of how `play` uses its source


@dataclass(frozen=True, eq=False)
class Search:
    """What a search is played from.

    Args:
        procedure: How to search.
        noise: The standard deviation of the noise on scores.
        scores: Validation counts, [repetition, setting].
        accuracy: Of the released models on the test rows, [repetition, setting].
        seed: Of coins and noise.
    """

    procedure: Procedure
    noise: float
    scores: Counts
    accuracy: NDArray[np.float64]
    seed: int

    @property
    def fingerprint(self) -> str:
        """The name under which its outcomes are saved."""
        tables = [self.scores.tolist(), self.accuracy.tolist()]
        key = [_FORMAT, self.procedure.to_dict(), self.noise, SEARCHES, self.seed, *tables]
        return hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:16]

    def play(self) -> dict[str, Any]:
        """Play it: see `Searches.outcomes`."""
        source = np.random.default_rng(self.seed)
        played = play(self.procedure, self.scores, self.noise, SEARCHES, source)
        there = played.setting >= 0
        best = self.accuracy.mean(0).argmax()
        outcomes = played.of(self.accuracy)
        low, high = np.quantile(outcomes, [0.05, 0.95])
        return {
            "mean": float(outcomes.mean()),
            "low": float(low),
            "high": float(high),
            "alone": [self._mean_in(repetition, source) for repetition in range(len(self.scores))],
            "best_won": float((played.setting[there] == best).mean()),
            "nothing": float(1 - there.mean()),
        }

    def _mean_in(self, repetition: int, source: np.random.Generator) -> float:
        """The mean accuracy of searches in one repetition alone."""
        rows = [repetition]
        played = play(self.procedure, self.scores[rows], self.noise, SEARCHES // 2, source)
        return float(played.of(self.accuracy[rows]).mean())


class Searches:
    """The played searches of one dataset, read from a store when first needed.

    Args:
        store: Where they are saved.
        dataset: Whose searches.
    """

    def __init__(self, store: Store, dataset: str) -> None:
        self._store, self._dataset = store, dataset
        known = store.read(COLLECTION, dataset, ROWS) or {"what": WHAT, ROWS: []}
        self._known = {row["of"]: row for row in known[ROWS]}
        self._used: dict[str, dict[str, Any]] = {}

    def outcomes(self, search: Search) -> dict[str, Any]:
        """What searches on a pool come to.

        Args:
            search: What to play.

        Returns:
            "mean", "low" and "high": the mean, 5 and 95 % of the released models' accuracies.
            "alone": the mean accuracy of searches in each repetition alone. "best_won": how often
            the setting that is best on the test rows was released. "nothing": how often there was
            no model.
        """
        of = search.fingerprint
        if of not in self._known:
            self._known[of] = {"of": of, **search.play()}
        self._used[of] = self._known[of]
        return self._known[of]

    def save(self) -> None:
        """Save the requested searches, unless the store has the same."""
        known = self._store.read(COLLECTION, self._dataset, ROWS) or {"what": WHAT, ROWS: []}
        if known[ROWS] != list(self._used.values()):
            saved = known | {ROWS: list(self._used.values())}
            self._store.save(COLLECTION, self._dataset, saved, ROWS)
