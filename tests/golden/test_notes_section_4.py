"""Every figure marked "measured" in section 4 of the project's notes on the paper.

Provenance: computed for the project in November 2026 with dp-accounting 0.6.0, before this
code existed, by scripts that are not part of it; the notes give three or four digits. Setting,
unless a row says otherwise: sigma = 4, L = 250, delta = 1e-6, E[K] = 40, n = 36177, T = 2500
(n = 36177 is 80 % of Adult's 45,222 rows rounded down; Table 3 of the paper needs 36178).
"""

from __future__ import annotations

import pytest

from honestdp.privacy import guarantee, selection
from honestdp.privacy.events import Repeated, shared_lots, training
from honestdp.privacy.runs import Capped, Poisson, TruncatedNegativeBinomial, geometric
from honestdp.procedures import Training
from honestdp.procedures.composition import Composition
from honestdp.procedures.random_repeats import RandomRepeats
from honestdp.procedures.random_stopping import RandomStopping
from honestdp.procedures.threshold import Threshold

DELTA = 1e-6
ADULT, MNIST, SMALL = (
    Training(36177, 250, 2500),
    Training(60000, 250, 10000),
    Training(5000, 250, 10000),
)
RUN = ADULT.event(4.0)


def law(shape: float, mean: float = 40.0) -> TruncatedNegativeBinomial:
    return TruncatedNegativeBinomial.from_mean(shape, mean)


@pytest.mark.parametrize(
    ("procedure", "bound", "expected"),
    [
        # The table "Measured, sigma = 4, L = 250, delta = 1e-6, m = 40", as printed there.
        (Composition(40), "rdp", ("2.717", "3.34", "76.9")),
        (Composition(40), "pld", ("2.533", "3.11", "69.6")),
        (RandomStopping(40, 1 / 40), "liu-talwar", ("2.353", "2.82", "37.0")),
        (RandomRepeats(40, law(1)), "papernot-steinke", ("0.920", "1.11", "13.1")),
        (RandomRepeats(40, law(0)), "papernot-steinke", ("0.734", "0.88", "11.2")),
        (RandomRepeats(40, law(1)), "profile", ("0.667", "0.806", "10.7")),
        (RandomRepeats(40, law(0)), "profile", ("0.593", "0.717", "9.73")),
    ],
)
def test_the_table_of_costs(procedure, bound, expected) -> None:
    for job, figure in zip((ADULT, MNIST, SMALL), expected, strict=True):
        # Half a unit of the last printed digit, and 0.1 % for another grid of orders.
        digit = 10.0 ** -len(figure.split(".")[1])
        tolerance = digit / 2 + 1e-3 * float(figure)
        found = procedure.epsilon(bound, job, 4.0, DELTA)
        assert found == pytest.approx(float(figure), abs=tolerance)


def test_pld_composition_is_about_seven_percent_tighter_at_40() -> None:
    many = Repeated(RUN, 40)
    ratio = guarantee.epsilon(many, DELTA, "pld") / guarantee.epsilon(many, DELTA, "rdp")
    assert ratio == pytest.approx(0.93, abs=0.005)


@pytest.mark.parametrize(("k", "shared", "apart"), [(40, 8.62, 2.72), (4, 0.85, 0.79)])
def test_shared_lots(k: int, shared: float, apart: float) -> None:
    together = shared_lots(250 / 36177, 4.0, 2500, k)
    assert guarantee.epsilon(together, DELTA, "rdp") == pytest.approx(shared, abs=0.006)
    assert guarantee.epsilon(Repeated(RUN, k), DELTA, "rdp") == pytest.approx(apart, abs=0.006)


