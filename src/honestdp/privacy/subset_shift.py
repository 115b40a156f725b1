"""Lambda of the best of a random subset, certified over the whole cube.

`random_subset` has the theorem. For k candidates and a law p_1 .. p_k of K,
  H(s_1 .. s_{k-1}) = sum_m m p_m e_{m-1}(s) / C(k-1, m-1),
  Lambda = sup over u in [0, 1]^{k-1} of ln H(1 - u) / H(1 - G(u)).
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from honestdp.privacy.two_way_tail import TwoWayTail

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Range = tuple[float, float]

LARGEST = 50  # candidates; see `certified_shift`
_ROUNDING = 1e-11  # of ln H(a)/H(b): sums of at most 5000 terms, none of them negative
_MOST_CORNERS = 120
_MOST_ROWS = 12_000  # of a matrix that takes as long to make as it has rows
_MOST_PARTS = 16


def certified_shift(tail: TwoWayTail, p: Floats, tolerance: float = 2e-3) -> float:
    """Lambda for the law P(K = m) = p[m - 1], m = 1 .. k, from above.

    Theorem. Let a polygon lie above G, and let each coordinate have a range. Over that box the
    ratio is largest at a vertex: each coordinate at a corner of the polygon or at an end of its
    range. Proof. In one coordinate, while the polygon is a straight line, the ratio is a quotient
    of two linear functions with a positive denominator (P(K = 1) > 0), hence monotone. H is
    symmetric, so vertices are multisets of corners where coordinates share a range.

    The polygon is first replaced by a larger one of a few of its lines. Its corners cut the cube
    into boxes, each coordinate between two neighbouring corners; a box without a vertex above the
    aim is done. A vertex above it touches only boxes whose coordinates lie between the corners next
    to their own. So of all vertices above the aim, with r coordinates at the left half of the
    corners, a part of the cube is left (`_Part`): r coordinates in one range, the others in
    another. It is looked at again, with as many lines in these shorter ranges, or with more where
    they did not get shorter; the part with the largest bound goes first. What is still open when
    ranges get no shorter, or after 16 parts (8 for more than 20 candidates), is bounded as it
    stands. So the answer is never below Lambda, whatever it took. The aim is the largest ratio on
    the diagonal plus the tolerance: an answer may be that much too large.

    Args:
        tail: A polygon above G.
        p: The law; P(K = 1) > 0, else Lambda may be infinite.
        tolerance: Relative.

    Returns:
        Lambda or a little more. Above 50 candidates nothing is looked at, and the answer is the
        trivial ln E[K]/P(K = 1).
    """
    n = len(p) - 1
    if n == 0:
        return 0.0
    trivial = math.log(_mean(p) / p[0]) + _ROUNDING
    if n >= LARGEST:
        return trivial
    cube = _Cube(tail, p)
    aim = cube.diagonal
    aim += 1e-6 + tolerance * aim
    parts = [_Part(-trivial, 0, (0.0, 1.0), (0.0, 1.0))]
    for _ in range(_MOST_PARTS if n < 20 else _MOST_PARTS // 2):
        if not parts or -parts[0].minus_bound <= aim:
            break
        part = heapq.heappop(parts)
        for found in cube.open_of(part, aim):
            found = replace(found, minus_bound=max(found.minus_bound, part.minus_bound))
            if found.is_shorter(part, n):
                heapq.heappush(parts, found)
            elif part.effort == 0 and n < 20:
                heapq.heappush(parts, replace(found, effort=part.effort + 1))
            else:
                aim = max(aim, -found.minus_bound)
    still_open = -parts[0].minus_bound if parts else 0.0
    return min(max(aim, still_open) + _ROUNDING, trivial)


def _mean(p: Floats) -> float:
    return math.fsum(m * q for m, q in enumerate(p.tolist(), start=1))


@dataclass(frozen=True, order=True)
class _Part:
    """A part of the cube: `first` coordinates in the range `here`, the others in `there`; and
    minus a bound on what it has, so that the least part is the one to look at next."""

    minus_bound: float
    first: int
    here: Range
    there: Range
    effort: int = 0  # how often it was looked at in vain

    def ranges(self, n: int) -> list[Range]:
        """Those with coordinates in them."""
        return [self.here] * (self.first > 0) + [self.there] * (self.first < n)

    def is_shorter(self, other: _Part, n: int) -> bool:
        """Whether one of its ranges is shorter than the other part's by a tenth, or one became
        two."""
        mine, theirs = self.ranges(n), other.ranges(n)
        lengths = zip(mine, theirs, strict=False)
        return len(mine) > len(theirs) or any(b - a < 0.9 * (d - c) for (a, b), (c, d) in lengths)


class _Cube:
    """The ratio over [0, 1]^{k-1}, for a polygon above G and a law."""

    def __init__(self, tail: TwoWayTail, p: Floats) -> None:
        self._tail = tail
        self._n = n = len(p) - 1
        choices = np.array([float(math.comb(n, m)) for m in range(n + 1)])
        self._weights = np.arange(1, n + 2) * p / choices
        self._crossings = u = tail.crossings
        self._slopes = np.arange(1, n + 2) * p  # the coefficients of f'
        own, other = tail.arguments(tail.corners())
        self.diagonal = float(np.max(np.log(self._slope(own) / self._slope(other))))
        # How much each crossing of lines matters: see `_some`.
        _, other = tail.arguments(np.clip(u, 0, 1))
        felt = self._slope(other, 1) / self._slope(other)
        distance = np.gradient(u) if len(u) > 1 else np.ones(len(u))
        bend = np.sqrt(-np.diff(tail.slopes) * distance)
        weight = _shared(0.8, bend * np.sqrt(felt)) + _shared(0.15, bend) + _shared(0.05, u * 0 + 1)
        self._share = np.concatenate([[0.0], np.cumsum(weight)])

    def _slope(self, s: Floats, times: int = 0) -> Floats:
        """f'(s), derived so many times more."""
        polynomial = np.polynomial.polynomial
        return np.asarray(polynomial.polyval(s, polynomial.polyder(self._slopes, times)))

    def open_of(self, part: _Part, aim: float) -> list[_Part]:
        """What of a part may be above the aim."""
        ranges = part.ranges(self._n)
        if len(ranges) == 1:
            return self._open_in(ranges[0], part.effort, aim)
        sides = []
        for size, many, range_ in zip(
            (part.first, self._n - part.first), self._points(part), ranges, strict=True
        ):
            corners, values = self._vertices(range_, many)
            sides.append((_multisets(values, size)[size], (corners, 0)))
        return self._open(sides[0], sides[1], aim)

    def _open_in(self, range_: Range, effort: int, aim: float) -> list[_Part]:
        """The same with all coordinates in one range. Its corners are cut into two halves, and the
        parts are told apart by how many coordinates are at corners of the first."""
        n = self._n
        corners, values = self._vertices(range_, _corners(n, effort))
        cut = (len(corners) + 1) // 2
        left, right = _multisets(values[:, :cut], n), _multisets(values[:, cut:], n)
        return [
            part
            for r in range(n + 1)
            for part in self._open((left[r], (corners, 0)), (right[n - r], (corners, cut)), aim)
        ]

    def _vertices(self, range_: Range, points: int) -> tuple[Floats, Floats]:
        """The corners, so many or fewer, of a polygon above G in a range; 1 - u and 1 - G there."""
        lines = self._active(range_)
        for fewer in (0, 1):  # the constant 1 is one more line, and may be one more corner
            larger = self._tail.among(self._some(lines, points - fewer))
            corners = larger.corners(*range_)
            if len(corners) <= points:
                break
        return corners, np.stack(larger.arguments(corners))

    def _open(self, here: _Side, there: _Side, aim: float) -> list[_Part]:
        """What of a part may be above the aim, by all its vertices: pairs of multisets.

        prod_j (1 + s_j z) has the e_m(s) as coefficients, so H is a linear form in them: with
        coefficients x of the first coordinates and y of the others, H = sum_ij x_i w_{i+j} y_j.
        """
        (left, _), (right, _) = here, there
        r = left.size
        w = self._weights[np.arange(r + 1)[:, None] + np.arange(right.size + 1)]
        ratio = (left.coefficients[0] @ w) @ right.coefficients[0].T
        ratio /= (left.coefficients[1] @ w) @ right.coefficients[1].T
        above = ratio > math.exp(aim)
        if not above.any():
            return []
        ranges = (_around(*here, above.any(axis=1)), _around(*there, above.any(axis=0)))
        return [_Part(-math.log(float(ratio.max())), r, *ranges)]

    def _active(self, range_: Range) -> Integers:
        """The lines of which the polygon is made in a range."""
        first = int(np.searchsorted(self._crossings, range_[0], side="right"))
        last = int(np.searchsorted(self._crossings, range_[1], side="left"))
        return np.arange(first, max(first, last) + 1)

    def _points(self, part: _Part) -> tuple[int, int]:
        """How many corners each range gets: one by one, where coordinates have the fewest."""
        sizes = (part.first, self._n - part.first)
        most = [len(self._active(range_)) + 1 for range_ in (part.here, part.there)]
        points = [3, 3]
        grows = [0, 1]
        while grows:
            i = max(grows, key=lambda i: sizes[i] / points[i] ** 2)
            more = [points[0] + (i == 0), points[1] + (i == 1)]
            rows = [math.comb(s + q - 1, s) for s, q in zip(sizes, more, strict=True)]
            many = math.prod(rows) > _most_vertices(self._n, part.effort)
            if more[i] > most[i] or many or rows[i] > _MOST_ROWS:
                grows.remove(i)
            else:
                points = more
        return points[0], points[1]

    def _some(self, lines: Integers, points: int) -> Integers:
        """Lines for so many corners, chosen so that the polygon grows
        by about the same everywhere, and by less where the diagonal feels it more.

        Without the lines between two, the polygon grows by about the change of slope times the
        distance; ln f'(1 - G) by f''/f' times that.
        """
        if len(lines) < points:
            return lines
        share = self._share[lines]
        places = (np.arange(points - 1) + 0.5) / (points - 1)
        wanted = share[0] + (share[-1] - share[0]) * places
        return lines[np.unique(np.searchsorted(share, wanted).clip(0, len(lines) - 1))]


