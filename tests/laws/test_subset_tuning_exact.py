"""`subset-tuning` without repeats, against exact enumeration: candidates that tell one bit each."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest
from instances import drawn
from scipy.special import ndtr

from honestdp.privacy.events import Gaussian
from honestdp.procedures import Request


def _winner(ones: np.ndarray, law: tuple[float, ...]) -> np.ndarray:
    """P(candidate i wins with score s), where candidate j scores 1 with probability ones[j]."""
    k = len(ones)
    found = np.zeros((k, 2))
    for size, chance in enumerate(law, start=1):
        for some in combinations(range(k), size):
            for scores in product((0, 1), repeat=size):
                each = [ones[j] if s else 1 - ones[j] for j, s in zip(some, scores, strict=True)]
                best = [j for j, s in zip(some, scores, strict=True) if s == max(scores)]
                p = chance * math.prod(each) / math.comb(k, size)
                found[best, max(scores)] += p / len(best)
    return found


@pytest.mark.parametrize(
    "count",
    [60, pytest.param(400, marks=pytest.mark.slow), pytest.param(2000, marks=pytest.mark.nightly)],
)
def test_what_is_released_is_within_the_price(count: int) -> None:
    """Scores and the last model say whether Gaussian noise around 0 or 1 is above a threshold; the
    record is in the subset, and moves scores, or outside, and moves the last model."""
    closest = 0.0
    for i, (rng, _) in enumerate(drawn("subset tuning", count)):
        k, share = 2 + i % 4, float(rng.choice([0.1, 0.3, 0.5]))
        sigma = 10.0 ** rng.uniform(-0.5, 1.5)
        one = Request(
            "subset-tuning", {"subset": share, "hit_probability": rng.uniform(0.4, 0.95)}
        ).among(k)
        cut = rng.normal() * sigma
        with_, without = (
            float(ndtr((mean - cut) / sigma)) for mean in rng.permutation([0.5, -0.5])
        )
        swapped = rng.random(k) < 0.3
        moved, still = np.where(swapped, without, with_), np.where(swapped, with_, without)
        wins = [_winner(p, one.law.chances) for p in (moved, still)]
        last = [np.array([p, 1 - p]) for p in (with_, without)]
        here = share * wins[0][..., None] * last[1] + (1 - share) * wins[1][..., None] * last[0]
        there = wins[1][..., None] * last[1]
        run = Gaussian(sigma)
        for a, b in ((here, there), (there, here)):
            for delta in (1e-2, 1e-4, 1e-6):
                price = one.price("subset", run, run, delta)
                true = np.maximum(a - math.exp(price) * b, 0).sum()
                assert true <= delta * (1 + 1e-9), (k, share, sigma, delta)
                less = np.maximum(a - math.exp(0.5 * price) * b, 0).sum()
                closest = max(closest, less / delta)
    assert closest > 1  # half the price does not hold for all of them
