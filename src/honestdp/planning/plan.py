"""`Plan`: all that a search will do and cost, fixed before the data is opened; all of it public."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from honestdp.errors import InputError
from honestdp.planning.defaults import LOSS_BOUND
from honestdp.planning.grid import Grid
from honestdp.planning.procedures import ComposeAll, Procedure, SubsetTuning, Training, Untuned
from honestdp.planning.sides import Scoring, Sides
from honestdp.planning.spec import Spec
from honestdp.privacy.spending import Spending
from honestdp.version import __version__


@dataclass(frozen=True)
class Learning:
    """How bounds are learnt: one noisy histogram of all rows for each column."""

    columns: tuple[str, ...]
    noise_multiplier: float


@dataclass(frozen=True, eq=False)
class Plan:
    """What `run` carries out; made by `make_plan`.

    training: size of the training part, lot and steps of every run. noise_multiplier: of every
    run. sides: what that costs a training and a validation record. spending: what the ledger
    is charged, learnt bounds included. reason: why this procedure.
    """

    spec: Spec
    grid: Grid
    procedure: Procedure
    training: Training
    noise_multiplier: float
    sides: Sides
    side_epsilons: dict[str, float]
    learning: Learning | None
    row_norm: tuple[float, str]
    spending: Spending
    reason: str

    def __post_init__(self) -> None:
        """What will be done is what was priced."""
        scoring = self.sides.scoring
        priced = (
            self.sides.training == self.training.event(self.noise_multiplier)
            and self.sides.procedure == self.procedure
            and self.procedure.candidates == len(self.grid)
            and (scoring is None or scoring == Scoring.of(scoring.kind, scoring.noise))
        )
        if not priced:
            raise InputError("plan: differs from what it was priced for; make it with make_plan")

    @property
    def epsilon(self) -> float:
        return self.spending.epsilon

    @property
    def delta(self) -> float:
        return self.spending.delta

    @property
    def validation_rows(self) -> int:
        return 0 if isinstance(self.procedure, Untuned) else self.spec.rows - self.training.n

    @property
    def shows_all(self) -> bool:
        """Whether every candidate may leave, not the winner alone."""
        return isinstance(self.procedure, (Untuned, ComposeAll))

    @property
    def sensitivity(self) -> float:
        """The most one validation record moves a score."""
        return 1.0 if self.spec.classes else LOSS_BOUND

    @property
    def share(self) -> float | None:
        """Of the rows, for the tuning subset, where there is one."""
        return self.procedure.share if isinstance(self.procedure, SubsetTuning) else None

    @property
    def _scored(self) -> str:
        if self.share is None:
            return str(self.validation_rows)
        return f"about {self.share * self.validation_rows:.0f}"

    def public(self) -> dict[str, Any]:
        """The plan as texts, numbers, lists and dicts: what the ledger keeps."""
        spec, scoring = self.spec, self.sides.scoring
        return {
            "honestdp": __version__,
            "schema": spec.schema.fingerprint,
            "rows": spec.rows,
            "training_rows": self.training.n,
            "validation_rows": self.validation_rows,
            "split_seed": spec.split_seed,
            "model": spec.model_name,
            "grid": [dict(setting) for setting in self.grid.settings],
            "procedure": repr(self.procedure),
            "threshold": spec.threshold,
            "reason": self.reason,
            "bound": self.sides.bound,
            "lot_size": self.training.lot_size,
            "steps": self.training.steps,
            "noise_multiplier": self.noise_multiplier,
            "row_norm": list(self.row_norm),
            "scores": scoring and {"kind": scoring.kind, "noise": scoring.noise},
            "sides": self.side_epsilons,
            "learnt_bounds": self.learning
            and {
                "columns": list(self.learning.columns),
                "noise_multiplier": self.learning.noise_multiplier,
            },
            "epsilon": self.epsilon,
            "delta": self.delta,
        }

    def __str__(self) -> str:
        n, scoring = self.training.n, self.sides.scoring
        lines = [
            f"{self.procedure.name}: epsilon {self.epsilon:.4g} at delta {self.delta:.3g}, "
            f"accounted by {self.sides.bound}",
            f"  why: {self.reason}",
            f"  model: {self.spec.model_name}, {_settings(len(self.grid))}",
            f"  training: {n} rows, lots of {self.training.lot_size}, {self.training.steps} steps, "
            f"noise multiplier {self.noise_multiplier:g}",
        ]
        if scoring is not None:
            shown = "counts of correct predictions" if self.spec.classes else "clipped losses"
            what = "noise of standard deviation" if scoring.kind == "scores" else "Gumbel noise of"
            lines.append(
                f"  scores: {shown} on {self._scored} other rows, with {what} "
                f"{scoring.noise * self.sensitivity:.4g}"
            )
        if self.learning is not None:
            lines.append(f"  bounds learnt: {', '.join(self.learning.columns)}")
        what = (
            "every candidate, with its noisy score"
            if self.shows_all and scoring is not None and scoring.kind == "scores"
            else "every candidate, no score"
            if self.shows_all and scoring is not None
            else "the model"
            if self.shows_all
            else "the winner alone; how many ran, and the others, never"
        )
        return "\n".join([*lines, f"  what leaves: {what}"])


def _settings(count: int) -> str:
    return "one setting" if count == 1 else f"{count} settings"
