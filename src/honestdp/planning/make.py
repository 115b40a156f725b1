"""`make_plan`: turn a `Spec` into a `Plan`. Public inputs only."""

from __future__ import annotations

from dataclasses import dataclass, replace

from honestdp.errors import InputError, fail
from honestdp.planning import defaults
from honestdp.planning.plan import Plan
from honestdp.planning.plan import job as training_of
from honestdp.planning.role_costs import (
    RoleCosts,
    free_count_noise,
    free_noise,
    is_one_event,
    priced_after,
)
from honestdp.planning.spec import AUTO, Spec
from honestdp.privacy.calibrate import noise_multiplier
from honestdp.privacy.events import Event
from honestdp.procedures import Procedure, Training, automatic_requests
from honestdp.procedures.untuned import Untuned

MOST_RUNS = 1000.0  # default limit on the expected number of runs of "auto"


def make_plan(spec: Spec) -> Plan:
    """Choose the procedure and the least noise that keep a search within its budget.

    Args:
        spec: What to search for, and the budget.

    Returns:
        The plan, whose cost is at most the spec's (epsilon, delta).

    Raises:
        InputError: If no plan fits the budget, or an option is out of bounds.

    Example:
        >>> from honestdp.datasets import adult
        >>> plan = make_plan(Spec(schema=adult().schema, rows=30000, epsilon=1.0))
        >>> plan.procedure.name
        'untuned'
    """
    if spec.procedure == AUTO:
        return _choose(spec)
    reason = "asked for" if spec.chosen_on is None else spec.chosen_on.reason
    return _plan(spec, spec.request.among(len(defaults.grid(spec))), reason)


def _plan(spec: Spec, chosen: Procedure, reason: str) -> Plan:
    """The plan with the least noise that the budget allows, under the smallest bound."""
    chosen.check(len(defaults.grid(spec)), defaults.delta(spec))
    job, delta = training_of(spec, chosen), defaults.delta(spec)
    before = defaults.questions(spec).event
    found: dict[str, float] = {}
    failure: InputError | None = None
    for bound in _bounds(spec, chosen):
        cost = _Cost(chosen, bound, job, before, delta)
        try:
            start = min(found.values(), default=2.0)
            found[bound] = noise_multiplier(cost, spec.epsilon, start)
        except InputError as error:  # this bound has no answer; another may
            why = cost.failure or error
            failure = failure or InputError(f"{why} ({chosen.name}, delta={delta:g})")
    if not found:
        assert failure is not None
        raise failure
    bound, noise = min(found.items(), key=lambda pair: pair[1])
    scores = free_noise(chosen, bound, job.event(noise), delta)
    counts = None
    if spec.test_rows or spec.calibration_rows:
        roles = RoleCosts.of(chosen, bound, job.event(noise), scores)
        counts = free_count_noise(roles, before, delta)
    tests = counts if spec.test_rows else None
    calibrates = counts if spec.calibration_rows else None
    return Plan(spec, chosen, bound, noise, scores, reason, tests, calibrates)


def _bounds(spec: Spec, chosen: Procedure) -> list[str]:
    if spec.bound is None:  # loss distributions are never dearer than Renyi curves
        usual = [bound for bound in chosen.bounds if not bound.startswith("rdp")]
        return usual or list(chosen.bounds)
    chosen.check_bound(spec.bound)
    return [spec.bound]


@dataclass
class _Cost:
    """The epsilon of a procedure by its noise.

    failure: The first error of its price, if it had no price with any noise: then that error, not
    the budget, is why there is no plan. composes: How it is priced after questions, by the first
    noise that is tried: `Plan` finds it out again with the noise that was found.
    """

    chosen: Procedure
    bound: str
    job: Training
    before: Event | None
    delta: float
    failure: InputError | None = None
    answered: bool = False
    composes: bool | None = None

    def __call__(self, sigma: float) -> float:
        try:
            run = self.job.event(sigma)
            if self.composes is None and self.before is not None:
                self.composes = is_one_event(self.chosen, (run, run), self.delta)
            before, delta, composes = self.before, self.delta, self.composes
            found = priced_after(self.chosen, self.bound, before, (run, run), delta, composes)
        except InputError as error:
            if not self.answered:
                self.failure = self.failure or error
            raise
        self.answered, self.failure = True, None
        return found


def _choose(spec: Spec) -> Plan:
    """The procedure with the least noise among those that find the best setting as often as
    wanted, within the runs allowed; `untuned` where there is nothing to choose among."""
    count = len(defaults.grid(spec))
    if count == 1:
        given = "the grid has one setting" if spec.grid is not None else _why_untuned(spec)
        given = given if spec.chosen_on is None else spec.chosen_on.reason
        return _plan(spec, Untuned(1), given)
    hit = spec.wanted_hit_probability
    most = MOST_RUNS if spec.most_runs is None else spec.most_runs
    plans: list[Plan] = []
    failure: InputError | None = None
    for request in automatic_requests(hit):
        try:
            chosen = request.among(count)
        except InputError:  # too many settings for it, or no law finds the best so often
            continue
        if not chosen.finds_as_often(spec.rows, _one_model(spec)):
            continue
        try:
            if chosen.expected_runs is not None and chosen.expected_runs <= most:
                plans.append(_plan(spec, chosen, ""))
        except InputError as error:
            failure = error
    if not plans:
        way_out = "raise it, give fewer settings or lower hit_probability"
        remedy = f"no search among {count} settings fits; {way_out}"
        raise failure or fail("most_runs", most, remedy)
    best = min(plans, key=lambda plan: plan.noise_multiplier)
    others = ", ".join(
        f"{p.procedure.name} {_shape(p.procedure)}{p.noise_multiplier:.3g}"
        for p in sorted(plans, key=lambda plan: plan.noise_multiplier)
        if p is not best
    )
    reason = (
        f"least noise multiplier ({best.noise_multiplier:.3g}) of the searches that try the best "
        f"of {count} settings with probability {hit:g} in at most {most:g} expected runs"
        + (f"; {others}" if others else "")
    )
    return replace(best, reason=reason)


def _one_model(spec: Spec) -> bool:
    """Whether all settings share one model, with the same options."""
    grid = defaults.grid(spec)
    first = spec.pipelines[0].model
    same = all(one.model is first or one.model == first for one in spec.pipelines)
    return same and all(grid.model_options(i) == grid.model_options(0) for i in range(len(grid)))


def _why_untuned(spec: Spec) -> str:
    rows = "every row that is not held out" if spec.search_rows < spec.rows else "every row"
    return (
        "no grid given: one setting whose step size follows from public facts needs no tuning, so "
        f"the whole budget and {rows} go into one training"
    )


def _shape(chosen: Procedure) -> str:
    return "" if chosen.shape is None else f"(shape {chosen.shape}) "
