"""G read both ways: how likely an event is on the neighbour, from a profile of both directions.

`selection.worst_tail` has the half of it that a profile of one direction gives.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from honestdp.privacy.profile import Profile

Floats = NDArray[np.float64]

_UP = 1 + 8 * float(np.finfo(float).eps)  # more than the few roundings of a line's coefficients
_CORNER = 2e-15  # more than the error of a corner's place, and of the tail there


@dataclass(frozen=True, eq=False)
class TwoWayTail:
    """A concave polygon above G, as the smallest of lines `slopes * u + offsets`.

    Theorem. If an event has probability u on one neighbour and both directions have a profile of
    at most delta, its probability on the other is at most
      G(u) = min over t >= 0 of { 1,  e^t u + delta(t),  1 - e^-t (1 - u - delta(t)) }.
    Proof. The second is the definition of (t, delta(t))-DP for the event. The third is the same for
    its complement in the other direction: 1 - u <= e^t (1 - G) + delta(t). Without the third, G is
    u + delta(0) for large u, and a search that trains all candidates but once in ten seems to
    cost 1.73 times a run, not 1.25 (two candidates, Gaussian noise).

    A minimum of fewer lines is larger, so any choice of them bounds G. Coefficients are rounded up.

    slopes: Falling: from the line that is the smallest at u = 0 to the constant 1.
    """

    slopes: Floats
    offsets: Floats

    @classmethod
    def of(cls, profile: Profile) -> TwoWayTail:
        """The tail of a profile that holds in both directions, by the points of its table."""
        return cls.of_points(*profile.table)

    @classmethod
    def of_points(cls, t: Floats, delta: Floats) -> TwoWayTail:
        """The same by points (t, delta) of a profile, t >= 0 and rising."""
        delta = np.minimum(delta, 1.0)
        shrunk = np.exp(-t)
        slopes = np.concatenate([[0.0], shrunk * _UP, np.exp(t) * _UP])
        offsets = np.concatenate([[1.0], (shrunk * delta - np.expm1(-t)) * _UP, delta * _UP])
        return cls(*_lowest(slopes, offsets))

    def __len__(self) -> int:
        return len(self.slopes)

    def at(self, u: Floats) -> Floats:
        """The polygon at these points."""
        lines = self.slopes[:, None] * u + self.offsets[:, None]
        return np.minimum(lines.min(axis=0), 1.0)

    @property
    def polygon(self) -> tuple[Floats, Floats]:
        """Its corners u from 0 to 1, and its values there."""
        u = self.corners()
        return u, np.maximum(self.at(u), u)

    def corners(self, low: float = 0.0, high: float = 1.0) -> Floats:
        """Where the polygon bends between `low` and `high`, and these two ends; rising."""
        inner = self.crossings
        return np.concatenate([[low], inner[(inner > low) & (inner < high)], [high]])

    @property
    def crossings(self) -> Floats:
        """Where each line takes over from the one before it; rising."""
        return np.diff(self.offsets) / -np.diff(self.slopes)

    def among(self, lines: NDArray[np.int64]) -> TwoWayTail:
        """The larger polygon of some of the lines, given by their places, and of the constant 1:
        without that, it would bend where the others pass 1, and not at a crossing."""
        kept = np.union1d(lines, [len(self) - 1])
        return TwoWayTail(self.slopes[kept], self.offsets[kept])

    def arguments(self, corners: Floats) -> tuple[Floats, Floats]:
        """1 - u and 1 - G(u) at corners, the first rounded up and the second down."""
        own = np.minimum(1.0, 1.0 - corners + _CORNER)
        other = np.maximum(0.0, 1.0 - self.at(corners) - _CORNER)
        return own, np.minimum(other, own)


def _lowest(slopes: Floats, offsets: Floats) -> tuple[Floats, Floats]:
    """Those of the lines that touch the smallest of them somewhere above u = 0, slopes falling."""
    order = np.lexsort((offsets, slopes))
    kept: list[int] = []
    crossings: list[float] = []  # of neighbours in `kept`, falling
    for i in order.tolist():
        if kept and slopes[i] <= slopes[kept[-1]] * (1 + 1e-12):
            continue  # parallel to a lower one, or nearly: the polygon is no lower without it
        while kept:
            crossing = (offsets[kept[-1]] - offsets[i]) / (slopes[i] - slopes[kept[-1]])
            if not crossings or crossing < crossings[-1]:
                break
            kept.pop()
            crossings.pop()
        if kept:
            if crossing <= 0:
                continue
            crossings.append(float(crossing))
        kept.append(i)
    return slopes[kept[::-1]], offsets[kept[::-1]]
