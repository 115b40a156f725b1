"""Build the card of a plan that was carried out: the text of each field."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from datetime import date
from functools import cache
from importlib.metadata import version
from typing import Any

from honestdp.evaluation import Calibration, Evaluation
from honestdp.ledger import fingerprint
from honestdp.planning import defaults
from honestdp.planning.plan import Plan
from honestdp.planning.questions import Questions
from honestdp.privacy import guarantee
from honestdp.release.attack_facts import AttackFacts
from honestdp.release.card import (
    METRIC_IS_MEAN,
    Access,
    Accounting,
    Assumption,
    Card,
    Chosen,
    Guarantee,
    LearntFact,
    MetricFacts,
    Preprocessing,
    ProcedureFacts,
    Role,
)
from honestdp.release.card_facts import card_facts
from honestdp.schema import Schema
from honestdp.text import SIMULATION, small, up
from honestdp.version import __version__

_LIBRARIES = ("dp-accounting", "numba", "numpy", "scipy", "torch")


_ROLES: tuple[Role, ...] = ("training", "validation", "calibration", "test")


def build_card(
    plan: Plan,
    winner: Chosen | None,
    others: tuple[Chosen, ...],
    model_sha256: str,
    simulated: bool,
    learnt: Sequence[Schema] | None = None,
    askings: int = 0,
    evaluation: Evaluation | None = None,
    day: date | None = None,
    calibration: Calibration | None = None,
    decision_threshold: float | None = None,
) -> Card:
    """Build the card, without its entry in the ledger.

    learnt: The schema of each encoding with all that was learnt; by default the card does not say
    what was.
    askings: How often the table was checked.
    evaluation: How good the winner is, on test rows.
    day: The day on which the run began; none for a simulation.
    calibration: How its probabilities were corrected.
    decision_threshold: Where its answer changes; None: at 0.5.
    """
    spec = plan.spec
    dearer: Role = max(_ROLES, key=lambda role: plan.role_epsilons.get(role, 0.0))
    return Card(
        mark=SIMULATION if simulated else "",
        guarantee=_guarantee(plan, simulated),
        setting="central: one curator holds the table and releases what is named below.",
        trusted=_trusted(plan),
        unit=spec.schema.unit,
        contribution="Each row is one such unit; one with several rows is protected less.",
        neighbours=(
            "one record replaced by a null record that counts for nothing; the number of rows is "
            "public. For a record swapped for another, (2 epsilon, (1 + e^epsilon) delta) holds."
        ),
        released=_released(plan, askings),
        covered=_covered(plan, askings),
        accounting=Accounting(
            bound=plan.bound,
            conversion=_conversion(plan),
            larger_side=dearer,
            assumptions=_assumptions(plan, simulated),
        ),
        declared_public={
            "rows": spec.rows,
            "training_rows": plan.training.n,
            "validation_rows": plan.validation_rows,
            **({"test_rows": spec.test_rows} if spec.test_rows else {}),
            **(
                {}
                if spec.decision_threshold is None
                else {"decision_threshold": spec.decision_threshold}
            ),
            **({"calibration_rows": spec.calibration_rows} if spec.calibration_rows else {}),
            "split_seed": spec.split_seed,
            "schema": spec.schema.model_dump(mode="json"),
            "schema_fingerprint": spec.schema.fingerprint,
            "grid": [dict(setting) for setting in plan.grid.settings],
            "procedure": plan.procedure.to_dict(),
            "search": {
                "name": plan.request.name,
                **plan.request.options,
                "delta": defaults.delta(spec),
            },
            "metric": plan.metric.name,
            **({} if plan.metric.is_mean else {METRIC_IS_MEAN: False}),
            "lot_size": list(plan.lot_sizes),
            "sampling_probability": plan.training.sampling_probability,
            "steps": plan.training.steps,
            "noise_multiplier": plan.noise_multiplier,
            "row_norm": {"value": plan.row_norm[0], "how": plan.row_norm[1]},
            **_row_norms(plan),
            **plan.class_weights,
        },
        preprocessing=_preprocessing(plan),
        noise_sampler=(
            "lots, coins and noise from ChaCha12 keyed by 256 bits of the operating system; "
            "noise drawn exactly: sums, scores and counts are whole numbers of public units, and "
            "what is added is a Gaussian draw (for a pick a Gumbel draw) rounded to whole units, "
            "from as many random bits as the rounding needs to be right."
        ),
        not_covered=(
            "how long the run took and what memory it used",
            "flaws of the operating system's random numbers",
            "what the declared facts themselves reveal",
            *(() if spec.chosen_on is None else (spec.chosen_on.not_covered,)),
        ),
        procedure=plan.procedure.name,
        reason=plan.reason,
        model=spec.model_name,
        winner=winner,
        others=others,
        versions=_versions(),
        model_sha256=model_sha256,
        plan_fingerprint=fingerprint(plan.public()),
        ledger=None,
        metric_facts=MetricFacts.of(plan.metric),
        procedure_facts=ProcedureFacts(
            releases_all=plan.procedure.releases_all, selects=plan.procedure.selects
        ),
        learnt=None if learnt is None else _learnt(plan, learnt),
        chosen_on=spec.chosen_on,
        evaluation=evaluation,
        **card_facts(plan, len(others) + (winner is not None), evaluation, day),
        attack=AttackFacts.of(plan.attack, plan.epsilon, plan.delta),
        calibration=calibration,
        decision_threshold=decision_threshold,
    )


@cache
def _versions() -> dict[str, str]:
    found = {name: version(name) for name in _LIBRARIES}
    return {"honestdp": __version__, "python": platform.python_version(), **found}


def _guarantee(plan: Plan, simulated: bool) -> Guarantee:
    epsilon, delta = up(plan.epsilon), small(plan.delta)
    check = "" if plan.check is None else ", and the check of the table"
    counted = "" if plan.calibrator is None else ", the correction of its probabilities"
    counted += "" if plan.evaluator is None else ", the evaluation of the model"
    would = "would be, were its randomness secret," if simulated else "is"
    statement = (
        f"Everything released {would} ({epsilon}, {delta})-differentially private for "
        f"{plan.spec.schema.unit}: whether or not one such record is real, any outcome is at most "
        f"e^{epsilon} times as likely, but for a probability of {delta}. This covers the training "
        f"of every candidate, every validation score{counted} and every bound learnt{check}, "
        "not the winner alone."
    )
    return Guarantee(epsilon=plan.epsilon, delta=plan.delta, statement=statement)


def _trusted(plan: Plan) -> str:
    found = "the machine, this software, and whoever runs it."
    if plan.outside:
        found += (
            f" Not part of this software, and taken at its word: {', '.join(plan.outside)}. What "
            "it says of its own cost or of what one record can change is not checked here."
        )
    return found


def _conversion(plan: Plan) -> str:
    found = plan.procedure.theorem(plan.bound)
    if plan.questions.event is not None:
        found += "; composed with the Gaussian counts that were asked before"
    return found


def _released(plan: Plan, askings: int) -> str:
    learnt = any(question.learns for question in plan.questions)
    found = ", and what was learnt before" if learnt else ""
    if plan.calibrator is not None:
        found += ", and noisy counts of calibration rows, which correct its probabilities"
    found += "" if plan.evaluator is None else ", and noisy counts of test rows, which evaluate it"
    found += ", and by noisy counts whether the table fits its schema" if askings else ""
    return plan.procedure.released(found)


def _covered(plan: Plan, askings: int) -> tuple[Access, ...]:
    job, scoring = plan.training, plan.role_costs.scoring
    subset = plan.share is not None
    found = [
        Access(
            what="training of every candidate" + (", and of the winner again" if subset else ""),
            mechanism=("on a random subset, the last on the rest of all rows: " if subset else "")
            + f"{job.steps} clipped sums of Poisson lots (sampling probability "
            f"{job.sampling_probability:.6g}) with Gaussian noise, in units of the clip norm"
            + ("; the loss weighs classes by public numbers, before the clip" * plan.spec.weighs),
            noise=plan.noise_multiplier,
            epsilon=plan.role_epsilons["training"],
        )
    ]
    if scoring is not None:
        found.append(
            Access(
                what=f"validation {scoring.what}",
                mechanism=f"{plan.scored_by} with {scoring.mechanism}",
                noise=scoring.noise * plan.sensitivity,
                epsilon=plan.role_epsilons["validation"],
            )
        )
    if plan.calibrator is not None:
        found.append(
            Access(
                what="calibration of the released model on calibration rows",
                mechanism=f"counts of rows by {plan.calibrator.counted}, with Gaussian noise",
                noise=plan.calibration_count_noise,
                epsilon=plan.role_epsilons["calibration"],
            )
        )
    if plan.evaluator is not None:
        by = f" and by {plan.spec.groups}" if plan.spec.groups else ""
        levels = ", ".join(level.name for level in plan.evaluator.levels)
        found.append(
            Access(
                what="evaluation of the released model on test rows",
                mechanism=f"counts of rows by {levels}{by}, with Gaussian noise",
                noise=plan.count_noise,
                epsilon=plan.role_epsilons["test"],
            )
        )
    for question in plan.questions:
        found.append(
            Access(
                what=question.subject,
                mechanism=question.mechanism + question.told(askings),
                noise=question.noise_multiplier,
                epsilon=guarantee.epsilon(question.event, plan.delta),
            )
        )
    return tuple(found)


def _assumptions(plan: Plan, simulated: bool) -> tuple[Assumption, ...]:
    def one(statement: str, why: str, holds: bool = True) -> Assumption:
        return Assumption(statement=statement, holds=holds, why=why)

    found = [
        one("lots are Poisson samples", "every row by its own coin, at every step"),
        one("lots and noise are independent between candidates", "a stream of its own for each"),
        one("sums are divided by public numbers", "the expected lot size, never the realised one"),
        one(
            "the noise is exactly Gaussian",
            "whole sums, and a real Gaussian rounded after it is added, drawn without error",
        ),
        one(
            "one record moves a clipped sum by at most the clip norm",
            "sums are whole numbers, and every rounding is paid for by the clip norm",
        ),
    ]
    if plan.procedure.selects:
        found.append(
            one("training and validation rows are disjoint", "a public permutation of row numbers")
        )
    if plan.evaluator is not None:
        why = "the same permutation; a test row changes the evaluation alone"
        found.append(one("test rows neither train nor choose", why))
    if plan.calibrator is not None:
        why = "the same permutation; a calibration row changes the correction alone"
        found.append(one("calibration rows neither train nor choose nor test", why))
    found += [one(*condition) for condition in plan.procedure.conditions]
    if simulated:
        found.append(one("the randomness is secret", "it came from a known seed", holds=False))
    return tuple(found)


def _row_norms(plan: Plan) -> dict[str, Any]:
    """The norm of rows as each setting's model reads them, where settings differ in that."""
    encodings = plan.spec.encodings
    if len(encodings) == 1:
        return {}
    own = [encodings[plan.spec.encoding_of(i)] for i in range(len(plan.grid))]
    return {"row_norm_of_settings": [one.row_norm[0] for one in own]}


def _learnt(plan: Plan, made: Sequence[Schema]) -> tuple[LearntFact, ...]:
    budget, found = (plan.spec.epsilon, plan.delta), list[LearntFact]()
    for question in plan.questions:
        for encoding, schema in zip(plan.spec.encodings, made, strict=True):
            found += [
                LearntFact(
                    about=about,
                    words=words,
                    values=values,
                    noise=question.noise_multiplier,
                    share=float(f"{question.share_of_budget(*budget):.4g}"),
                )
                for about, words, values in question.learnt(encoding.schema, schema)
            ]
    return tuple(one for i, one in enumerate(found) if one not in found[:i])


def _preprocessing(plan: Plan) -> Preprocessing:
    text = "columns encoded by the declared schema, row by row"
    how = "; ".join(plan.encoding_words)
    text += f" ({how})" if how else ""
    learning = Questions(question for question in plan.questions if question.learns)
    before = learning.event
    if before is None:
        return Preprocessing(what=f"{text}; nothing inferred.", epsilon=0.0)
    learnt = " and ".join(question.subject for question in learning)
    return Preprocessing(
        what=f"{text}; {learnt} learnt privately and paid for, nothing else inferred.",
        epsilon=guarantee.epsilon(before, plan.delta),
    )
