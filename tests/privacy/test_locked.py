"""What is kept and shared cannot be changed: prices must not depend on who looked at them."""

from __future__ import annotations

import numpy as np
import pytest

from honestdp.errors import InputError
from honestdp.privacy import guarantee
from honestdp.privacy.curve import RdpCurve
from honestdp.privacy.events import Selection, training
from honestdp.privacy.runs import geometric

RUN = training(0.01, 2.0, 100)


def test_a_curve_cannot_be_changed() -> None:
    curve = guarantee.rdp_curve(RUN)
    for array in (curve.orders, curve.values, (curve * 2).values, (curve + curve).values):
        with pytest.raises(ValueError, match="read-only"):
            array[:] *= 0.01


def test_a_curve_does_not_follow_what_it_was_made_of() -> None:
    orders, values = np.array([2.0, 3.0]), np.array([0.1, 0.2])
    curve = RdpCurve(orders, values)
    orders[0], values[:] = 1.5, 0.0
    assert curve.orders.tolist() == [2.0, 3.0]
    assert curve.values.tolist() == [0.1, 0.2]


@pytest.mark.parametrize("event", [RUN, Selection(RUN, geometric(0.1))])
def test_a_table_of_a_profile_cannot_be_changed(event) -> None:
    for array in guarantee.profile(event).table:
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0.0


@pytest.mark.parametrize("count", [0, -1, 0.5, -0.5, 2.5, float("nan"), True, "2", None])
def test_a_curve_counts_whole_runs(count) -> None:
    with pytest.raises(InputError, match="count"):
        guarantee.rdp_curve(RUN) * count
