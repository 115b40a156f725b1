"""The exact law of what a tiny search releases, as it is claimed and with a bug.

See `exact_searches` for the search. In units of one clipped record, a run's bias is the signed
count of records in its lots plus Gaussian noise; its score is a count where the bias is above 0,
else 0, plus Gaussian noise. Runs are alike and independent, so the best of K has the density
`Q(y) f'(F(y))`: Q that of a run, F(y) the probability of a lower score, f K's generating function.

Not in it: that sums and scores are rounded, to a thousandth of their noise or finer. Densities are
the same but for a millionth of themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from betting import Floats, LogDensity, Space
from scipy.interpolate import CubicSpline
from scipy.special import log_ndtr, logsumexp, ndtr
from scipy.stats import binom, hypergeom, norm

from honestdp.privacy.run_count import RunCount

NOTHING = -1.0  # the label where nothing came out; else 1.0: the bias is above 0, 0.0: it is not

# How often one record is in the lots of a run


def in_lots(probability: float, steps: int) -> Floats:
    """Of as many steps, each with its own coin: P(0 times), P(once), ..."""
    return binom.pmf(np.arange(steps + 1), steps, probability)


def in_one_lot(probability: float, steps: int) -> Floats:
    """The same lot at every step."""
    return np.r_[1 - probability, np.zeros(steps - 1), probability]


def in_the_rest(times: Floats, share: float) -> Floats:
    """Left out of it all with this probability."""
    return (1 - share) * times + share * np.eye(len(times))[0]


@dataclass(frozen=True, eq=False)
class Bias:
    """A whole number of records, from `least` on with probabilities `counts`, and noise."""

    least: int
    counts: Floats
    noise: float  # its standard deviation

    @classmethod
    def of(cls, up: int, down: int, times: Floats, noise: float) -> Bias:
        """Records that push it up and down, each as often as `times` says."""
        counts = np.ones(1)
        for one in [times] * up + [times[::-1]] * down:
            counts = np.convolve(counts, one)
        return cls(-down * (len(times) - 1), counts, noise)

    @classmethod
    def of_full_lots(cls, up: int, lot: int, rows: int, steps: int, noise: float) -> Bias:
        """Lots of a fixed size, all of whose records that are not null push it up."""
        one = hypergeom.pmf(np.arange(lot + 1), rows, up, lot)
        counts = np.ones(1)
        for _ in range(steps):
            counts = np.convolve(counts, one)
        return cls(0, counts, noise)

    @property
    def places(self) -> Floats:
        return self.least + np.arange(len(self.counts), dtype=float)

    @property
    def above(self) -> float:
        """P(the bias is above 0)."""
        return float(self.counts @ ndtr(self.places / self.noise))

    def log_density(self, rows: Floats) -> Floats:
        used = self.counts > 0
        each = norm.logpdf(rows[:, :1], self.places[used], self.noise)
        return logsumexp(each + np.log(self.counts[used]), axis=1)

    def minus_another(self, same_lots: bool = False) -> Bias:
        """The difference of two independent ones, or of two that have their lots in common."""
        noise = math.sqrt(2) * self.noise
        if same_lots:
            return Bias(0, np.ones(1), noise)
        counts = np.convolve(self.counts, self.counts[::-1])
        return Bias(-(len(self.counts) - 1), counts, noise)

    def of_winner(self, wins_above: float, comes_out: float = 1.0) -> LogDensity:
        """The winner's bias, where something came out: that of a run whose sign won.

        wins_above: P(something comes out and its bias is above 0); comes_out: P(something does).
        """
        signs = np.log([(comes_out - wins_above) / (1 - self.above), wins_above / self.above])
        signs -= math.log(comes_out)

        def law(rows: Floats) -> Floats:
            return self.log_density(rows) + np.where(rows[:, 0] > 0, signs[1], signs[0])

        return law


def gaussian(scale: float) -> LogDensity:
    return lambda rows: norm.logpdf(rows[:, 0], 0.0, scale)


# Scores: rows of a label and a score


@dataclass(frozen=True)
class Run:
    """One run: P(its bias is above 0), what it counts then, the noise of its score."""

    above: float
    count: float
    noise: float

    def log_density(self, rows: Floats) -> Floats:
        """Of the label and the score."""
        label, z = self._residual(rows)
        return np.log(np.where(label == 1, self.above, 1 - self.above)) + _log_phi(z, self.noise)

    def log_reaches(self, rows: Floats) -> Floats:
        """ln P(a run's score is above this one)."""
        score = rows[:, 1]
        low, high = (log_ndtr(-(score - count) / self.noise) for count in (0.0, self.count))
        return np.logaddexp(math.log1p(-self.above) + low, math.log(self.above) + high)

    def log_same_training_reaches(self, rows: Floats) -> Floats:
        """The same for a run with the same bias."""
        return log_ndtr(-self._residual(rows)[1])

    def _residual(self, rows: Floats) -> tuple[Floats, Floats]:
        label, score = rows.T
        return label, (score - np.where(label == 1, self.count, 0.0)) / self.noise


def _log_phi(z: Floats, noise: float) -> Floats:
    return -(z**2) / 2 - math.log(noise * math.sqrt(2 * math.pi))


@dataclass(frozen=True)
class OneMore:
    """K + 1 runs: f(x) becomes x f(x)."""

    runs: RunCount

    def pgf_tail(self, u: Any) -> Floats:
        return (1 - np.asarray(u)) * self.runs.pgf_tail(u)

    def log_derivative_tail(self, u: Any) -> Floats:
        tail = (1 - np.asarray(u)) * np.exp(self.runs.log_derivative_tail(u))
        return _log(self.runs.pgf_tail(u) + tail)

    def probability_of_none(self) -> float:
        return 0.0


def best_of(run: Run, runs: RunCount | OneMore) -> LogDensity:
    """The winner's label and score."""
    return _selected(run, runs, run.log_reaches)


def best_of_one_training(run: Run, runs: RunCount) -> LogDensity:
    """All runs have the same bias: one stream for all of them."""
    return _selected(run, runs, run.log_same_training_reaches)


def _selected(
    run: Run, runs: RunCount | OneMore, log_reaches: Callable[[Floats], Floats]
) -> LogDensity:
    def law(rows: Floats) -> Floats:
        better = np.minimum(np.exp(log_reaches(rows)), 1.0)
        found = run.log_density(rows) + runs.log_derivative_tail(better)
        return np.where(rows[:, 0] == NOTHING, _log(runs.probability_of_none()), found)

    return law


def best_of_one_score_noise(run: Run, runs: RunCount) -> LogDensity:
    """All runs have the same noise in their scores: whoever has a bias above 0 wins."""
    none, all_low = runs.probability_of_none(), float(runs.pgf_tail(run.above))
    wins = {NOTHING: none, 0.0: all_low - none, 1.0: 1 - all_low}

    def law(rows: Floats) -> Floats:
        label, z = run._residual(rows)
        chance = np.select([label == known for known in wins], list(wins.values()))
        return _log(chance) + np.where(label == NOTHING, 0.0, _log_phi(z, run.noise))

    return law


def first_to_reach(run: Run, runs: RunCount, goal: float) -> LogDensity:
    """The first of K runs whose score is at least the goal, if there is one: Q(y) h(p) with
    h(p) = (1 - f(1-p)) / p, p the probability that a run reaches it."""
    p = math.exp(run.log_reaches(np.array([[0.0, goal]]))[0])
    none = float(runs.pgf_tail(p))

    def law(rows: Floats) -> Floats:
        hit = run.log_density(rows) + math.log((1 - none) / p)
        hit = np.where(rows[:, 1] >= goal, hit, -math.inf)
        return np.where(rows[:, 0] == NOTHING, math.log(none), hit)

    return law


def best_to_reach(run: Run, runs: RunCount, goal: float) -> LogDensity:
    """The best of K runs if it reaches the goal."""
    best, first = best_of(run, runs), first_to_reach(run, runs, goal)

    def law(rows: Floats) -> Floats:
        reached = (rows[:, 0] != NOTHING) & (rows[:, 1] >= goal)
        return np.where(reached, best(rows), first(rows))

    return law


def on_a_subset(
    down: int,
    right: int,
    share: float,
    biases: Callable[[int], Bias],
    noise: float,
    law: Callable[[Run], LogDensity],
) -> LogDensity:
    """The score of a search on a random subset: a mixture over how many of the rows are in it.

    biases: of a run that trains on so many rows. law: of the search where that is known.
    """
    runs = [
        (math.log(in_train * in_validation), law(Run(biases(rows).above, count, noise)))
        for rows, in_train in _drawn(down, share)
        for count, in_validation in _drawn(right, share)
    ]

    def mixture(rows: Floats) -> Floats:
        both = np.concatenate([np.insert(rows, 0, label, axis=1) for label in (0.0, 1.0)])
        each = np.array([log_weight + one(both) for log_weight, one in runs])
        return logsumexp(each.reshape(-1, len(rows)), axis=0)  # over either label too

    return mixture


def tabulated(law: LogDensity, space: Space) -> LogDensity:
    """The same on a line, from a table: for what is long to compute. Its ends are so far out that
    the claim rules out what is beyond them."""
    places = space.points[:, 0]
    between = CubicSpline(places, law(space.points), extrapolate=False)
    return lambda rows: np.nan_to_num(between(rows[:, 0]), nan=-math.inf)


# A pick that shows no score


def picked(candidates: int, above: float, lead: float) -> LogDensity:
    """How many of the biases are above 0, and whether the winner's is; such a candidate leads by
    so many multiples of the Gumbel noise, so it weighs exp(lead)."""

    def law(rows: Floats) -> Floats:
        up, won = rows.T
        heavy = up * math.exp(lead)
        wins = heavy / (heavy + candidates - up)
        return binom.logpmf(up, candidates, above) + _log(np.where(won == 1, wins, 1 - wins))

    return law


def shuffled(sorted_by_chance: float) -> LogDensity:
    """Whether something is sorted."""
    chances = np.array([1 - sorted_by_chance, sorted_by_chance])
    return lambda rows: _log(chances[rows[:, 0].astype(int)])


def _drawn(rows: int, share: float) -> list[tuple[int, float]]:
    """How many of the rows are in, with their probabilities; all but 1e-11 of those."""
    chances = binom.pmf(np.arange(rows + 1), rows, share)
    return [(count, float(chance)) for count, chance in enumerate(chances) if chance > 1e-12]


def _log(chance: Any) -> Any:
    with np.errstate(divide="ignore"):
        return np.log(chance)
