"""The audits: for each procedure its search, the bugs bet on, and how many searches win."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
from betting import Bet, Floats, LogDensity, Space
from exact_searches import SAMPLED, STEPS, WEIGHTS, Case, Shown
from release_laws import (
    NOTHING,
    Bias,
    OneMore,
    Run,
    best_of,
    best_of_one_score_noise,
    best_of_one_training,
    best_to_reach,
    first_to_reach,
    gaussian,
    in_lots,
    in_one_lot,
    in_the_rest,
    on_a_subset,
    picked,
    shuffled,
    tabulated,
)

from honestdp.privacy.run_count import RunCount
from honestdp.privacy.runs import geometric

LESS = 0.9  # of the noise: the bug that every audit must see
TRAINING_NOISE, SCORE_NOISE = "training noise x 0.9", "score noise x 0.9"
SAME_NOISE_STEPS, SAME_LOT_STEPS = "the same noise at every step", "the same lot at every step"
OTHER_LOTS = "rows in lots with probability 0.6"


@dataclass(frozen=True)
class Audit:
    """searches: at most so many, enough for a power of 0.998 against every bug bet on."""

    case: Case
    bets: Callable[[Case], list[Bet]]
    searches: int

    @property
    def placed(self) -> list[Bet]:
        return _placed(self)


@cache
def _placed(audit: Audit) -> list[Bet]:
    return audit.bets(audit.case)


# Statistics


def _weights(shown: Shown) -> Floats:
    return shown.weights.reshape(-1, 1)


def _bias(shown: Shown) -> Floats:
    return shown.bias.reshape(-1, 1)


def _scores(shown: Shown) -> Floats:
    return shown.scores


def _score_alone(shown: Shown) -> Floats:
    return shown.scores[:, 1:]


def _score_noises(shown: Shown, case: Case) -> Floats:
    """Of all candidates: without what they count, as multiples of the claimed noise."""
    label, score = shown.scores.T
    return ((score - case.right * label) / case.score_noise).reshape(-1, 1)


def _pairs(values: Floats) -> Floats:
    """Differences of neighbouring candidates."""
    return (values[0::2] - values[1::2]).reshape(-1, 1)


def _pick(shown: Shown) -> Floats:
    """How many biases are above 0, and whether the winner's is."""
    return np.array([[(shown.bias > 0).sum(), shown.bias[shown.order[0]] > 0]], dtype=float)


def _in_order(shown: Shown) -> Floats:
    losers = shown.order[1:]
    return np.array([[float(losers == sorted(losers))]])


# Bets


_STANDARD = Space.line(-40.0, 40.0, 8000)


def _on_noise(nothing: float = 0.0, candidates: int = 1) -> list[Bet]:
    draws = candidates * WEIGHTS

    def bet(bug: str, scale: float) -> Bet:
        laws = gaussian(1.0), gaussian(scale)
        return Bet(bug, _weights, *laws, _STANDARD, draws, nothing)

    return [bet(TRAINING_NOISE, LESS), bet(SAME_NOISE_STEPS, math.sqrt(STEPS))]


def _on_lots(
    bias: Callable[[Floats], LogDensity],
    space: Space,
    nothing: float = 0.0,
    candidates: int = 1,
) -> list[Bet]:
    laws = {
        SAME_LOT_STEPS: bias(in_one_lot(SAMPLED, STEPS)),
        OTHER_LOTS: bias(in_lots(0.6, STEPS)),
    }
    claimed = bias(in_lots(SAMPLED, STEPS))
    return [Bet(bug, _bias, claimed, law, space, candidates, nothing) for bug, law in laws.items()]


def _biases(bias: Bias) -> Space:
    """Where biases lie; 0 is at the edge of a cell."""
    far = bias.noise * 9 + max(-bias.least, bias.least + len(bias.counts))
    return Space.line(-far, far, 4000)


def _scores_of(case: Case) -> Space:
    far = 10 * case.score_noise
    return Space.line(-far, case.right + far)


