"""Settings drawn by samplers of Optuna that look at no score; Optuna is imported here alone.

Privacy. The settings of a grid must be fixed before the data is opened. Samplers that fill a space
evenly (quasi-random), at random or by a list do that. Those that learn (TPE, Gaussian processes,
CMA-ES, genetic ones) propose a setting by the scores of those before it: each such score is
computed from rows, and no procedure of this library pays for showing it to a sampler.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from honestdp.errors import InputError, fail, one_line, positive_integer

_WITHOUT_SCORES = ("QMCSampler", "RandomSampler", "GridSampler")
_UNPAID = (
    "it proposes settings by the scores of earlier ones, which are computed from rows and which "
    "nobody paid for"
)


def drawn_by_optuna(
    space: Mapping[str, Any], n: int, sampler: Any, seed: int
) -> tuple[dict[str, Any], ...]:
    """Draw settings; see `Grid.from_optuna` for the arguments and errors."""
    try:
        import optuna
    except ImportError:
        raise InputError(
            "Grid.from_optuna: needs the package optuna; install it (pip install optuna), or draw "
            "with Grid.sample(40, ...), which needs nothing"
        ) from None
    positive_integer("n", n)
    for name, value in {"space": space, "sampler": sampler}.items():
        if isinstance(value, optuna.Study):
            raise InputError(
                f"{name}: is an Optuna study: {_UNPAID}; give distributions, and a sampler that "
                f"needs no scores, {_listed()}"
            )
    if not isinstance(space, Mapping) or not all(isinstance(name, str) for name in space):
        raise InputError(
            f"space: is a {type(space).__name__}; give a dict of names and distributions, such as "
            '{"learning_rate": FloatDistribution(0.01, 10, log=True)}'
        )
    chosen = _sampler(sampler, seed)
    tuned = {n: v for n, v in space.items() if _is_distribution(v)}
    if not tuned:
        raise InputError("space: has no distribution of Optuna; for lists there is Grid.product")
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)  # a study of no one is no news
    try:
        drawn = _drawn(optuna.create_study(sampler=chosen), chosen, tuned, n)
    finally:
        optuna.logging.set_verbosity(level)
    return tuple({name: one.get(name, value) for name, value in space.items()} for one in drawn)


def _sampler(sampler: Any, seed: int) -> Any:
    from optuna import samplers
    from optuna.exceptions import ExperimentalWarning

    if sampler is None:
        sampler = samplers.QMCSampler
    name = sampler.__name__ if isinstance(sampler, type) else type(sampler).__name__
    if sampler is samplers.QMCSampler:
        with warnings.catch_warnings():  # that Optuna calls it experimental, since version 3
            warnings.simplefilter("ignore", ExperimentalWarning)
            return samplers.QMCSampler(scramble=True, seed=seed)
    if sampler is samplers.RandomSampler:
        return samplers.RandomSampler(seed=seed)
    if type(sampler) in [getattr(samplers, known) for known in _WITHOUT_SCORES]:
        return deepcopy(sampler)  # the caller's stays where it is: the same call draws the same
    if isinstance(sampler, samplers.BaseSampler) or (
        isinstance(sampler, type) and issubclass(sampler, samplers.BaseSampler)
    ):
        if name == "GridSampler":
            raise fail("sampler", name, "needs its lists; give GridSampler({...}, seed=0)")
        raise fail("sampler", name, f"{_UNPAID}; take {_listed()}")
    raise fail("sampler", name, f"is no sampler of Optuna; take {_listed()}")


def _drawn(study: Any, sampler: Any, space: dict[str, Any], n: int) -> list[dict[str, Any]]:
    """Ask the sampler itself, with the whole space from the first setting on: a study knows the
    space only from the trials it has seen. No trial is ever told a value."""
    from optuna.samplers import GridSampler

    found: list[dict[str, Any]] = []
    for _ in range(n):
        study.ask()
        trial = study.get_trials(deepcopy=False)[-1]
        try:
            one = dict(sampler.sample_relative(study, trial, space))
            for name in [name for name in space if name not in one]:
                one[name] = sampler.sample_independent(study, trial, name, space[name])
        except ValueError as error:
            raise InputError(f"space: the sampler refuses it: {one_line(error)}") from None
        if isinstance(sampler, GridSampler) and one in found:
            raise fail("n", n, f"the sampler's lists make {len(found)} settings; give at most that")
        found.append(one)
    return found


def _is_distribution(value: Any) -> bool:
    from optuna.distributions import BaseDistribution

    return isinstance(value, BaseDistribution)


def _listed() -> str:
    return f"{', '.join(_WITHOUT_SCORES[:-1])} or {_WITHOUT_SCORES[-1]}"
