"""Cards with evaluations of made-up counts: quick to make."""

from __future__ import annotations

from typing import Any

import numpy as np
from planned_cards import planned
from releases import NUMBERS, SCHEMA

from honestdp import Card
from honestdp.evaluation import Evaluation, evaluator
from honestdp.evaluation.binary import BINS
from honestdp.evaluation.numbers import ERRORS, PREDICTED
from honestdp.release.card import Chosen
from honestdp.schema import Schema, Target

WINNER = Chosen(setting={"learning_rate": 1.0}, noisy_score=None)
DIGITS = SCHEMA.model_copy(
    update={"target": Target(column="y", classes=tuple(f"digit {k}" for k in range(10)))}
)


def _binary(rows: float) -> dict[str, np.ndarray]:
    place = np.linspace(-3, 3, BINS)
    spread = np.stack([np.exp(-((place + 1) ** 2)), np.exp(-((place - 1) ** 2))])
    fine = np.round(rows * spread / spread.sum())
    half = BINS // 2
    coarse = np.stack([fine[:, :half].sum(1), fine[:, half:].sum(1)], axis=1)
    return {"class by answer": coarse, "class by score": fine}


def _digits(rows: float) -> dict[str, np.ndarray]:
    pairs = rows / 10 * (0.9 * np.eye(10) + 0.01 * np.ones((10, 10)))
    right = np.diag(pairs)
    by_class = np.stack([pairs.sum(1) - right, right], axis=1)
    own = np.zeros(BINS)
    own[-1] = rows
    return {"right": by_class.sum(0), "right by class": by_class, "probability of the class": own,
            "class by answer": pairs}  # fmt: skip


def _numbers(rows: float) -> dict[str, np.ndarray]:
    _, values, _ = evaluator(None, (0.0, 10.0)).levels
    edges = np.array([0.0, *ERRORS, np.inf])
    errors = rows * (np.exp(-edges[:-1] / 0.2) - np.exp(-edges[1:] / 0.2))
    near = np.exp(-(np.subtract.outer(np.arange(PREDICTED), np.arange(PREDICTED)) ** 2.0))
    return {"error": errors, "value": np.full(values.shape, rows / values.size),
            "predicted by value": rows * near / near.sum()}  # fmt: skip


def evaluation(
    kind: str, rows: int = 4000, noise: float = 5.0, groups: tuple[str, ...] = ()
) -> Evaluation:
    """The evaluation of a toy target of this kind: "binary", "digits" or "numbers"."""
    schema, counts = KINDS[kind]
    goal = schema.target
    of = evaluator(goal.classes and len(goal.classes), goal.bounds)
    made = {name: found + 0.0 for name, found in counts(rows).items()}
    first = made[of.grouped.name]
    by = [(name, first * share) for name, share in zip(groups, (0.7, 0.3, 0.0), strict=False)]
    return of.evaluation(rows, noise, made, "c" if groups else "", by, "patients")


KINDS: dict[str, tuple[Schema, Any]] = {
    "binary": (SCHEMA, _binary), "digits": (DIGITS, _digits), "numbers": (NUMBERS, _numbers),
}  # fmt: skip


def evaluated(kind: str, **facts: Any) -> Card:
    """A card with that evaluation."""
    schema, _ = KINDS[kind]
    card, _ = planned(schema=schema)
    return card.model_copy(update={"winner": WINNER, "evaluation": evaluation(kind, **facts)})
