"""What honest-frontier compares: its lines, their plans, and the pools their trainings are in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from honestdp.errors import InputError
from honestdp.procedures import Procedure, Request
from honestdp_reproduction.experiment import LOT_SIZE
from honestdp_reproduction.grids import FRONTIER_GRIDS
from honestdp_reproduction.pools import Pool

if TYPE_CHECKING:
    from honestdp.planning.plan import Plan
    from honestdp.schema import Schema

EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
STEPS = 2500
_PAPER = {"lot_size": LOT_SIZE, "steps": STEPS}
_STOPPING = {"procedure": "random-stopping", **_PAPER}


@dataclass(frozen=True)
class FrontierLine:
    """One line. options: the fields of `Spec` besides the grid, at every epsilon of `at`.
    free: every setting gets the whole budget and the test rows choose, which is not honest."""

    name: str
    grid: str
    options: Mapping[str, Any] = field(default_factory=dict)
    at: tuple[float, ...] = EPSILONS
    free: bool = False

    @property
    def untuned(self) -> bool:
        return len(FRONTIER_GRIDS[self.grid]) == 1

    def plan(self, schema: Schema, rows: int, epsilon: float) -> Plan:
        from honestdp.planning.make import make_plan
        from honestdp.planning.spec import Spec

        whole = FRONTIER_GRIDS[self.grid]
        grid: Any = whole.settings[:1] if self.free else whole
        if self == DEFAULT:
            grid = None  # the library's own choice of one
        else:
            schema = as_in_the_paper(schema)
        return make_plan(Spec(schema=schema, rows=rows, epsilon=epsilon, grid=grid, **self.options))

    @property
    def procedure(self) -> Procedure:
        """How it selects, its law of K included: that of its plans."""
        known = ("procedure", "hit_probability", "mean_runs", "shape")
        options = {key: value for key, value in self.options.items() if key in known}
        name = options.pop("procedure", "untuned")
        return Request(name, options).among(1 if self.free else len(FRONTIER_GRIDS[self.grid]))


# Liu-Talwar and the profile bound are two theorems on one algorithm, the paper's random stopping:
# the same law of K (geometric, mean as many as there are settings) and so the same hit probability,
# a half. Composition always tries the best: beside it stand searches that do nine times in ten.
BALANCED = FrontierLine("untuned, balanced", "balanced", {"procedure": "untuned", **_PAPER})
DEFAULT = FrontierLine("untuned, the library's default plan", "balanced")
PROFILE = FrontierLine("profile bound, DPSGD 40", "dpsgd-40", {"bound": "profile", **_STOPPING})
_SUBSET = {"procedure": "subset-tuning", "shape": 1.0, **_PAPER}
_OFTEN = {"hit_probability": 0.9}
FREE = FrontierLine(
    "DPSGD 40, tuned for free", "dpsgd-40", {"procedure": "untuned", **_PAPER}, free=True
)
LINES = (
    BALANCED,
    DEFAULT,
    FrontierLine("untuned, DPAdamWOSM", "dpadamwosm", {"procedure": "untuned", **_PAPER}),
    FrontierLine("composition, DPAdam 4", "dpadam-4", {"procedure": "composition", **_PAPER}),
    FrontierLine("Liu-Talwar, DPSGD 40", "dpsgd-40", {"bound": "liu-talwar", **_STOPPING}),
    PROFILE,
    FrontierLine("profile bound, DPSGD 40, hit 0.9", "dpsgd-40", {**PROFILE.options, **_OFTEN}),
    FrontierLine("subset tuning, DPSGD 40", "dpsgd-40", _SUBSET),
    FrontierLine("subset tuning, DPSGD 40, hit 0.9", "dpsgd-40", {**_SUBSET, **_OFTEN}),
    FrontierLine(
        "profile bound, DPMomentum 280", "dpmomentum-280", {"bound": "profile", **_STOPPING}, (1.0,)
    ),
    FREE,
)


def as_in_the_paper(schema: Schema) -> Schema:
    """The schema with numbers as they are and a weight for every category: nothing is learnt."""
    columns = [column.encoded_as("linear") for column in schema.columns]
    kept = [
        column.model_copy(update={"rare": "keep"})
        if "rare" in type(column).model_fields
        else column
        for column in columns
    ]
    return schema.model_copy(update={"columns": tuple(kept)})


def planned(line: FrontierLine, plan: Plan) -> dict[str, Any]:
    """The public facts of a plan that a point of the line needs."""
    return {
        "line": line.name,
        "epsilon": plan.spec.epsilon,
        "not_planned": None,
        "guarantee": plan.epsilon,
        "delta": plan.delta,
        "bound": plan.bound,
        "procedure": plan.procedure.to_dict(),
        "expected_runs": plan.procedure.expected_runs,
        "hit_probability": plan.procedure.hit_probability,
        "noise_multiplier": plan.noise_multiplier,
        "score_noise": plan.score_noise,
        "training_rows": plan.training.n,
        "validation_rows": plan.validation_rows,
        "lot_sizes": list(plan.lot_sizes),
        "steps": plan.training.steps,
        "row_norm": list(plan.row_norm),
    }


def not_planned(line: FrontierLine, epsilon: float, error: InputError) -> dict[str, Any]:
    return {"line": line.name, "epsilon": epsilon, "not_planned": str(error)}


def pools_of(line: FrontierLine, dataset: str, facts: Mapping[str, Any]) -> list[Pool]:
    """What its runs are taken from; for subset tuning also what its last training is."""
    tuned_on_subset = line.procedure.tuning_share is not None
    parts = ["subset", "rest"] if tuned_on_subset else ["training"]
    if not facts["validation_rows"]:
        parts = ["all"]
    norm = facts["row_norm"][0] if line.grid == "balanced" else None
    return [
        Pool(dataset, line.grid, part, facts["noise_multiplier"], lot_size, facts["steps"], norm)
        for part, lot_size in zip(parts, facts["lot_sizes"], strict=True)
    ]
