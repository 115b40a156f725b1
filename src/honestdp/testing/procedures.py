"""`check_procedure`: whether a procedure keeps the contract of `honestdp.procedures.base`."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NoReturn

import numpy as np

from honestdp.errors import InputError
from honestdp.privacy.curve import RdpCurve
from honestdp.privacy.events import Pure, training
from honestdp.procedures import Draw, Outcome, Procedure
from honestdp.procedures.checks import profile_of
from honestdp.procedures.draws import Coin
from honestdp.randomness import Purpose, Randomness

DELTA = 1e-5
_SEARCHES = 400  # draws of K and of settings
_LONGEST = 10  # draws whose outcomes are enumerated


def check_procedure(
    kind: type[Procedure],
    options: Mapping[str, Any] | None = None,
    candidates: Sequence[int] = (1, 2, 5),
) -> None:
    """Check that a procedure keeps the contract of `honestdp.procedures.Procedure`.

    It is made for several numbers of candidates; its price, draws, selection and format are
    checked. Its price is compared with an attack: the outcomes of candidates that are randomised
    response are enumerated through its own `draws` and `keep`.

    Args:
        kind: The class.
        options: What `make` is given; none by default.
        candidates: The numbers of candidates to try; those that `make` or `check` refuses with an
            InputError are left out, at least one must be left.

    Raises:
        AssertionError: If it breaks the contract; the message says how.

    Example:
        >>> from honestdp.procedures.composition import Composition
        >>> check_procedure(Composition)
    """
    known = isinstance(kind, type) and issubclass(kind, Procedure)
    assert known, "give a subclass of Procedure: the class itself, not an object"
    assert isinstance(getattr(kind, "name", None), str), "name: a procedure needs one, a text"
    made = [found for k in candidates if (found := _made(kind, k, dict(options or {}))) is not None]
    assert made, f"make refused all of {list(candidates)} candidates"
    for procedure in made:
        _check_facts(procedure)
        _check_price(procedure)
        _check_draws(procedure)
        _check_keep(procedure)
        _check_texts(procedure)
        _check_format(procedure)
        _check_against_an_attacker(procedure)


def _made(kind: type[Procedure], candidates: int, options: dict[str, Any]) -> Procedure | None:
    checked = {name: kind.options[name](name, value) for name, value in options.items()}
    try:
        found: object = kind.make(candidates, checked)
    except InputError:
        return None
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise AssertionError(
            f"make: fails ({reason}); raise InputError, or give check_procedure its options"
        ) from error
    assert isinstance(found, Procedure), (
        f"make: returned a {type(found).__name__}; return the procedure"
    )
    try:
        found.check(candidates, DELTA)
    except InputError:
        return None
    return found


def _check_facts(procedure: Procedure) -> None:
    runs, most = procedure.expected_runs, procedure.max_runs
    assert (runs or 0) > 0, f"expected_runs: {runs}; must be above 0"
    assert runs is not None
    assert most is None or runs <= most * (1 + 1e-9), f"expected_runs {runs} exceed max_runs {most}"
    hit = procedure.hit_probability
    assert 0 < (hit or 0) <= 1 + 1e-9, f"hit_probability: {hit} is not a probability above 0"
    share = procedure.tuning_share
    assert share is None or 0 < share < 1, f"tuning_share: {share}; must lie between 0 and 1"
    scores = procedure.scoring is not None
    assert scores == procedure.selects, "scoring: must be None if selects is False, and only then"
    assert hash(procedure) == hash(procedure), (
        "it must be a frozen dataclass: prices are cached for it"
    )
    assert procedure.releases_all or procedure.law is not None, (
        "law: is None; if only the winner is released, the number of draws is secret and has a law"
    )


def _check_price(procedure: Procedure) -> None:
    named = isinstance(procedure.bounds, tuple) and procedure.bounds
    assert named, 'bounds: a tuple of at least one name, such as ("pld",)'
    assert procedure.usual_bound in procedure.bounds, "usual_bound: must be one of bounds"
    assert set(procedure.drawn_bounds) <= set(procedure.bounds), (
        "drawn_bounds: must be among bounds"
    )
    for bound in procedure.bounds:
        prices = []
        for noise in (2.0, 4.0, 8.0):
            run = training(0.01, noise, 100)
            prices.append(procedure.price(bound, run, run, DELTA))
        numbers = all(isinstance(price, float) for price in prices)
        assert numbers, f"price: returned {prices} for {bound}; return epsilon, a float"
        assert all(0 < price < math.inf for price in prices), (
            f"price: {prices} for {bound}; not above 0 and finite"
        )
        assert prices == sorted(prices, reverse=True), f"price: grows with the noise for {bound}"
    run = training(0.01, 4.0, 100)
    curve: object = procedure.curve(run, run, DELTA)
    assert isinstance(curve, RdpCurve), (
        f"curve: returned a {type(curve).__name__}; return an RdpCurve"
    )
    assert (curve.values >= 0).all(), "curve: is negative somewhere"
    assert curve.epsilon(DELTA) < math.inf, "curve: gives no finite epsilon"
    profile = profile_of(procedure, run, run, DELTA)
    deltas = [profile.delta(t) for t in (0.0, 0.1, 1.0)]
    assert 1 >= deltas[0] >= deltas[1] >= deltas[2] >= 0, "profile: delta must fall with epsilon"


def _coins(seed: int) -> Coin:
    randomness = Randomness.simulation(seed)
    return lambda index: randomness.uniform(Purpose.COINS, index, 0)


def _check_draws(procedure: Procedure) -> None:
    settings, lengths = procedure.candidates, []
    for seed in range(_SEARCHES):
        draws = procedure.draws(settings, _coins(seed))
        listed = isinstance(draws, list) and all(isinstance(draw, Draw) for draw in draws)
        assert listed, "draws: must return a list of Draw"
        assert draws == procedure.draws(settings, _coins(seed)), "draws: differ for equal coins"
        numbers = [draw.number for draw in draws]
        assert len(set(numbers)) == len(numbers), "draws: two with the same number share noise"
        assert all(0 <= draw.setting < settings for draw in draws), "draws: not in the grid"
        lengths.append(len(draws))
    final = 1 if procedure.tuning_share is not None else 0
    assert procedure.max_runs is None or max(lengths) + final <= procedure.max_runs, (
        f"draws: {max(lengths) + final} trainings; max_runs is {procedure.max_runs}"
    )
    if procedure.law is None:
        assert len(set(lengths)) == 1, "draws: their number varies, so it needs a law"
        return
    shown = Counter(min(length, 3) for length in lengths)
    known = procedure.law.probabilities(2)
    for count, probability in (*enumerate(known), (3, 1 - float(known.sum()))):
        spread = math.sqrt(max(probability * (1 - probability), 1e-12) / _SEARCHES)
        off = abs(shown[count] / _SEARCHES - probability)
        many = f"{count} or more" if count == 3 else str(count)
        assert off <= 6 * spread + 1e-9, (
            f"draws: {many} draws in {shown[count]} of {_SEARCHES} searches; by the law that is "
            f"priced their probability is {probability:.3f}"
        )


class _Unread:
    """A stand-in for parameters; any access fails."""

    def __getattribute__(self, name: str) -> NoReturn:
        raise AssertionError(f"keep: looked at a candidate's parameters ({name})")


def _outcomes(count: int, settings: int, seed: int) -> list[Outcome]:
    source = np.random.default_rng(seed)
    return [
        Outcome(Draw(i, i % settings), _Unread(), float(s), float(c))
        for i, (s, c) in enumerate(
            zip(source.integers(3, size=count), source.random(count), strict=True)
        )
    ]


def _check_keep(procedure: Procedure) -> None:
    for seed in range(50):
        some = _outcomes(
            procedure.candidates if procedure.releases_all else 6, procedure.candidates, seed
        )
        at_once = procedure.keep([], some, lambda value: value)
        assert isinstance(at_once, list), (
            f"keep: returned a {type(at_once).__name__}; return a list of outcomes"
        )
        by_groups: list[Outcome] = []
        for first in range(0, len(some), 2):
            by_groups = procedure.keep(by_groups, some[first : first + 2], lambda value: value)
        kept = [outcome.draw.number for outcome in at_once]
        again = [outcome.draw.number for outcome in by_groups]
        assert kept == again, (
            f"keep: returned {kept} for all runs at once, {again} for the same runs in groups"
        )
        most = len(some) if procedure.releases_all else 1
        assert len(at_once) <= most, (
            f"keep: {len(at_once)} outcomes, at most {most} may be released"
        )
        assert {id(o) for o in at_once} <= {id(o) for o in some}, (
            "keep: returned an outcome it was not given"
        )


def _check_texts(procedure: Procedure) -> None:
    assert procedure.summary.endswith("."), "summary: must be a sentence with a full stop"
    assert procedure.leaves, "leaves: is empty; say what is released"
    assert procedure.released(", and bounds").endswith("."), "released: must end with a full stop"
    assert ", and bounds" in procedure.released(", and bounds"), (
        "released: its argument is missing in the text"
    )
    for bound in procedure.bounds:
        assert procedure.theorem(bound), f"theorem: returned no text for {bound}"
    for condition in procedure.conditions:
        statement, reason = condition
        assert all((statement, reason)), "conditions: pairs of statement and reason"


def _check_format(procedure: Procedure) -> None:
    facts = json.loads(json.dumps(procedure.to_dict(), allow_nan=False))
    assert facts.get("name") == procedure.name, "to_dict: must hold the name"
    try:
        again = type(procedure).from_dict(facts)
    except (TypeError, InputError) as error:
        raise AssertionError(f"from_dict: cannot read what to_dict wrote ({error})") from None
    assert again == procedure, f"from_dict: {again} is not the procedure that was written"


def _check_against_an_attacker(procedure: Procedure, loss: float = 0.5) -> None:
    """Attack the procedure with runs that are randomised response: the score is 1 with probability
    p on one table and 1 - p on the other, which is (loss, 0)-DP and no better. The hockey-stick
    divergence of what is released, both ways, must be within the price. K and settings are sampled
    and scores enumerated, so the divergence found is at most the true one up to the sampling error,
    which is allowed for."""
    event = Pure(loss)
    p = 1 / (1 + math.exp(-loss))
    seen: tuple[dict[Any, float], ...] = (defaultdict(float), defaultdict(float))
    used = 0
    for seed in range(_SEARCHES):
        draws = procedure.draws(procedure.candidates, _coins(10_000 + seed))
        if len(draws) > _LONGEST:
            continue
        used += 1
        for scores in product((0.0, 1.0), repeat=len(draws)):
            runs = [
                Outcome(draw, None, score, (draw.number * 0.37) % 1)
                for draw, score in zip(draws, scores, strict=True)
            ]
            kept = procedure.keep([], runs, lambda value: value)
            shown = tuple((o.draw.setting, o.score) for o in kept)
            ones = sum(scores)
            for table, q in zip(seen, (p, 1 - p), strict=True):
                table[shown] += q**ones * (1 - q) ** (len(draws) - ones) / _SEARCHES
    if not used:
        return
    try:
        priced = min(procedure.price(b, event, event, DELTA) for b in procedure.bounds)
    except InputError:  # its theorems do not price pure mechanisms
        return
    told = profile_of(procedure, event, event, DELTA)
    for one, other in (seen, seen[::-1]):
        delta = sum(max(0.0, one[o] - math.exp(priced) * other[o]) for o in one)
        error = 4 / math.sqrt(_SEARCHES) * (len(one) > 1) * 0.05
        assert delta <= DELTA + error, (
            f"price: epsilon {priced:.3f} at delta {DELTA:g} for runs of epsilon {loss:g}, but "
            f"what is released has a delta of {delta:.3g}: the price is too low"
        )
        for t in (0.0, loss / 4, loss / 2):
            found = sum(max(0.0, one[o] - math.exp(t) * other[o]) for o in one)
            assert found <= told.delta(t) + error, (
                f"profile: delta {told.delta(t):.3g} at epsilon {t:g} for runs of epsilon "
                f"{loss:g}, but what is released has {found:.3g}: the profile is too low"
            )