def _shared(share: float, weights: Floats) -> Floats:
    return share * weights / max(float(weights.sum()), 1e-300)


@dataclass(frozen=True)
class _Multisets:
    """All multisets of one size of the corners of a range: the coefficients of prod (1 + s z), for
    both sides of the ratio, the least and the largest corner of each."""

    coefficients: Floats
    first: Integers
    last: Integers

    @property
    def size(self) -> int:
        return self.coefficients.shape[-1] - 1


_Side = tuple[_Multisets, tuple[Floats, int]]  # with corners, and the place of the first it uses


def _around(some: _Multisets, at: tuple[Floats, int], above: NDArray[np.bool_]) -> Range:
    """The range that holds all boxes which the chosen multisets touch."""
    if some.size == 0:
        return 0.0, 1.0
    corners, place = at
    least = max(place + int(some.first[above].min()) - 1, 0)
    most = min(place + int(some.last[above].max()) + 1, len(corners) - 1)
    return float(corners[least]), float(corners[most])


def _multisets(values: Floats, largest: int) -> list[_Multisets]:
    """All multisets of 0, 1, .. `largest` columns of the values. Of each size, those without
    columns beyond the j-th come first, for every j; the next size has each of them with the j-th
    added."""
    points = values.shape[1]
    none = np.zeros(1, dtype=np.int64)
    found = [_Multisets(np.ones((2, 1, 1)), none, none)]
    ends = np.ones(points, dtype=np.int64)  # how many have no column beyond the j-th
    for size in range(1, largest + 1):
        last = np.repeat(np.arange(points), ends)
        before = np.arange(len(last)) - np.repeat(np.cumsum(ends) - ends, ends)
        old = found[-1].coefficients[:, before]
        coefficients = np.zeros((2, len(last), size + 1))
        coefficients[:, :, :-1] = old
        coefficients[:, :, 1:] += values[:, last, None] * old
        first = last if size == 1 else found[-1].first[before]
        found.append(_Multisets(coefficients, first, last))
        ends = np.cumsum(ends)
    return found


def _corners(coordinates: int, effort: int) -> int:
    """How many corners one range gets that has all coordinates."""
    most, points = _most_vertices(coordinates, effort), 3
    while points < _MOST_CORNERS and math.comb(coordinates + points, points) <= most:
        points += 1
    return points


def _most_vertices(coordinates: int, effort: int) -> int:
    """How many vertices are looked at for one part of the cube: a matter of time alone."""
    return (400_000 if coordinates < 12 else 1_300_000) * 4**effort
