"""`make_plan`: from what is wanted to what will be done. Public inputs only."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from honestdp.errors import InputError, fail
from honestdp.planning import defaults
from honestdp.planning.costs import default_delta
from honestdp.planning.plan import Learning, Plan
from honestdp.planning.procedures import (
    ComposeAll,
    Procedure,
    RandomRepeats,
    RandomStopping,
    SubsetTuning,
    Threshold,
    Training,
    Untuned,
)
from honestdp.planning.sides import balanced_sides
from honestdp.planning.spec import AUTO, Spec
from honestdp.privacy import guarantee
from honestdp.privacy.calibrate import noise_multiplier, run_count, stopping_probability
from honestdp.privacy.events import Gaussian, Repeated
from honestdp.privacy.runs import Capped, Poisson, RunCount, TruncatedNegativeBinomial
from honestdp.privacy.spending import Spending, compose

HIT_PROBABILITY = 0.9  # what "auto" wants, if the user does not say
MOST_RUNS = 1000.0  # what "auto" may run in expectation, if the user does not say
SUBSET = 0.1
_MOST_EXPECTED = 1e6


def make_plan(spec: Spec) -> Plan:
    """The plan of a search within (epsilon, delta); an `InputError` if there is none."""
    if spec.procedure == AUTO:
        return _choose(spec)
    return _plan(spec, procedure(spec, len(defaults.grid(spec))), "asked for")


def procedure(spec: Spec, candidates: int) -> Procedure:
    """The procedure that was asked for, with its law of K."""
    if spec.procedure == "untuned":
        if candidates != 1:
            raise fail("grid", candidates, "settings; untuned trains one: leave one in the grid")
        return Untuned(1)
    if spec.procedure == "composition":
        return ComposeAll(candidates, spec.scores is not False)
    if spec.procedure in ("random-stopping", "threshold"):
        gamma = (
            stopping_probability(candidates, spec.hit_probability)
            if spec.mean_runs is None
            else 1 / spec.mean_runs
        )
        if spec.procedure == "threshold":
            return Threshold(candidates, gamma, spec.cap)
        return RandomStopping(candidates, gamma)
    law = _law(spec, candidates)
    if spec.procedure == "random-repeats":
        return RandomRepeats(candidates, law)
    if law.probability_of_none() > 0:
        raise fail("shape", spec.shape, "may run nothing; the final training needs a winner")
    return SubsetTuning(candidates, law, SUBSET if spec.subset is None else spec.subset)


def _law(spec: Spec, candidates: int) -> RunCount:
    shape = 1.0 if spec.shape is None else spec.shape
    law: RunCount
    if spec.mean_runs is None:
        law = run_count(shape, candidates, spec.hit_probability)
    elif shape == "poisson":
        law = Poisson(spec.mean_runs)
    else:
        law = TruncatedNegativeBinomial.from_mean(shape, spec.mean_runs)
    return law if spec.cap is None else Capped(law, spec.cap)


def _plan(spec: Spec, chosen: Procedure, reason: str) -> Plan:
    if chosen.expected_runs is not None and chosen.expected_runs > _MOST_EXPECTED:
        runs = f"{chosen.expected_runs:.3g}"
        raise InputError(f"{chosen.name}: would make {runs} runs on average; ask for fewer")
    n = spec.rows
    if not isinstance(chosen, Untuned):
        n -= round(spec.validation * spec.rows)
        if not 0 < n < spec.rows:
            raise fail("rows", spec.rows, "too few to train on some and score on others")
    steps = defaults.steps(spec, n)
    job = Training(n, defaults.lot_size(spec, n, steps), steps)
    if isinstance(chosen, SubsetTuning) and chosen.share * job.lot_size < 1:
        held = f"{chosen.share * job.lot_size:.3g}"
        raise fail("subset", chosen.share, f"its lots would hold {held} rows; raise it or lot_size")
    delta = default_delta(spec.rows) if spec.delta is None else spec.delta
    learning, learnt = _learning(spec, delta)
    left = 1 - spec.learn_share if learning else 1.0
    budget, rest = spec.epsilon * left, delta * left

    names = [spec.bound] if spec.bound else [b for b in chosen.bounds if not b.startswith("rdp")]
    found: dict[str, float] = {}
    for bound in names:
        if bound not in chosen.bounds:
            known = ", ".join(chosen.bounds)
            raise fail("bound", bound, f"does not hold for {chosen.name}; {known} do")
        try:
            start = min(found.values(), default=2.0)
            found[bound] = noise_multiplier(_cost(chosen, bound, job, rest), budget, start)
        except InputError:  # this bound has no answer; another may
            continue
    if not found:
        raise fail(
            "epsilon", spec.epsilon, f"no noise reaches it under {chosen.name}; raise it or delta"
        )
    bound, noise = min(found.items(), key=lambda pair: pair[1])
    sides = balanced_sides(chosen, bound, job.event(noise), rest)
    epsilons = sides.epsilon(rest)
    cost = max(epsilons.values())
    if not cost <= budget:  # the calibration promises it; a plan that breaks it is never made
        raise InputError(f"plan costs epsilon={cost:.6g}, budget is {budget:.6g}; report this")
    spending = (
        Spending.of_pair(cost, rest)
        if bound == "liu-talwar"
        else Spending.of_curve(sides.curve(rest), rest, epsilon=cost)
    )
    return Plan(
        spec=spec,
        grid=defaults.grid(spec),
        procedure=chosen,
        training=job,
        noise_multiplier=noise,
        sides=sides,
        side_epsilons=epsilons,
        learning=learning,
        row_norm=defaults.row_norm(spec),
        spending=compose([learnt, spending]) if learnt else spending,
        reason=reason,
    )


def _cost(chosen: Procedure, bound: str, job: Training, delta: float) -> Callable[[float], float]:
    return lambda sigma: chosen.epsilon(bound, job, sigma, delta)


def _learning(spec: Spec, delta: float) -> tuple[Learning | None, Spending | None]:
    """Bounds take their share of epsilon and delta; every record is in every histogram, so what
    they cost is added to either side."""
    columns = tuple(spec.schema.to_learn)
    if not columns:
        return None, None
    epsilon, own = spec.learn_share * spec.epsilon, spec.learn_share * delta

    def event(noise: float) -> Repeated:
        return Repeated(Gaussian(noise), len(columns))

    noise = noise_multiplier(lambda s: guarantee.epsilon(event(s), own), epsilon, 100.0)
    cost = guarantee.epsilon(event(noise), own)
    spending = Spending.of_curve(guarantee.rdp_curve(event(noise)), own, epsilon=cost)
    return Learning(columns, noise), spending


def _choose(spec: Spec) -> Plan:
    """The procedure with the least noise among those that find the best setting as often as
    wanted, within the runs allowed; `untuned` where there is nothing to choose among."""
    count = len(defaults.grid(spec))
    if count == 1:
        given = "the grid has one setting" if spec.grid is not None else _WHY_UNTUNED
        return _plan(spec, Untuned(1), given)
    wanted = HIT_PROBABILITY if spec.hit_probability is None else spec.hit_probability
    most = MOST_RUNS if spec.most_runs is None else spec.most_runs
    plans = []
    for asked in _searches(spec, wanted):
        try:
            chosen = procedure(asked, count)
            if (chosen.expected_runs or math.inf) <= most:
                plans.append(_plan(asked, chosen, ""))
        except InputError:  # a law that never finds it so often, a bound without an answer
            continue
    if not plans:
        raise fail("most_runs", most, f"no search among {count} settings fits; raise it or epsilon")
    best = min(plans, key=lambda plan: plan.noise_multiplier)
    others = ", ".join(
        f"{p.procedure.name} {_shape(p.procedure)}{p.noise_multiplier:.3g}"
        for p in sorted(plans, key=lambda plan: plan.noise_multiplier)
        if p is not best
    )
    reason = (
        f"least noise multiplier ({best.noise_multiplier:.3g}) of the searches that try the best "
        f"of {count} settings with probability {wanted:g} in at most {most:g} expected runs"
        + (f"; {others}" if others else "")
    )
    return replace(best, reason=reason)


_WHY_UNTUNED = (
    "no grid given: one setting whose step size follows from public facts needs no tuning, so the "
    "whole budget and every row go into one training"
)


def _searches(spec: Spec, wanted: float) -> list[Spec]:
    def asked(name: str, **options: object) -> Spec:
        cleared = {"most_runs": None, "hit_probability": None}
        return replace(spec, procedure=name, **{**cleared, **options})  # type: ignore[arg-type]

    return [
        asked("composition"),
        *(
            asked("random-repeats", shape=shape, hit_probability=wanted)
            for shape in (0.0, 1.0, "poisson")
        ),
    ]


def _shape(chosen: Procedure) -> str:
    return "" if chosen.shape is None else f"(shape {chosen.shape}) "