@pytest.mark.parametrize(
    ("mean", "cap", "uncapped", "capped"), [(40, 120, 0.667, 0.667), (1000, 40, 0.904, 1.110)]
)
def test_what_a_hard_cap_costs(mean: float, cap: int, uncapped: float, capped: float) -> None:
    profile, runs = guarantee.profile(RUN), law(1, mean)
    free = selection.profile_bound(profile, runs).epsilon(DELTA)
    stopped = selection.profile_bound(profile, Capped(runs, cap)).epsilon(DELTA)
    assert free == pytest.approx(uncapped, abs=1e-3)
    assert stopped == pytest.approx(capped, abs=1e-3)


def test_poisson_where_papernot_steinke_is_the_smaller() -> None:
    procedure = RandomRepeats(40, Poisson(40))
    assert procedure.epsilon("profile", ADULT, 4.0, DELTA) == pytest.approx(1.82, abs=5e-3)
    assert procedure.epsilon("papernot-steinke", ADULT, 4.0, DELTA) == pytest.approx(1.40, abs=5e-3)


@pytest.mark.parametrize(
    ("shape", "as_curve", "as_profile"), [(1, 0.695, 0.667), (0, 0.621, 0.593)]
)
def test_the_profile_bound_as_a_curve(shape: float, as_curve: float, as_profile: float) -> None:
    curve, profile = guarantee.rdp_curve(RUN), guarantee.profile(RUN)
    found = selection.profile_bound_rdp(curve, profile, law(shape)).epsilon(DELTA)
    assert found == pytest.approx(as_curve, abs=1e-3)
    assert selection.profile_bound(profile, law(shape)).epsilon(DELTA) == pytest.approx(
        as_profile, abs=1e-3
    )


def test_threshold() -> None:
    assert Threshold(40, 1 / 40).epsilon("profile", ADULT, 4.0, DELTA) == pytest.approx(
        0.543, abs=1e-3
    )
    bound = selection.threshold(guarantee.profile(RUN), 1 / 40)
    curve = selection.shifted_curve(guarantee.rdp_curve(RUN), bound.shift, 40, 0.0)
    assert curve.epsilon(DELTA) == pytest.approx(0.572, abs=1e-3)


@pytest.mark.parametrize(("runs", "hit"), [(law(0), 0.35), (law(1), 0.51), (Poisson(40), 0.63)])
def test_equal_means_are_not_equal_chances(runs, hit: float) -> None:
    assert runs.hit_probability(40) == pytest.approx(hit, abs=6e-3)


def test_the_geometric_law_needs_351_runs_for_nine_chances_in_ten() -> None:
    runs = TruncatedNegativeBinomial.from_hit_probability(1.0, 40, 0.9)
    assert runs.mean == pytest.approx(351, abs=0.5)
    assert geometric(1 / 351).hit_probability(40) == pytest.approx(0.9, abs=1e-3)


@pytest.mark.parametrize(("shape", "one_run"), [(1, 0.53), (0, 0.60)])
def test_what_is_left_for_a_run_at_a_total_of_one(shape: float, one_run: float) -> None:
    """Section 7: at epsilon = 1, best of 40 under the profile bound trains each run at this."""
    from honestdp.privacy import calibrate

    procedure = RandomRepeats(40, law(shape))
    sigma = calibrate.noise_multiplier(lambda s: procedure.epsilon("profile", ADULT, s, DELTA), 1.0)
    assert guarantee.epsilon(ADULT.event(sigma), DELTA, "pld") == pytest.approx(one_run, abs=6e-3)


def test_orders_matter_at_large_n() -> None:
    """Section 5: one run at n = 950,000 costs 0.141 with orders to 63, 0.034 with richer ones."""
    from honestdp.privacy.curve import at_orders

    q = 250 / 950_000
    few = at_orders(q, 4.0, 10_000, [1 + x / 10 for x in range(1, 100)] + list(range(11, 64)))
    assert few.epsilon(DELTA) == pytest.approx(0.141, abs=5e-4)
    assert guarantee.epsilon(training(q, 4.0, 10_000), DELTA, "rdp") == pytest.approx(
        0.034, abs=1e-3
    )
