"""The low bits of what one step releases: they tell two neighbours apart no better than claimed.

Floating-point noise has gaps, so which numbers `sum + noise` can be depends on the sum (Mironov
2012). One record against a null one, one step from 0 at learning rate 1 with every row in the lot:
a parameter is the noisy sum with its sign changed, and every candidate of one training is a draw.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from honestdp.audit import LowerBound, epsilon_lower_bound
from honestdp.candidates import Candidate
from honestdp.engine import Linear, Randomness, Schedule, cohort_training, examples, noise, train
from honestdp.engine.clipping import ClippedSum
from honestdp.planning.grid import Grid
from honestdp.planning.make import make_plan
from honestdp.planning.spec import Spec
from honestdp.schema import Numeric, Schema, Target

EPSILON, DELTA, CONFIDENCE = 1.5, 0.05, 0.999
SCHEMA = Schema(
    name="audit",
    target=Target(column="y", classes=("0", "1")),
    columns=(Numeric(name="x", bounds=(0.0, 1.0)),),
)
CLIP = 0.5
WITH, WITHOUT = 1, -1  # the record's class, and one that is not declared
DRAWS = 4000


def multiplier() -> float:
    """Of the noise that a plan of one such step asks for."""
    grid = Grid.product(rule="dpsgd", learning_rate=[1.0], clip_norm=CLIP)
    return make_plan(
        Spec(
            schema=SCHEMA, rows=1, epsilon=EPSILON, delta=DELTA,
            procedure="untuned", lot_size=1, steps=1, grid=grid,
        )
    ).noise_multiplier  # fmt: skip


def noisy_sums(label: int, sigma: float, draws: int = DRAWS) -> np.ndarray[Any, Any]:
    """The bias's noisy sums, one a candidate; those of the two labels share no noise."""
    one = Candidate(noise_multiplier=sigma, rule="dpsgd", learning_rate=1.0, clip_norm=CLIP)
    rows = examples(torch.zeros(1, 1), torch.tensor([label]))
    trained = train(
        Linear(1, 2), rows, [one] * draws, Schedule(steps=1, lot_size=1),
        Randomness.simulation(label + 1), initial=torch.zeros(draws, 2), workers=1,
    )  # fmt: skip
    return -trained.stacked[:, -1].numpy()


def clipped_sum() -> np.float32:
    """The record's own, as any attacker can have it: trained on without noise."""
    return noisy_sums(WITH, 0.0, 1)[0]


def can_be(values: np.ndarray[Any, Any], total: np.float32, scale: np.float32) -> Any:
    """Whether some float32 z makes `total + scale * z`, rounded to float32, this value."""
    start = ((values.astype(np.float64) - total) / scale).astype(np.float32)
    found = np.zeros(len(values), bool)
    for side in (-np.inf, np.inf):
        z = start.copy()
        for _ in range(5):
            made = np.float64(total) + np.float64(scale) * z.astype(np.float64)
            found |= made.astype(np.float32) == values
            z = np.nextafter(z, np.float32(side))
    return found


def gaps(values: np.ndarray[Any, Any], scale: np.float32) -> Any:
    """1: the value can be made with the record alone; -1: without it alone."""
    with_record, without = (can_be(values, t, scale) for t in (clipped_sum(), np.float32(0)))
    return with_record.astype(float) - without


def residue(values: np.ndarray[Any, Any], scale: np.float32) -> Any:
    """What is left of the value below a thirty-second of the noise."""
    return np.mod(values.astype(np.float64), 2.0 ** np.floor(np.log2(scale / 32)))


def audited(attack: Callable[..., Any]) -> LowerBound:
    """What the attack shows; printed, for who wants the figures."""
    sigma = multiplier()
    scale = np.float32(sigma) * np.float32(CLIP)
    first, second = (attack(noisy_sums(label, sigma), scale) for label in (WITH, WITHOUT))
    bound = epsilon_lower_bound(first, second, DELTA, CONFIDENCE)
    print(f"{attack.__name__}: epsilon is above {bound.epsilon:.3f}, claimed {EPSILON}")
    return bound


def in_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs where there is no kernel."""
    monkeypatch.setattr(cohort_training._Group, "_compiled", cohort_training._Group._in_torch)
    monkeypatch.setattr(noise.NoiseMaker, "noisy_mean", noise.NoiseMaker._in_torch)


@pytest.mark.parametrize("attack", [gaps, residue])
def test_low_bits_tell_no_more_than_is_claimed(attack: Callable[..., Any]) -> None:
    assert audited(attack).epsilon <= EPSILON


def test_nor_do_they_in_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    in_torch(monkeypatch)
    assert audited(gaps).epsilon <= EPSILON


def test_with_noise_in_floating_point_they_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """What others do: a float32 normal times the scale, added to the sum."""
    source = torch.Generator().manual_seed(0)

    def in_floats(made: noise.NoiseMaker, total: ClippedSum, step: int, rows: slice) -> Tensor:
        z = torch.randn(total.units[rows].shape, generator=source)
        multipliers = torch.from_numpy(made.multipliers[rows])
        scales = (multipliers * total.sensitivity[rows]).float().unsqueeze(1)
        return ((total.values[rows] + scales.double() * z) / made.expected_lot).float()

    in_torch(monkeypatch)
    monkeypatch.setattr(noise.NoiseMaker, "noisy_mean", in_floats)
    assert audited(gaps).epsilon > EPSILON
