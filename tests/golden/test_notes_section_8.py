"""The table of section 8 of the project's notes on the paper: searches over one run, mu = 0.1.

subset.json is made by tools/golden_subset.py, which computes it without honestdp.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from honestdp.privacy import guarantee, selection
from honestdp.privacy.events import Gaussian
from honestdp.privacy.random_subset import random_subset
from honestdp.privacy.runs import TruncatedNegativeBinomial
from honestdp.privacy.subset_law import repeats_law, subset_law

HERE = Path(__file__).parent
TOOL = HERE.parents[1] / "tools" / "golden_subset.py"
GOLDEN = json.loads((HERE / "subset.json").read_text())["figures"]
PRINTED = {  # in the notes
    (2, 0.9): 1.25, (3, 0.9): 1.41, (4, 0.9): 1.54, (4, 0.97): 1.71, (6, 0.97): 1.94,
    (8, 0.9): 1.82, (10, 0.75): 1.66, (10, 0.9): 1.91, (20, 0.75): 1.86, (20, 0.9): 2.17,
    (40, 0.5): 1.73, (40, 0.9): 2.41,
}  # fmt: skip
DELTA = 1e-6
RUN = guarantee.profile(Gaussian(10.0))
ONE = RUN.epsilon(DELTA)


def golden(name: str, k: int, hit: float) -> float:
    return float(GOLDEN[name][f"{k} candidates, hit {hit:g}"])


@pytest.mark.parametrize(("k", "hit"), PRINTED)
def test_random_subset(k: int, hit: float) -> None:
    """Certified, so never below; above 20 candidates the certificate is coarser."""
    law = subset_law(k, hit)
    found = random_subset(RUN, law, k).epsilon(DELTA) / ONE
    known = golden("subset", k, hit)
    assert known == pytest.approx(PRINTED[k, hit], rel=0.01)
    assert law.mean / k == pytest.approx(hit, abs=1e-5)
    assert known * (1 - 5e-4) <= found <= known * (1.01 if k <= 20 else 1.06)


@pytest.mark.parametrize(("k", "hit"), PRINTED)
def test_it_is_compared_with_the_geometric_law(k: int, hit: float) -> None:
    law = TruncatedNegativeBinomial.from_hit_probability(1.0, k, hit)
    found = selection.profile_bound(RUN, law).epsilon(DELTA) / ONE
    assert found == pytest.approx(golden("geometric", k, hit), rel=5e-3)


@pytest.mark.parametrize(("k", "hit"), [(4, 0.9), (10, 0.9), (40, 0.9)])
def test_the_best_law_with_replacement(k: int, hit: float) -> None:
    law = repeats_law(k, hit)
    found = selection.profile_bound(RUN, law).epsilon(DELTA) / ONE
    assert found == pytest.approx(golden("optimal repeats", k, hit), rel=0.01)
    assert law.hit_probability(k) == pytest.approx(hit, abs=1e-5)
    assert law.hit_probability(k) >= hit
    assert law.maximum <= 50 * k
    assert found < 0.97 * golden("geometric", k, hit)


@pytest.mark.slow
def test_the_tool_still_finds_them() -> None:
    done = subprocess.run([sys.executable, str(TOOL), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
