"""What (epsilon, delta) means to someone who bets: how often a guess can be right."""

from __future__ import annotations

import math

from honestdp.errors import not_negative, open_unit

_ROUNDING = 1 + 1e-15  # a few times what the four operations below can lose


def guess_chance(epsilon: float, delta: float) -> float:
    """The most often anyone is right about which of two neighbours a release came from.

    Statement: let M be (epsilon, delta)-DP, D and D' neighbours, and let a fair coin choose which
    of them M reads. Whoever knows both, and sees what M releases, guesses the right one with
    probability at most (e^epsilon + delta) / (1 + e^epsilon).

    Conditions: the coin is fair and unknown; all that is seen is covered by (epsilon, delta); the
    neighbours are those that it is stated for. What else is known does not matter, nor how the
    guess is made.

    Proof: a guess is a set S of releases on which one guesses D (or a random mixture of such). It
    is right with probability P = (p + 1 - p') / 2, p and p' being the probabilities that M(D) and
    M(D') lie in S. By privacy p <= e^epsilon p' + delta and 1 - p' <= e^epsilon (1 - p) + delta.
    Adding both, with x = p - p': 1 + x <= e^epsilon (1 - x) + 2 delta, so that
    x <= (e^epsilon - 1 + 2 delta) / (e^epsilon + 1) and P = (1 + x) / 2 is as stated. Randomized
    response that, with probability delta, releases the truth marked as such attains it. (Wasserman
    & Zhou 2010; Kairouz, Oh & Viswanath 2015, Theorem 2.1.)

    Never below the true value; never above 1.
    """
    not_negative("epsilon", epsilon)
    if delta != 0:
        open_unit("delta", delta)
    shrunk = math.exp(-epsilon)  # of the inverse: e^epsilon has no float beyond 709
    return min(1.0, (1 + delta * shrunk) / (1 + shrunk) * _ROUNDING)


def guess_chance_swapped(epsilon: float, delta: float) -> float:
    """The same where one record is swapped for another, of a guarantee that is stated for a record
    and a null record.

    Proof: by way of the null record, two steps: (2 epsilon, (1 + e^epsilon) delta)-DP.
    """
    not_negative("epsilon", epsilon)
    if epsilon > 700 or (1 + math.exp(epsilon)) * delta >= 1:
        return 1.0
    return guess_chance(2 * epsilon, (1 + math.exp(epsilon)) * delta * _ROUNDING)
