"""What may leave a search: the winner, what it was chosen among, what it cost. Nothing else.

Under best-of-K procedures a release has the same fields, of the same sizes, however many
candidates ran. A simulation says so wherever it is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor

from honestdp.engine.examples import examples
from honestdp.engine.models import Model, named
from honestdp.engine.score import predict, probabilities
from honestdp.errors import InputError
from honestdp.ledger import Receipt
from honestdp.planning.grid import Setting
from honestdp.planning.plan import Plan
from honestdp.schema import Schema
from honestdp.select import Outcome
from honestdp.text import up

SIMULATION = "SIMULATION, NOT PRIVATE"


@dataclass(frozen=True, eq=False)
class Fitted:
    """A trained candidate: its setting, its parameters, its noisy score (per validation row: the
    share predicted correctly, or the mean clipped loss; None where no score may leave)."""

    setting: Setting
    score: float | None
    model: Model = field(repr=False)
    parameters: Tensor = field(repr=False)

    @property
    def tensors(self) -> dict[str, Tensor]:
        """The parameters by name."""
        return named(self.model, self.parameters)


@dataclass(frozen=True, eq=False)
class Release:
    """What left. `winner` is None where the procedure may end with nothing, and did.

    candidates: all of them, the winner first, where the procedure shows all. schema: the plan's
    with learnt bounds. head: the ledger's after this release; None in a simulation.
    """

    plan: Plan
    schema: Schema
    winner: Fitted | None
    candidates: tuple[Fitted, ...]
    receipt: Receipt | None
    head: str | None

    @property
    def simulated(self) -> bool:
        return self.receipt is None

    @property
    def epsilon(self) -> float:
        return self.plan.epsilon

    @property
    def delta(self) -> float:
        return self.plan.delta

    def predict(self, table: Any) -> NDArray[Any]:
        """The winner's answers for raw rows, in the table's own terms."""
        winner = self._winner()
        found = predict(winner.model, winner.parameters.unsqueeze(0), self._rows(table))
        return self.schema.decode_targets(found[0].numpy())

    def predict_proba(self, table: Any) -> NDArray[Any]:
        """The winner's class probabilities for raw rows, [row, class]."""
        winner = self._winner()
        rows = self._rows(table)
        return probabilities(winner.model, winner.parameters.unsqueeze(0), rows)[0].numpy()

    def _winner(self) -> Fitted:
        if self.winner is None:
            raise InputError("release: holds no model, the search ended with nothing; run anew")
        return self.winner

    def _rows(self, table: Any) -> Any:
        inputs = self.schema.encode_inputs(table, sparse=None if self.plan.reads_sparse else False)
        target = torch.zeros(inputs.shape[0], dtype=torch.long if self.plan.spec.classes else None)
        return examples(inputs, target)

    def __repr__(self) -> str:
        mark = f"{SIMULATION}; " if self.simulated else ""
        found = "nothing" if self.winner is None else _shown(self.winner)
        return (
            f"Release({mark}epsilon={up(self.epsilon)}, delta={self.delta:.3g}, "
            f"procedure={self.plan.procedure.name!r}, winner: {found})"
        )


def release_of(
    plan: Plan,
    schema: Schema,
    models: Sequence[Model],
    kept: list[Outcome],
    receipt: Receipt | None,
    head: str | None,
) -> Release:
    """What may leave of what was kept; `models` by setting."""
    fitted = [
        Fitted(
            dict(plan.grid.settings[o.draw.setting]),
            _score(plan, o),
            models[o.draw.setting],
            o.parameters.clone(),  # memory of its own: a view could hold the losers too
        )
        for o in kept
    ]
    everyone = tuple(fitted) if plan.shows_all else ()
    return Release(plan, schema, fitted[0] if fitted else None, everyone, receipt, head)


def _score(plan: Plan, outcome: Outcome) -> float | None:
    if not plan.shows_scores:
        return None
    rows = plan.validation_rows * (plan.share or 1.0)  # expected: their number is a secret there
    return outcome.score / rows if plan.spec.classes else -outcome.score / rows


def _shown(fitted: Fitted) -> str:
    what = "score" if fitted.model.loss.classes else "mean loss"
    score = "" if fitted.score is None else f", noisy {what} {fitted.score:.4f}"
    return ", ".join(f"{name}={value}" for name, value in fitted.setting.items()) + score
