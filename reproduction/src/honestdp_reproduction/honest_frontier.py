"""honest-frontier: test accuracy against the total epsilon that pays for everything.

Every procedure plans its own noise by `make_plan`, scores included, so that at one epsilon all
lines cost the same. Trainings come from pools; what a search does with them is played 1,000
times and saved. Beside the honest lines: DPSGD tuned for free, where each setting gets the whole
epsilon and the test rows choose (what is often reported), and logistic regression without privacy.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from honestdp.errors import InputError
from honestdp.procedures import Procedure
from honestdp_reproduction.experiment import (
    WHAT,
    Choice,
    ReportProgress,
    Result,
    in_order,
    seed,
)
from honestdp_reproduction.frontier_lines import (
    EPSILONS,
    LINES,
    FrontierLine,
    not_planned,
    planned,
    pools_of,
)
from honestdp_reproduction.frontier_searches import SEARCHES, Search, Searches
from honestdp_reproduction.frontier_show import picture, text
from honestdp_reproduction.pools import Counted, Pool, Pools
from honestdp_reproduction.store import Store

if TYPE_CHECKING:
    from honestdp.planning.plan import Plan
    from honestdp_reproduction.frontier_rows import Source

__all__ = ["picture", "result", "run", "text"]

COLLECTION = "honest-frontier"
DATASETS = ("adult", "mnist")
# How often every setting is trained; where there is but one, that one.
REPETITIONS = {"adult": 3, "mnist": 1}
UNTUNED = {"adult": 20, "mnist": 20}
_WIDTH = {"adult": 1, "mnist": 6}  # of a row, in time


def run(choice: Choice, store: Store, tell: ReportProgress) -> None:
    from honestdp_reproduction.frontier_rows import load

    pools, jobs = Pools(store), []
    for dataset in _datasets(choice):
        tell(f"{dataset}: planning", 0.0)
        source = load(dataset)
        found = list(_plans(source))
        points = [_facts(*one) for one in found]
        plans = {(line.name, epsilon): plan for line, epsilon, plan in found}
        _save(store, source, points)
        for line, epsilon, pool, repetitions in _pools(dataset, points, choice):
            plan = plans[line.name, epsilon]
            assert not isinstance(plan, InputError)
            jobs.append((pool, repetitions, partial(source.material, plan, pool)))
    in_order(
        (
            (
                pool.name,
                # in rows read: a guess of the time
                pools.missing(pool, repetitions)
                * pool.steps
                * pool.lot_size
                * _WIDTH[pool.dataset],
                partial(pools.fill, pool, repetitions, trains),
            )
            for pool, repetitions, trains in jobs
        ),
        tell,
    )
    for dataset in _datasets(choice):
        tell(f"{dataset}: searching", 1.0)
        searches = Searches(store, dataset)
        _dataset(dataset, choice, store, searches)
        searches.save()


def _plans(source: Source) -> Iterator[tuple[FrontierLine, float, Plan | InputError]]:
    for line in LINES:
        for epsilon in line.at:
            try:
                yield line, epsilon, line.plan(source.schema, source.rows, epsilon)
            except InputError as error:  # the point will be missing, and say why
                yield line, epsilon, error


def _facts(line: FrontierLine, epsilon: float, plan: Plan | InputError) -> dict[str, Any]:
    if isinstance(plan, InputError):
        return not_planned(line, epsilon, plan)
    return planned(line, plan)


def _save(store: Store, source: Source, points: list[dict[str, Any]]) -> None:
    """The plans, unless the same are there already: a record says which commit made it."""
    known = store.read(COLLECTION, source.name, "plans")
    if known is not None and known["plans"] == points:
        return
    facts = {
        "what": WHAT,
        "dataset": source.name,
        "rows": source.rows,
        "test_rows": len(source.test),
        "columns": source.schema.width,
        "non_private": source.non_private(),
        "plans": points,
    }
    store.save(COLLECTION, source.name, facts, "plans")


def _pools(
    dataset: str, points: list[dict[str, Any]], choice: Choice
) -> Iterator[tuple[FrontierLine, float, Pool, int]]:
    """By epsilon, from 1 on, then by line: what is interrupted has whole epsilons. A line of one
    point, the largest grid, comes last."""
    lines = {line.name: line for line in LINES}
    known = [(lines[p["line"]], p) for p in points if p["not_planned"] is None]
    known.sort(key=lambda one: (len(one[0].at) == 1, abs(np.log(one[1]["epsilon"]))))
    for line, point in known:
        for pool in pools_of(line, dataset, point):
            yield line, point["epsilon"], pool, _repetitions(dataset, line, choice)


def _repetitions(dataset: str, line: FrontierLine, choice: Choice) -> int:
    return choice.repetitions or (UNTUNED if line.untuned else REPETITIONS)[dataset]


def _datasets(choice: Choice) -> tuple[str, ...]:
    choice.check(DATASETS, sigmas=False)
    return choice.datasets or DATASETS


def result(choice: Choice, store: Store) -> Result:
    datasets = [
        _dataset(dataset, choice, store, Searches(store, dataset)) for dataset in _datasets(choice)
    ]
    return {
        "what": WHAT,
        "epsilons": list(EPSILONS),
        "searches": SEARCHES,
        "datasets": datasets,
        "not_run": [
            f"{data['dataset']}, {point['line']}, epsilon {point['epsilon']:g}"
            for data in datasets
            for point in data["points"]
            if point["absent"] and point["not_planned"] is None
        ],
    }


def _dataset(dataset: str, choice: Choice, store: Store, searches: Searches) -> dict[str, Any]:
    known, path = store.read(COLLECTION, dataset, "plans"), store.path(COLLECTION, dataset)
    if known is None:
        raise InputError(f"{path}: not there yet; run the experiment first")
    plans = known.pop("plans")
    lines = [(line.name, epsilon) for line in LINES for epsilon in line.at]
    if [(facts["line"], facts["epsilon"]) for facts in plans] != lines:
        raise InputError(f"{path}: is of other lines; run the experiment first")
    points = [_point(dataset, choice, store, searches, facts) for facts in plans]
    return known | {"points": points}


def _point(
    dataset: str, choice: Choice, store: Store, searches: Searches, facts: dict[str, Any]
) -> dict[str, Any]:
    """absent: why there is no point, where there is none."""
    line = next(line for line in LINES if line.name == facts["line"])
    if facts["not_planned"] is not None:
        return facts | {"absent": facts["not_planned"]}
    pools, repetitions = Pools(store), _repetitions(dataset, line, choice)
    wanted = pools_of(line, dataset, facts)
    if any(pools.missing(pool, repetitions) for pool in wanted):
        return facts | {"absent": "not trained yet; run the experiment"}
    counted = [pools.get(pool, repetitions) for pool in wanted]
    facts |= {"absent": None, "pools": [pool.name for pool in wanted], "repetitions": repetitions}
    return facts | _outcome(line, facts, counted, searches)


def _outcome(
    line: FrontierLine, facts: dict[str, Any], counted: list[Counted], searches: Searches
) -> dict[str, Any]:
    """The mean test accuracy of what leaves, and its spread.

    low, high: 5 and 95 % of outcomes. error: the standard error of the mean, from trainings: for
    one setting over its repetitions; for a search from the means of searches in each repetition
    alone, where there are several. The choice of test rows is not in it, which all lines share.
    """
    found = counted[-1].accuracy
    if line.free:
        return _summary(found.max(1)) | {"best": _best(found)}
    if line.untuned:
        return _summary(found[:, 0]) | {"best": None}
    scores = counted[0].validation
    assert scores is not None
    procedure, noise = line.procedure, facts["score_noise"]
    if facts["procedure"] not in (procedure.to_dict(), _as_first_saved(procedure)):
        raise InputError(f"{facts['line']}: was planned as {facts['procedure']}; run it anew")
    given = seed(f"{counted[0].pool.name} {line.name}")
    played = searches.outcomes(Search(procedure, noise, scores, found, given))
    return {
        "mean": played["mean"],
        "error": _error(np.array(played["alone"])),
        "low": played["low"],
        "high": played["high"],
        "best": _best(found),
        "best_won": played["best_won"],
        "nothing": played["nothing"],
    }


def _summary(outcomes: NDArray[np.float64]) -> dict[str, Any]:
    low, high = np.quantile(outcomes, [0.05, 0.95])
    return {
        "mean": float(outcomes.mean()),
        "error": _error(outcomes),
        "low": float(low),
        "high": float(high),
    }


def _error(means: NDArray[np.float64]) -> float | None:
    """The standard error of the mean of these; None of one."""
    return float(means.std(ddof=1) / np.sqrt(len(means))) if len(means) > 1 else None


def _best(found: NDArray[np.float64]) -> dict[str, Any]:
    """The setting that is best on the test rows, over repetitions: what a search hopes to find."""
    means = found.mean(0)
    return {"setting": int(means.argmax()), "accuracy": float(means.max())}


def _as_first_saved(procedure: Procedure) -> str:
    """As the first results have it: as Python wrote it, by the name that its class had then."""
    return repr(procedure).replace("Composition(", "ComposeAll(", 1)