def untuned(case: Case) -> list[Bet]:
    def bias(times: Floats) -> LogDensity:
        return case.bias(times).log_density

    space = _biases(case.bias())
    rows = case.up + case.idle
    full = Bias.of_full_lots(case.up, rows // 2, rows, STEPS, case.noise)
    fixed = Bet("lots of a fixed size", _bias, case.bias().log_density, full.log_density, space)
    return [*_on_noise(), *_on_lots(bias, space), fixed]


def composition(case: Case) -> list[Bet]:
    def bias(times: Floats) -> LogDensity:
        return case.bias(times).log_density

    noises = partial(_score_noises, case=case)
    standard, pairs = gaussian(1.0), case.settings // 2
    nearly_none = gaussian(0.1)  # a correlation of 0.99
    apart, together = case.bias().minus_another(), case.bias().minus_another(same_lots=True)
    return [
        *_on_noise(candidates=case.settings),
        *_on_lots(bias, _biases(case.bias()), candidates=case.settings),
        Bet(SCORE_NOISE, noises, standard, gaussian(LESS), _STANDARD, case.settings),
        Bet("one noise for all candidates", lambda s: _pairs(s.weights / math.sqrt(2)),
            standard, nearly_none, _STANDARD, pairs * WEIGHTS),
        Bet("one lot for all candidates", lambda s: _pairs(s.bias),
            apart.log_density, together.log_density, _biases(apart), pairs),
        Bet("one noise for all scores", lambda s: _pairs(noises(s) / math.sqrt(2)),
            standard, nearly_none, _STANDARD, pairs),
    ]  # fmt: skip


def one_pick(case: Case) -> list[Bet]:
    """No score is shown; one pick by Gumbel noise, and the others in the order of the grid."""
    bias, losers = case.bias(), case.settings - 1
    counts = np.array([(up, won) for up in range(case.settings + 1) for won in (0.0, 1.0)])

    def winners(scale: float) -> LogDensity:
        return picked(case.settings, bias.above, case.right / (scale * case.score_noise))

    return [
        *_on_noise(candidates=case.settings),
        *_on_lots(lambda times: case.bias(times).log_density, _biases(bias),
                  candidates=case.settings),
        Bet("half the noise of the pick", _pick, winners(1.0), winners(0.5),
            Space(counts, np.ones(len(counts)))),
        Bet("an order that tells of scores", _in_order, shuffled(1.0),
            shuffled(1 / math.factorial(losers)), Space(np.array([[0.0], [1.0]]), np.ones(2))),
    ]  # fmt: skip


def best_of_random_runs(case: Case) -> list[Bet]:
    law: RunCount = case.plan.procedure.law
    none = law.probability_of_none()
    space = _scores_of(case).labelled(0.0, 1.0)
    if none > 0:
        space = space.with_point(NOTHING, 0.0)

    def bias(times: Floats) -> LogDensity:
        found = case.bias(times)
        run = Run(found.above, case.right, case.score_noise)
        return found.of_winner(_wins_above(best_of(run, law), space), 1 - none)

    run = case.run()
    claimed = best_of(run, law)
    bugs = {
        SCORE_NOISE: best_of(case.run(score_noise=LESS), law),
        "one stream for all candidates": best_of_one_training(run, law),
        "one noise for all scores": best_of_one_score_noise(run, law),
        "a single run": best_of(run, geometric(1.0)),
        "one run more": best_of(run, OneMore(law)),
    }
    return [
        *_on_noise(none),
        *_on_lots(bias, _biases(case.bias()), none),
        *(Bet(bug, _scores, claimed, found, space) for bug, found in bugs.items()),
    ]


def threshold(case: Case) -> list[Bet]:
    law, goal = case.plan.procedure.law, case.goal
    far = case.right + 10 * case.score_noise
    space = Space.line(goal, far).labelled(0.0, 1.0).with_point(NOTHING, 0.0)
    run = case.run()
    claimed = first_to_reach(run, law, goal)
    none = float(np.exp(claimed(np.array([[NOTHING, 0.0]]))[0]))

    def bias(times: Floats) -> LogDensity:
        found = case.bias(times)
        first = first_to_reach(Run(found.above, case.right, case.score_noise), law, goal)
        out = 1 - float(np.exp(first(np.array([[NOTHING, 0.0]]))[0]))
        return found.of_winner(_wins_above(first, space), out)

    bugs = {
        SCORE_NOISE: first_to_reach(case.run(score_noise=LESS), law, goal),
        "a single run": first_to_reach(run, geometric(1.0), goal),
        "the best, not the first": best_to_reach(run, law, goal),
    }
    return [
        *_on_noise(none),
        *_on_lots(bias, _biases(case.bias()), none),
        *(Bet(bug, _scores, claimed, found, space) for bug, found in bugs.items()),
    ]


def subset_tuning(case: Case) -> list[Bet]:
    law, share = case.plan.procedure.law, case.plan.share
    assert share is not None
    assert case.up == 0

    def rest(times: Floats) -> Bias:
        """The bias of the last training, which reads what is left of either part."""
        return Bias.of(case.right, case.down, times, case.noise)

    def bias(times: Floats) -> LogDensity:
        return rest(in_the_rest(times, share)).log_density

    def score(
        kept: Callable[[Run], LogDensity], training_noise: float = 1.0, score_noise: float = 1.0
    ) -> LogDensity:
        @cache
        def biases(down: int) -> Bias:
            return Bias.of(0, down, in_lots(SAMPLED, STEPS), training_noise * case.noise)

        noise = score_noise * case.score_noise
        law = on_a_subset(case.down, case.right, share, biases, noise, kept)
        return tabulated(law, _scores_of(case))

    def best(run: Run) -> LogDensity:
        return best_of(run, law)

    claimed = score(best)
    bugs = {
        SCORE_NOISE: score(best, score_noise=LESS),
        "training noise x 0.9 in the search alone": score(best, training_noise=LESS),
        "one stream for all candidates": score(lambda run: best_of_one_training(run, law)),
        "one noise for all scores": score(lambda run: best_of_one_score_noise(run, law)),
        "a single run": score(lambda run: best_of(run, geometric(1.0))),
    }
    times = in_lots(SAMPLED, STEPS)
    space = _biases(rest(times))
    again = Bet("all rows in the last training", _bias, bias(times), rest(times).log_density, space)
    return [
        *_on_noise(),
        *_on_lots(bias, space),
        again,
        *(Bet(bug, _score_alone, claimed, found, _scores_of(case)) for bug, found in bugs.items()),
    ]


def _wins_above(law: LogDensity, space: Space) -> float:
    """P(something comes out, with a bias above 0)."""
    above = space.points[:, 0] == 1.0
    return Space(space.points[above], space.weights[above]).mass(law)


AUDITS: dict[str, Audit] = {
    "untuned": Audit(Case("untuned", 1, 48, 0, idle=8), untuned, 700),
    "composition": Audit(Case("composition", 8, 48, 0, 20, idle=8), composition, 700),
    "composition, no scores": Audit(
        Case("composition", 8, 16, 24, 5, options={"scores": False}), one_pick, 400
    ),
    "random-stopping": Audit(
        Case("random-stopping", 2, 17, 31, 45, options={"mean_runs": 10.0}),
        best_of_random_runs, 2600,
    ),
    "random-repeats": Audit(
        Case("random-repeats", 2, 14, 34, 45, options={"mean_runs": 30.0, "shape": 0.0}),
        best_of_random_runs, 2300,
    ),
    "random-repeats, poisson": Audit(
        Case("random-repeats", 2, 17, 31, 45, options={"mean_runs": 6.0, "shape": "poisson"}),
        best_of_random_runs, 3200,
    ),
    "threshold": Audit(
        Case("threshold", 2, 60, 36, 30, 10, options={"mean_runs": 30.0, "threshold": 0.93}),
        threshold, 2300,
    ),
    "subset-tuning": Audit(
        Case("subset-tuning", 2, 0, 24, 50, options={"mean_runs": 50.0, "subset": 0.5}),
        subset_tuning, 3400,
    ),
}  # fmt: skip
