"""What an attacker can do, against the figures of tools/golden_attacks.py.

It computes them without honestdp; attacks.json also has riskcal's figures for the training.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from honestdp.privacy import guarantee
from honestdp.privacy.attack import AttackBounds, attack_bounds
from honestdp.privacy.composed import composed
from honestdp.privacy.events import Gaussian, Selection, training
from honestdp.privacy.guess import guess_chance
from honestdp.privacy.points import MixedProfile
from honestdp.privacy.profile import Profile
from honestdp.privacy.runs import TruncatedNegativeBinomial

HERE = Path(__file__).parent
TOOL = HERE.parents[1] / "tools" / "golden_attacks.py"
GOLDEN = json.loads((HERE / "attacks.json").read_text())["figures"]
RUN, QUIET = training(250 / 36177, 1.654, 2500), training(250 / 36177, 4.0, 2500)


def near(figure: float, above: float = 1e-3) -> object:
    """From the figure's own rounding below it to so much above: figures err on the private side."""
    return pytest.approx(figure * (1 + (above - 6e-5) / 2), rel=(above + 6e-5) / 2)


def check(found: AttackBounds, known: dict[str, object], above: float = 1e-3) -> None:
    assert found.success == near(known["success"], above)
    assert found.swapped == near(known["swapped"], above)
    assert [rate for _, rate in found.rates] == [near(rate, 5 * above) for rate in known["rates"]]


def test_the_gaussian_of_the_notes() -> None:
    known = GOLDEN["gaussian at (1, 1e-6)"]
    found = attack_bounds(guarantee.profile(Gaussian(1 / known["mu"])), aside=1e-6)
    check(found, known)
    assert found.mu == near(known["mu"])
    assert f"{100 * found.success:.1f}" == "54.7"
    worst = attack_bounds(MixedProfile.of_pair(1.0, 1e-6), aside=1e-6)
    assert worst.success == near(GOLDEN["worst case at (1, 1e-6)"], 1e-5)
    assert worst.success == pytest.approx(guess_chance(1.0, 1e-6), rel=1e-9)


def test_a_training_and_riskcal_agrees() -> None:
    found = attack_bounds(guarantee.profile(RUN), aside=1e-6)
    check(found, GOLDEN["training"])
    check(
        AttackBounds(found.success, GOLDEN["training"]["swapped"], found.rates, None, 0, ()),
        GOLDEN["riskcal"] | {"swapped": GOLDEN["training"]["swapped"]},
        above=2e-3,
    )


@pytest.mark.parametrize("shape", [0, 1])
def test_a_search(shape: int) -> None:
    law = TruncatedNegativeBinomial.from_mean(shape, 40)
    found = attack_bounds(guarantee.profile(Selection(QUIET, law)), aside=1e-6)
    check(found, GOLDEN["search"][str(shape)], above=2e-3)


@pytest.mark.parametrize(
    ("events", "figures"),
    [
        ((Gaussian(8.0), Gaussian(5.0)), "gaussians of noise 8 and 5"),
        ((RUN, QUIET), "two trainings"),
    ],
)
def test_two_of_which_only_profiles_are_known(events, figures: str) -> None:
    profiles: list[Profile] = [guarantee.profile(event) for event in events]
    found = attack_bounds(composed(profiles), aside=1e-6)
    check(found, GOLDEN[figures])
    assert "mu" not in GOLDEN[figures] or found.mu == near(GOLDEN[figures]["mu"])


@pytest.mark.slow
def test_the_tool_still_finds_them() -> None:
    done = subprocess.run([sys.executable, str(TOOL), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
