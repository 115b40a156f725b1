"""The searches of honest-frontier: played once for each pool and procedure, and saved.

A saved search is used again only for exactly what it was played from: the procedure, its score
noise, the counts of its pools, the number of searches and the seed. Anything else is played anew.
"""

from __future__ import annotations

import hashlib
import json
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

    def outcomes(
        self,
        procedure: Procedure,
        noise: float,
        scores: Counts,
        accuracy: NDArray[np.float64],
        seed: int,
    ) -> dict[str, Any]:
        """What searches on a pool come to.

        Args:
            procedure: How to search.
            noise: The standard deviation of the noise on scores.
            scores: Validation counts, [repetition, setting].
            accuracy: Of the released models on the test rows, [repetition, setting].
            seed: Of coins and noise.

        Returns:
            "mean", "low" and "high": the mean, 5 and 95 % of the released models' accuracies.
            "alone": the mean accuracy of searches in each repetition alone. "best_won": how often
            the setting that is best on the test rows was released. "nothing": how often there was
            no model.
        """
        of = _fingerprint(procedure, noise, scores, accuracy, seed)
        if of not in self._known:
            self._known[of] = {"of": of, **_play(procedure, noise, scores, accuracy, seed)}
        self._used[of] = self._known[of]
        return self._known[of]

    def save(self) -> None:
        """Save the requested searches, unless the store has the same."""
        known = self._store.read(COLLECTION, self._dataset, ROWS) or {"what": WHAT, ROWS: []}
        if known[ROWS] != list(self._used.values()):
            saved = known | {ROWS: list(self._used.values())}
            self._store.save(COLLECTION, self._dataset, saved, ROWS)


def _play(
    procedure: Procedure,
    noise: float,
    scores: Counts,
    accuracy: NDArray[np.float64],
    seed: int,
) -> dict[str, Any]:
    source = np.random.default_rng(seed)
    played = play(procedure, scores, noise, SEARCHES, source)
    alone = [
        play(procedure, scores[[i]], noise, SEARCHES // 2, source).of(accuracy[[i]]).mean()
        for i in range(len(scores))
    ]
    there = played.setting >= 0
    outcomes = played.of(accuracy)
    low, high = np.quantile(outcomes, [0.05, 0.95])
    return {
        "mean": float(outcomes.mean()),
        "low": float(low),
        "high": float(high),
        "alone": [float(mean) for mean in alone],
        "best_won": float((played.setting[there] == accuracy.mean(0).argmax()).mean()),
        "nothing": float(1 - there.mean()),
    }


def _fingerprint(
    procedure: Procedure,
    noise: float,
    scores: Counts,
    accuracy: NDArray[np.float64],
    seed: int,
) -> str:
    tables = [scores.tolist(), accuracy.tolist()]
    key = [_FORMAT, procedure.to_dict(), noise, SEARCHES, seed, *tables]
    return hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:16]
