"""The candidates of the paper's experiments, by name."""

from __future__ import annotations

from honestdp.candidates import Candidate
from honestdp.errors import fail
from honestdp.planning.grid import Grid

CLIP_NORMS = [0.1, 0.2, 0.5, 1.0]
_BETAS = [0.8, 0.85, 0.9, 0.95, 0.99, 0.999]

GRIDS: dict[str, Grid] = {
    **{name: Grid.of(name) for name in ("dpsgd-40", "dpmomentum-280", "dpadam-4")},
    "adadp-4": Grid.product(rule="adadp", clip_norm=CLIP_NORMS),
    "dpadamwosm-4": Grid.product(rule="dpadamwosm", clip_norm=CLIP_NORMS),
    # Ours: DPAdam with its learning rate tuned too, to tell the rule from its default rate
    "dpadam-24": Grid.product(
        rule="dpadam", learning_rate=[0.001, 0.002, 0.005, 0.01, 0.02, 0.05], clip_norm=CLIP_NORMS
    ),
    # Figure 6, as printed: 0.05 before 0.01, and no 0.1
    "dpadam-180": Grid.product(
        rule="dpadam",
        clip_norm=0.5,
        learning_rate=[0.001, 0.05, 0.01, 0.2, 0.5],
        beta1=_BETAS,
        beta2=_BETAS,
    ),
}

# What honest-frontier compares. "balanced" has one kappa and clip norm on all four data sets, while
# the library's grid of this name follows the table.
FRONTIER_GRIDS: dict[str, Grid] = {
    **{name: GRIDS[name] for name in ("dpsgd-40", "dpmomentum-280", "dpadam-4")},
    "balanced": Grid.product(rule="balanced", kappa=3.0, average=True),
    "dpadamwosm": Grid.of("dpadamwosm"),
}


def candidates(grid: str, noise_multiplier: float) -> list[Candidate]:
    if grid not in GRIDS:
        raise fail("grid", grid, f"must be one of {', '.join(GRIDS)}")
    return GRIDS[grid].candidates(noise_multiplier, None)
