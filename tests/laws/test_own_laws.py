"""Laws of K of one's own: no theorem on a built-in law may be applied to them."""

from __future__ import annotations

import math
from collections.abc import Iterator

import exact
import numpy as np
import pytest
from scipy.special import ndtr

from honestdp.errors import InputError
from honestdp.privacy import guarantee, selection
from honestdp.privacy.events import Gaussian, Selection
from honestdp.privacy.run_count import RunCount
from honestdp.privacy.runs import Binomial, Capped, Poisson, TruncatedNegativeBinomial, geometric

BUILT_IN = [Poisson(1.0), geometric(0.5), Binomial(3, 0.5)]


class OneOrMany(RunCount):
    """1 run, or 21 with probability 1/2: f' is no power of a linear function."""

    mean = property(lambda self: 11.0)
    maximum = property(lambda self: 21)

    def pgf_tail(self, u: np.ndarray) -> np.ndarray:
        x = 1 - np.asarray(u, dtype=float)
        return 0.5 * x + 0.5 * x**21

    def log_derivative_tail(self, u: np.ndarray) -> np.ndarray:
        return np.log(0.5 + 10.5 * (1 - np.asarray(u, dtype=float)) ** 20)

    def probabilities(self, largest: int) -> np.ndarray:
        return np.array([0.5 * (k in (1, 21)) for k in range(largest + 1)])


@pytest.fixture(params=["own", *(type(law).__name__ for law in BUILT_IN)])
def law(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunCount]:
    """The law above, and the same disguised as a child of each built-in one."""
    if request.param == "own":
        yield OneOrMany()
        return
    parent = next(law for law in BUILT_IN if type(law).__name__ == request.param)
    with monkeypatch.context() as patch:
        patch.setattr(RunCount, "__init_subclass__", classmethod(lambda cls: None))
        own = {name: value for name, value in vars(OneOrMany).items() if name in vars(RunCount)}
        kept = {name: own[name] for name in own if not name.startswith("_")}
        child = type("Disguised", (type(parent),), kept)
    yield child(**vars(parent))


@pytest.mark.parametrize("sigma", [0.5, 1.0, 4.0])
def test_the_claim_is_not_below_the_exact_delta(law: RunCount, sigma: float) -> None:
    """The winner among Gaussians has density q(y) f'(F(y)): its delta by a fine sum."""
    y = np.linspace(-12 * sigma, 12 * sigma + 1, 200_001)
    a, b = (_winner(law, (y - mean) / sigma) / sigma for mean in (0.0, 1.0))
    step = y[1] - y[0]
    assert a.sum() * step == pytest.approx(1, rel=1e-9)
    for delta in (1e-2, 1e-4, 1e-6):
        ratio = math.exp(guarantee.epsilon(Selection(Gaussian(sigma), law), delta))
        true = max(np.maximum(p - ratio * r, 0).sum() * step for p, r in ((a, b), (b, a)))
        assert true <= delta


def _winner(law: RunCount, z: np.ndarray) -> np.ndarray:
    log_density = -(z**2) / 2 - math.log(math.sqrt(2 * math.pi))
    return np.exp(log_density + law.log_derivative_tail(ndtr(-z)))


def test_lambda_is_a_supremum(law: RunCount) -> None:
    q = np.array([0.8, 0.2])
    profile = exact.profile(exact.Pair(q, q[::-1], np.arange(2)))
    t, delta = profile.table
    u = np.linspace(0, 1, 1001)
    tail = np.minimum(1, (np.exp(t)[:, None] * u + np.minimum(delta, 1)[:, None]).min(axis=0))
    gaps = law.log_derivative_tail(u) - law.log_derivative_tail(tail)
    for runs in (law, Capped(law, 30)):
        assert selection.profile_bound(profile, runs).shift >= np.max(gaps) - 1e-9


def test_papernot_steinke_does_not_cover_it(law: RunCount) -> None:
    assert not selection.papernot_steinke_covers(law)
    with pytest.raises(InputError, match="profile_bound"):
        selection.papernot_steinke(guarantee.rdp_curve(Gaussian(1.0)), law)


def test_a_cap_goes_by_its_own_probabilities(law: RunCount) -> None:
    assert Capped(law, 10).mean == pytest.approx(0.5 * 1 + 0.5 * 10)


@pytest.mark.parametrize(
    "parent", [Poisson, TruncatedNegativeBinomial, Binomial, Capped, OneOrMany]
)
def test_a_law_derives_from_no_other_law(parent: type[RunCount]) -> None:
    with pytest.raises(InputError, match="RunCount itself"):
        type("Child", (parent,), {})
    with pytest.raises(InputError, match="RunCount itself"):
        type("Child", (parent, RunCount), {})


def test_laws_that_compare_apart_are_priced_apart() -> None:
    """Prices are kept by law: equal only where everything they hold is."""
    run = Gaussian(2.0)
    few, many = (
        guarantee.epsilon(Selection(run, law), 1e-6) for law in (geometric(0.9), Poisson(0.9))
    )
    assert few != many
    assert OneOrMany() != OneOrMany()
