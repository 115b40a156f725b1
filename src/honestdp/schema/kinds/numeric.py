"""`Numeric`: numbers between public bounds, as a number, a spline, bins, or a number and bins.

A linear model can only draw a straight line through a number. A linear spline lets it draw any
curve of straight pieces, bins any steps, at no cost in privacy, as bounds and knots are public.
What is not public can be learnt: the cells are counted in a histogram over a declared outer range,
noise is added to the counts (`honestdp.schema.learn`), and bounds, edges or scale are read off them
(`noisy_histogram`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field, model_validator

from honestdp.schema.blocks import Entries
from honestdp.schema.cell_problems import CellProblems, unreadable
from honestdp.schema.cells import Cells
from honestdp.schema.fields import Number, Pair, check_pair
from honestdp.schema.kinds.base import CellLists, Column, Representative, column_kinds
from honestdp.schema.noisy_histogram import cell_edges
from honestdp.schema.numeric_learning import MOST_BINS, has_room, learnt_numbers, with_numbers

BINS = 16
LOG_STEEPNESS = 1000.0  # of "log" edges: the first bin is about this much narrower than the last
FARTHEST = 2.0  # a learnt scale clips numbers further out: four standard deviations

Numbers = Annotated[
    tuple[Number, ...], BeforeValidator(lambda v: tuple(v) if isinstance(v, list) else v),
    Field(strict=True),
]  # fmt: skip


@column_kinds.register
class Numeric(Column):
    """A column of numbers between public bounds.

    Args:
        name: The column of the table.
        bounds: (low, high): scaled to [0, 1], cells outside clipped to the nearer bound. Or
            "learn": learnt with noise, and paid for, before anything can be encoded.
        outer: For "learn" only: the range the bounds surely lie in.
        quantiles: For "learn" only: the quantiles of the cells at which the bounds are put, by
            default (0.01, 0.99).
        missing: The value of a cell that is missing, not a number, or not finite; by default the
            middle of the bounds. "own": such cells have an encoded column of their own.
        encode: "linear": the number. "bins": which of several bins it is in. "both" of these.
            "spline": how near it is to the two knots around it. By default a plan chooses by public
            facts.
        bins: Number of bins, or of pieces of a spline; by default 16.
        edges: Where one bin, or piece, ends and the next begins: "equal" widths between the bounds
            (the default), "sqrt" or "log": narrow ones near 0, "learn": equal shares of the rows,
            learnt with noise and paid for; or a list of rising numbers between the bounds.
        scale: (shift, width): the number is encoded as (number - shift) / width instead of being
            scaled to [0, 1]. "learn": shift is the mean and width two standard deviations, learnt
            with noise and paid for; numbers four deviations out are clipped.

    Example:
        >>> Numeric(name="age", bounds=(0, 100), encode="both", bins=2).encoded_names
        ['age', 'age below 50', 'age from 50']
    """

    label: ClassVar[str] = "number"
    form: ClassVar[tuple[str, ...]] = ('kind = "numeric"', "bounds = [0, 100]")
    form_help: ClassVar[tuple[str, ...]] = (
        "cells outside are clipped: give the range where nearly all lie; far too wide costs "
        "accuracy",
        'or bounds = "learn", outer = [low, high]: paid for from the privacy budget',
    )
    remedies: ClassVar[dict[str, str]] = {
        "bounds": 'give [low, high], two finite numbers with low < high, or "learn" with outer',
        "outer": "give [low, high], two finite numbers with low < high",
        "quantiles": "give [low, high] with 0 <= low < high <= 1, such as [0.01, 0.99]",
        "missing": 'give the number that stands for a missing cell, or "own"',
        "encode": 'must be "linear", "bins", "both" or "spline"',
        "bins": f"must be a whole number from 2 to {MOST_BINS}",
        "edges": 'must be "equal", "sqrt", "log", "learn" or a list of rising numbers',
        "scale": 'must be [shift, width] with a width above 0, or "learn"',
    }
    infer_order: ClassVar[int] = 10
    added_fields: ClassVar[frozenset[str]] = frozenset({"encode", "bins", "edges", "scale"})

    kind: Literal["numeric"] = "numeric"
    bounds: Pair | Literal["learn"]
    outer: Pair | None = None
    quantiles: Pair | None = None
    missing: Number | Literal["own"] | None = None
    encode_as: Literal["linear", "bins", "both", "spline"] | None = Field(
        default=None, alias="encode"
    )
    bins: Annotated[int, Field(strict=True, ge=2, le=MOST_BINS)] | None = None
    edges: Numbers | Literal["equal", "sqrt", "log", "learn"] | None = None
    scale: Pair | Literal["learn"] | None = None

    @model_validator(mode="after")
    def _check(self) -> Numeric:
        if self.bounds == "learn" and self.outer is None:
            raise ValueError('bounds = "learn" needs outer = [low, high], declared without looking')
        if self.bounds != "learn" and (self.outer or self.quantiles):
            raise ValueError('outer and quantiles are for bounds = "learn"; remove them')
        check_pair("outer" if self.bounds == "learn" else "bounds", self.range)
        low, high = self.learn_quantiles
        if not 0 <= low < high <= 1:
            raise ValueError(f"quantiles = [{low:g}, {high:g}]: needs 0 <= low < high <= 1")
        low, high = self.range
        if isinstance(self.missing, float) and not low <= self.missing <= high:
            raise ValueError(f"missing = {self.missing:g} must lie in [{low:g}, {high:g}]")
        self._check_bins()
        if self.learns and not has_room(low, high):
            raise ValueError(f"[{low:g}, {high:g}] is too narrow to learn something in it")
        if isinstance(self.scale, tuple) and not self.scale[1] > 0:
            raise ValueError(f"scale = [.., {self.scale[1]:g}]: needs a width above 0")
        return self

    def _check_bins(self) -> None:
        if self.encode_as == "linear" and (self.bins or self.edges):
            raise ValueError(
                'bins and edges are for encode = "bins", "both" or "spline"; remove them'
            )
        if self.encode_as in ("bins", "spline") and self.scale is not None:
            raise ValueError('scale is for encode = "linear" or "both"; remove it')
        if not isinstance(self.edges, tuple):
            return
        low, high = self.range
        rises = all(a < b for a, b in zip(self.edges, self.edges[1:], strict=False))
        if not self.edges or not rises or not low < self.edges[0] <= self.edges[-1] < high:
            raise ValueError(
                f"edges: give rising numbers between the bounds {low:g} and {high:g}, without them"
            )
        if self.bounds == "learn":
            raise ValueError('edges: cannot be listed with bounds = "learn"; leave one of them out')
        if self.bins is not None and self.bins != len(self.edges) + 1:
            raise ValueError(f"bins = {self.bins}: the listed edges make {len(self.edges) + 1}")

    @property
    def range(self) -> tuple[float, float]:
        """The bounds; the outer range as long as they are not learnt."""
        chosen = self.outer if isinstance(self.bounds, str) else self.bounds
        assert chosen is not None  # checked above
        return chosen

    @property
    def missing_value(self) -> float:
        """The value of a cell that is missing."""
        low, high = self.range
        return self.missing if isinstance(self.missing, float) else low + (high - low) / 2

    @property
    def learn_quantiles(self) -> tuple[float, float]:
        """The quantiles at which learnt bounds are put."""
        return self.quantiles or (0.01, 0.99)

    # The encoding: the number, then its bins, then the column of missing cells

    def with_default_encoding(self, pieces: int) -> Numeric:
        if self.encode_as is not None or self.bins or self.edges:
            return self
        if not pieces or self.scale is not None:
            return self.model_copy(update={"encode_as": "linear"})
        edges = "sqrt" if self.range[0] == 0 else "equal"
        return self.model_copy(update={"encode_as": "spline", "bins": pieces, "edges": edges})

    def encoded_as(self, encode: str) -> Numeric:
        if self.encode_as is not None or self.bins or self.edges or self.scale is not None:
            return self
        return self.model_copy(update={"encode_as": encode})

    def as_one_hot(self) -> Numeric | None:
        if self.learns:
            return None
        edges, bins = self.edges, self.bins or BINS // 2
        if self.is_spline and not isinstance(edges, tuple):
            # As without a curve, which a plan may have chosen: the pairs stay those declared
            edges, bins = None, BINS // 2
        counted = None if isinstance(edges, tuple) else bins
        changed = {"encode_as": "bins", "bins": counted, "edges": edges, "scale": None}
        return self.model_copy(update=changed)

    @property
    def has_bins(self) -> bool:
        """Whether bins are encoded; left open, they are if `bins` or `edges` is given."""
        if self.encode_as is None:
            return self.bins is not None or self.edges is not None
        return self.encode_as in ("bins", "both")

    @property
    def has_number(self) -> bool:
        """Whether the number itself is encoded."""
        return self.encode_as in (None, "linear", "both")

    @property
    def is_spline(self) -> bool:
        """Whether it is encoded by hat functions."""
        return self.encode_as == "spline"

    @property
    def bin_count(self) -> int:
        """Number of bins, or of pieces of a spline; 0 if there are none."""
        if not (self.has_bins or self.is_spline):
            return 0
        return len(self.edges) + 1 if isinstance(self.edges, tuple) else self.bins or BINS

    @property
    def bin_edges(self) -> tuple[float, ...]:
        """Where one bin ends and the next begins, in rising order; not known before they are
        learnt."""
        if isinstance(self.edges, tuple):
            return self.edges
        low, high = self.range
        evenly = np.linspace(0, 1, self.bin_count + 1)[1:-1]
        if self.edges == "log":
            return tuple(_log_spaced(evenly, low, high))
        if self.edges == "sqrt":
            return tuple(_root_spaced(evenly, low, high))
        return tuple((low + (high - low) * evenly).tolist())

    @property
    def knots(self) -> tuple[float, ...]:
        """The bounds and the edges between them, in rising order."""
        low, high = self.range
        return (low, *self.bin_edges, high)

    @property
    def encoded_names(self) -> list[str]:
        names = [self.name] if self.has_number else []
        if self.is_spline:
            names = [f"{self.name} near {knot:.6g}" for knot in self.knots]
            if self.is_open("edges") or len(set(names)) < len(names):
                names = [f"{self.name} near knot {i + 1}" for i in range(self.bin_count + 1)]
        if self.has_bins and self.is_open("edges"):
            names += [f"{self.name} in bin {i + 1}" for i in range(self.bin_count)]
        elif self.has_bins:
            cuts = [f"{cut:.6g}" for cut in self.bin_edges]
            names.append(f"{self.name} below {cuts[0]}")
            pairs = pairwise(cuts)
            names += [f"{self.name} from {one} to {other}" for one, other in pairs]
            names.append(f"{self.name} from {cuts[-1]}")
            if len(set(names)) < len(names):  # edges closer than their digits
                names = [self.name] * self.has_number
                names += [f"{self.name} in bin {i + 1}" for i in range(self.bin_count)]
        return [*names, f"{self.name} (missing)"] if self.missing == "own" else names

    @property
    def width(self) -> int:
        return self.has_number + self.bin_count + self.is_spline + (self.missing == "own")

    @property
    def entries(self) -> int:
        if self.is_spline:
            return 2
        extra = self.missing == "own" and not self.has_bins  # else it takes the bin's entry
        return self.has_number + self.has_bins + extra

    @property
    def squared_norm(self) -> float:
        if self.is_spline:
            return 2 / 3  # the mean of t^2 + (1 - t)^2
        return 0.25 * self.has_number + self.has_bins  # a number in the middle of [0, 1]

    @property
    def known_norm(self) -> float:
        return 2 / 3 if self.is_spline else 0.25 * (self.scale is not None) + self.has_bins

    @property
    def keeps_zeros(self) -> bool:
        plain = self.scale is None and self.missing != "own" and not self.is_spline
        return plain and not self.has_bins and self.range[0] == 0

    def encode(self, cells: Cells) -> Entries:
        values = cells.numbers()
        alone = np.isnan(values) if self.missing == "own" else np.zeros(len(values), dtype=bool)
        values = np.clip(np.where(np.isnan(values), self.missing_value, values), *self.range)
        if self.is_spline:
            return self._hats(values, alone)
        places, found, last = [], [], self.width - 1
        if self.has_number:
            places.append(np.zeros(len(values), dtype=np.int64))
            found.append(np.where(alone, 0.0, self._scaled(values)))
        if self.has_bins:
            which = np.searchsorted(np.array(self.bin_edges), values, side="right")
            places.append(np.where(alone, last, self.has_number + which))
            found.append(np.ones(len(values)))
        elif self.missing == "own":
            places.append(np.full(len(values), last))
            found.append(alone.astype(np.float64))
        return Entries(np.stack(places, axis=1), np.stack(found, axis=1))

    def _hats(self, values: NDArray[np.float64], alone: NDArray[np.bool_]) -> Entries:
        """The two hat functions that are not 0 at each value, which add up to 1."""
        knots = np.array(self.knots)
        piece = np.searchsorted(knots[1:-1], values, side="right")
        share = (values - knots[piece]) / (knots[piece + 1] - knots[piece])
        places = np.stack([piece, np.where(alone, self.width - 1, piece + 1)], axis=1)
        found = np.stack([np.where(alone, 0.0, 1 - share), np.where(alone, 1.0, share)], axis=1)
        return Entries(places, found)

    def _scaled(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        if isinstance(self.scale, tuple):
            shift, width = self.scale
            with np.errstate(over="ignore"):  # no cell may warn, however small the width
                return np.clip((values - shift) / width, -FARTHEST, FARTHEST)
        low, high = self.range
        return (values - low) / (high - low)

    def representatives(self) -> Sequence[Representative]:
        """Every knot, the middle of every bin, or the ends of the line; then a missing cell, if it
        has a column of its own."""
        low, high = self.range
        if self.is_spline:
            named = {f"{knot:.6g}": knot for knot in self.knots}
        elif self.has_bins:
            pairs = pairwise((low, *self.bin_edges, high))
            named = {f"{a:.6g} to {b:.6g}": a / 2 + b / 2 for a, b in pairs}
        else:
            shift, width = self.scale if isinstance(self.scale, tuple) else (low, np.inf)
            bends = shift - FARTHEST * width, shift + FARTHEST * width
            values = [low, *(bend for bend in bends if low < bend < high), high]
            named = {f"{value:.6g}": value for value in values}
        found = [Representative(label, value, value) for label, value in named.items()]
        return [*found, Representative("(missing)", None, None)] if self.missing == "own" else found

    def made_up(self, rows: int, source: np.random.RandomState) -> CellLists:
        """Numbers spread evenly between the bounds: whole ones where the bounds are and lie at
        least 10 apart, else of six digits."""
        low, high = self.range
        shares = source.random_sample(rows)
        drawn = low * (1 - shares) + high * shares
        if low % 1 == high % 1 == 0 and 10 <= high - low < 1e15:
            return {self.name: np.rint(drawn).astype(np.int64)}
        return {self.name: np.clip([float(f"{number:.6g}") for number in drawn], low, high)}

    @classmethod
    def encode_stored(
        cls, columns: Sequence[Self], of: NDArray[np.int64], cells: Cells
    ) -> NDArray[Any]:
        high = np.array([column.range[1] for column in columns])
        missing = np.array([column.missing_value for column in columns])
        values = cells.numbers()
        values = np.where(np.isnan(values), missing[of], values)
        return np.clip(values, 0, high[of]) / high[of]

    # What is learnt from a noisy histogram: bounds, then edges, then scale

    def is_open(self, name: str) -> bool:
        """Whether a field still has to be learnt."""
        return getattr(self, name) == "learn"

    @property
    def learns(self) -> int:
        edges = self.bin_count - 1 if self.is_open("edges") else 0
        return 2 * self.is_open("bounds") + edges + 2 * self.is_open("scale")

    def bin_of(self, cells: Cells, bins: int) -> NDArray[np.int64]:
        """The cells of `noisy_histogram.cell_edges`; numbers outside are in the end cells, NaN in
        none."""
        low, high = self.range
        values = cells.numbers()
        known = ~np.isnan(values)
        inner = cell_edges(low, high, bins)[1:-1]
        found = np.full(len(values), -1, dtype=np.int64)
        found[known] = np.searchsorted(inner, values[known], side="right")
        return found

    def learnt_from(self, noisy: NDArray[np.float64], noise: float, rows: int) -> tuple[float, ...]:
        return learnt_numbers(self, noisy, noise, rows)

    def with_learnt(self, numbers: tuple[float, ...]) -> Numeric:
        return Numeric(**with_numbers(self, numbers))

    def learnt_words(self, made: Self) -> str:
        found = []
        if self.is_open("bounds"):
            found.append("bounds {:.6g} to {:.6g}".format(*made.range))
        if self.is_open("edges"):
            cuts = ", ".join(f"{cut:.6g}" for cut in made.bin_edges)
            found.append(f"edges {cuts}")
        if self.is_open("scale") and isinstance(made.scale, tuple):
            shift, width = made.scale
            found.append(f"mean {shift:.6g}, standard deviation {width / 2:.6g}")
        return "; ".join(found)

    def problems(self, cells: Cells) -> CellProblems:
        return CellProblems.of_numbers(cells, *self.range, self.distinct(cells))

    def unfit(self, cells: Cells) -> NDArray[np.bool_]:
        return unreadable(cells)

    # Texts

    @property
    def encoding_words(self) -> str:
        if self.is_spline:
            return f"as a curve of {self.bin_count} pieces"
        if not self.has_bins:
            return "as a number" + (", learnt scale" if self.is_open("scale") else "")
        named = {"learn": "learnt", "log": "logarithmic", "sqrt": "square-root"}
        kind = "given" if isinstance(self.edges, tuple) else named.get(self.edges or "", "equal")
        return f"{'as a number and ' if self.has_number else ''}in {self.bin_count} {kind} bins"

    def describe(self) -> str:
        low, high = self.range
        bins = f", in {self.bin_count} bins" if self.has_bins else ""
        bins = f", as a curve of {self.bin_count} pieces" if self.is_spline else bins
        return f"{'learnt within ' if self.is_open('bounds') else ''}{low:g} to {high:g}{bins}"

    @classmethod
    def infer(cls, name: str, cells: Cells) -> Numeric | None:
        """Suits cells that are all numbers or missing."""
        bounds = inferred_bounds(cells)
        return None if bounds is None else cls(name=name, bounds=bounds)


def _root_spaced(shares: NDArray[np.float64], low: float, high: float) -> list[float]:
    """Numbers at equal steps of the square root of the distance from 0, or the end next to 0."""
    if low < 0 < high:
        ends = -np.sqrt(-low), np.sqrt(high)
        steps = ends[0] + (ends[1] - ends[0]) * shares
        return list(np.sign(steps) * steps**2)
    if low >= 0:
        return list(low + (high - low) * shares**2)
    return list(high - (high - low) * shares[::-1] ** 2)


def _log_spaced(shares: NDArray[np.float64], low: float, high: float) -> list[float]:
    """Numbers at equal steps of log(1 + steepness x): narrow near 0, or near the end next to 0."""
    if low < 0 < high:
        reach = max(-low, high)
        ends = [np.sign(end) * np.log1p(LOG_STEEPNESS * abs(end) / reach) for end in (low, high)]
        steps = ends[0] + (ends[1] - ends[0]) * shares
        return list(np.sign(steps) * np.expm1(np.abs(steps)) / LOG_STEEPNESS * reach)
    grown = np.expm1(shares * np.log1p(LOG_STEEPNESS)) / LOG_STEEPNESS
    if low >= 0:
        return list(low + (high - low) * grown)
    return list(high - (high - low) * grown[::-1])


def inferred_bounds(cells: Cells) -> tuple[float, float] | None:
    """The range of cells that are all numbers or missing; None if some are text. Sensitive."""
    values = cells.numbers()
    known = values[~np.isnan(values)]
    if len(known) < cells.filled():
        return None
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 1.0)
    low, high = max(low, -1e300), min(high, 1e300)
    return (low, high) if low < high else (low - 0.5 - abs(low) / 2, high + 0.5 + abs(high) / 2)
