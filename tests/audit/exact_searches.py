"""Tiny searches, one for each procedure, of whose releases the exact law is known.

Logistic regression by two steps of dpsgd, every row in a lot with probability 1/2. All inputs are
0, so the eight weights are noise alone, and a record moves the bias by its class alone. Gradients
at the bias are about 1/2, clipped at 1/4 or 1/8, so every record of a lot moves it by the clip
norm, up or down: in units of that the bias is a whole number plus noise. Validation rows are of
class 1 or null, so all of the former are right where the bias is above 0, and none elsewhere.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from betting import Floats
from release_laws import NOTHING, Bias, Run, in_lots

from honestdp.planning.grid import Grid
from honestdp.planning.make import make_plan
from honestdp.planning.plan import Plan
from honestdp.planning.spec import Spec
from honestdp.release.released import Release
from honestdp.runner.private_data import split
from honestdp.runner.run import run
from honestdp.schema import Numeric, Schema, Target

EPSILON, DELTA = 1.0, 0.005
WEIGHTS, STEPS, SAMPLED = 8, 2, 0.5
_NAMES = [f"x{i}" for i in range(WEIGHTS)]
_SCHEMA = Schema(
    name="audit",
    target=Target(column="y", classes=("0", "1")),
    row_scale=1.0,  # rows as they are, numbers as numbers: the laws are worked out for these
    columns=tuple(Numeric(name=name, bounds=(0.0, 1.0), encode="linear") for name in _NAMES),
)
_NO, _YES, _NULL = 0.0, 1.0, 2.0  # the classes, and one that is not declared


@dataclass(frozen=True)
class Shown:
    """What one release shows, a row a candidate: of the winner, or of all by setting.

    weights: as multiples of the claimed noise. bias: in units of one record. scores: a label (is
    the bias above 0?) and the noisy count; one row, with the label NOTHING, where nothing came out.
    order: the settings' numbers as they were shown.
    """

    weights: Floats
    bias: Floats
    scores: Floats
    order: list[int]


@dataclass(frozen=True)
class Case:
    """A search: its procedure and options, and how many settings it has.

    up, down, idle: training rows of class 1, of class 0, and null. right, null: validation rows of
    class 1, and null.
    """

    procedure: str
    settings: int
    up: int
    down: int
    right: int = 0
    null: int = 0
    idle: int = 0
    options: dict[str, Any] = field(default_factory=dict, hash=False)

    @cached_property
    def plan(self) -> Plan:
        training, validation = self.up + self.down + self.idle, self.right + self.null
        rows = training + validation
        clips = itertools.cycle([0.25, 0.125])
        grid = [
            {"rule": "dpsgd", "learning_rate": 0.05 * (1 + i), "clip_norm": next(clips)}
            for i in range(self.settings)
        ]
        share = {} if self.procedure == "untuned" else {"validation": validation / rows}
        return make_plan(
            Spec(
                schema=_SCHEMA, rows=rows, epsilon=EPSILON, delta=DELTA, grid=Grid.of(grid),
                steps=STEPS, lot_size=round(SAMPLED * training), procedure=self.procedure,
                **share, **self.options,
            )
        )  # fmt: skip

    @cached_property
    def table(self) -> dict[str, Floats]:
        training, validation, *_ = split(self.plan)
        y = np.full(self.plan.spec.rows, _NULL)
        y[training[: self.up]] = _YES
        y[training[self.up : self.up + self.down]] = _NO
        y[validation[: self.right]] = _YES
        return {**{name: np.zeros(len(y)) for name in _NAMES}, "y": y}

    @property
    def noise(self) -> float:
        """Claimed, of a run's weights and bias: its standard deviation in units of one record."""
        return self.plan.noise_multiplier * math.sqrt(STEPS)

    @property
    def score_noise(self) -> float:
        """Claimed: in units of one row, which is what a record moves a count by."""
        assert self.plan.role_costs.scoring is not None
        return self.plan.role_costs.scoring.noise

    @property
    def goal(self) -> float:
        assert self.plan.spec.threshold is not None
        return self.plan.spec.threshold * self.plan.validation_rows

    def bias(self, times: Floats | None = None, noise: float = 1.0) -> Bias:
        """The claimed law of a run's bias, or with other lots, or with so much of the noise."""
        times = in_lots(SAMPLED, STEPS) if times is None else times
        return Bias.of(self.up, self.down, times, noise * self.noise)

    def run(self, score_noise: float = 1.0, training_noise: float = 1.0) -> Run:
        """The claimed law of a run's score, or with so much of the noises."""
        above = self.bias(noise=training_noise).above
        return Run(above, self.right, score_noise * self.score_noise)

    def search(self, seed: int, plan: Plan | None = None) -> Shown:
        """One search through `run`; `plan`: what is carried out, if not what is claimed."""
        return self.read(run(plan or self.plan, self.table, seed=seed, workers=1))

    def read(self, release: Release) -> Shown:
        shown = list(release.candidates or filter(None, [release.winner]))
        settings = [dict(setting) for setting in self.plan.grid.settings]
        order = [settings.index(dict(one.setting)) for one in shown]
        by_setting = [shown[i] for i in np.argsort(order)]
        weights = [self._in_records(one, "weight") / self.noise for one in by_setting]
        bias = [self._in_records(one, "bias").item() for one in by_setting]
        scores = [
            (float(up > 0), self._counted(one.noisy_score))
            for up, one in zip(bias, by_setting, strict=True)
        ]
        return Shown(
            np.array(weights).reshape(-1, WEIGHTS),
            np.array(bias),
            np.array(scores or [(NOTHING, 0.0)]),
            order,
        )

    def _in_records(self, one: Any, name: str) -> Floats:
        """A parameter in units of one clipped record."""
        scale = one.setting["learning_rate"] * one.setting["clip_norm"] / self.plan.lot_sizes[0]
        return one.tensors[name].double().numpy().ravel() / scale

    def _counted(self, score: float | None) -> float:
        if score is None:
            return math.nan
        return score * self.plan.validation_rows * (self.plan.share or 1.0)
