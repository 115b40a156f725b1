"""`Date`: a date or a time, as a position between two dates and as parts of the calendar.

A year that no row has, such as next year, would get a weight of pure noise. So years are counted
with noise like the categories of a `Categorical`, and one with too few rows is told by the position
alone.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import cached_property
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from honestdp.schema.blocks import Entries
from honestdp.schema.cell_problems import CellProblems
from honestdp.schema.cells import Cells
from honestdp.schema.fields import Flag, Text
from honestdp.schema.kinds.base import CellLists, Column, column_kinds
from honestdp.schema.kinds.categorical import (
    FEW,
    Rare,
    check_rare,
    least_count,
    rare_ones,
    rare_words,
)

MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
MOST_YEARS = 100


@column_kinds.register
class Date(Column):
    """A column of dates, or of dates with a time.

    Encoded as the position between the first and the last date, from 0 to 1 (dates outside are
    clipped), and one-hot as year, month, weekday and, for times, hour. A cell that is missing or no
    date is all zeros. Time zones are ignored: the written time counts.

    Args:
        name: The column of the table.
        first: The earliest date, as 2020-01-31.
        last: The latest date.
        format: How cells are written, in the letters of Python's `strptime`, such as "%d.%m.%Y". By
            default ISO 8601: 2020-01-31, or 2020-01-31 18:30.
        time: Whether cells have a time, whose hour is encoded.
        rare: The years that have too few rows for a weight of their own, as texts; or "learn" or
            "keep", as for `Categorical`.

    Example:
        >>> Date(name="admitted", first="2020-01-01", last="2024-12-31").width
        25
    """

    label: ClassVar[str] = "date"
    form: ClassVar[tuple[str, ...]] = (
        'kind = "date"',
        'first = "2020-01-01"',
        'last = "2029-12-31"',
    )
    form_help: ClassVar[tuple[str, ...]] = (
        'time = true: the hour too; format = "%d.%m.%Y" if not as 2020-01-31',
    )
    remedies: ClassVar[dict[str, str]] = {
        "first": 'give the earliest date, such as "2020-01-31"',
        "last": 'give the latest date, such as "2029-12-31"',
        "format": 'give letters of strptime, such as "%d.%m.%Y"',
        "time": "must be true or false",
        "rare": 'must be "learn", "keep" or a list of years',
    }
    added_fields: ClassVar[frozenset[str]] = frozenset({"rare"})
    question: ClassVar[str] = "categories"
    tells_order: ClassVar[bool] = True

    kind: Literal["date"] = "date"
    first: Text
    last: Text
    format: Text | None = None
    time: Flag = False
    rare: Rare = None

    @model_validator(mode="after")
    def _check(self) -> Date:
        for name in ("first", "last"):
            if _iso(getattr(self, name)) is None:
                raise ValueError(f"{name} = {getattr(self, name)[:30]!r}: give it as 2020-01-31")
        if not self._ends[0] < self._ends[1]:
            raise ValueError(f"first = {self.first}: must be before last = {self.last}")
        if len(self._years) > MOST_YEARS:
            raise ValueError(f"first and last: more than {MOST_YEARS} years; choose a shorter time")
        if self.format is not None and not _can_be_read(self.format):
            raise ValueError(f"format = {self.format[:30]!r}: {self.remedies['format']}")
        check_rare(self.rare, [str(year) for year in self._years])
        return self

    @cached_property
    def _ends(self) -> tuple[datetime, datetime]:
        first, last = _iso(self.first), _iso(self.last)
        assert first is not None
        assert last is not None
        return first, last

    @property
    def _years(self) -> range:
        return range(self._ends[0].year, self._ends[1].year + 1)

    @property
    def encoded_names(self) -> list[str]:
        parts = [*map(str, self._years), *MONTHS, *WEEKDAYS]
        parts += [f"{hour:02d}h" for hour in range(24)] if self.time else []
        return [self.name, *(f"{self.name} {part}" for part in parts)]

    @property
    def entries(self) -> int:
        return 5 if self.time else 4

    @property
    def squared_norm(self) -> float:
        return self.known_norm + 0.25

    @property
    def known_norm(self) -> float:
        return float(self.entries - 1)

    def encode(self, cells: Cells) -> Entries:
        known: dict[str, tuple[float, ...] | None] = {}
        starts = np.cumsum([0, 1, len(self._years), 12, 7])[: self.entries]
        parts = np.zeros((len(cells), self.entries))
        there = np.zeros(len(cells), dtype=bool)
        for i, text in enumerate(cells.texts()):
            if text is None:
                continue
            if text not in known:
                known[text] = self._parts(text)
            found = known[text]
            if found is not None:
                parts[i], there[i] = found, True
        positions = starts + parts.astype(np.int64) * (np.arange(self.entries) > 0)
        values = np.where(np.arange(self.entries) > 0, 1.0, parts) * there[:, None]
        values[:, 1] *= ~np.isin(positions[:, 1], list(self.never_used()))
        return Entries(positions, values)

    def never_used(self) -> dict[int, str]:
        return {1 + int(year) - self._years[0]: FEW for year in rare_ones(self.rare)}

    # What is learnt from a noisy histogram: which years have rows enough, 1 or 0 each

    def with_default_rare(self) -> Date:
        return self if self.rare is not None else self.model_copy(update={"rare": "learn"})

    @property
    def learns(self) -> int:
        return len(self._years) if self.rare == "learn" else 0

    def histogram_bins(self, bins: int) -> int:
        return len(self._years)

    def bin_of(self, cells: Cells, bins: int) -> NDArray[np.int64]:
        positions, values = self.model_copy(update={"rare": None}).encode(cells)
        return np.where(values[:, 1] > 0, positions[:, 1] - 1, -1)

    def learnt_from(self, noisy: NDArray[np.float64], noise: float, rows: int) -> tuple[float, ...]:
        return tuple((noisy >= least_count(noise, rows)).astype(float).tolist())

    def with_learnt(self, numbers: tuple[float, ...]) -> Date:
        rare = tuple(str(y) for y, kept in zip(self._years, numbers, strict=True) if not kept)
        return self.model_copy(update={"rare": rare})

    def learnt_words(self, made: Self) -> str:
        return rare_words(rare_ones(made.rare), "told by the position alone", "year")

    def _date(self, text: str) -> datetime | None:
        """The date that a cell means; None: it is none."""
        return _iso(text) if self.format is None else _written_as(text, self.format)

    def _parts(self, text: str) -> tuple[float, ...] | None:
        """Position, year, month, weekday and hour of a cell, as numbers from 0; None: no date."""
        found = self._date(text)
        if found is None:
            return None
        first, last = self._ends
        inside = min(max(found, first), last)
        share = (inside - first) / (last - first)
        parts = (share, inside.year - first.year, found.month - 1, found.weekday(), found.hour)
        return parts[: self.entries]

    def made_up(self, rows: int, source: np.random.RandomState) -> CellLists:
        """Dates between the first and the last, written as declared."""
        first, last = self._ends
        exact = self.time or any(end.time() != datetime.min.time() for end in self._ends)
        spread = (last - first) / timedelta(seconds=1)
        moments = [first + timedelta(seconds=s) for s in (source.random_sample(rows) * spread) // 1]
        if self.format is not None:
            return {self.name: [moment.strftime(self.format) for moment in moments]}
        texts = [str(moment) for moment in moments]
        return {self.name: texts if exact else [text[:10] for text in texts]}

    def problems(self, cells: Cells) -> CellProblems:
        first, last = self._ends
        texts = cells.texts()
        dates = [date for text in texts if text and (date := self._date(text))]
        return CellProblems(
            rows=len(texts),
            missing=texts.count(None),
            unreadable=int(self.unfit(cells).sum()),
            outside=sum(not first <= date <= last for date in dates),
            distinct_capped=self.distinct(cells),
        )

    def unfit(self, cells: Cells) -> NDArray[np.bool_]:
        return np.array(
            [text is not None and self._date(text) is None for text in cells.texts()], np.bool_
        )

    @property
    def encoding_words(self) -> str:
        return "as position, year, month, weekday" + (" and hour" if self.time else "")

    def describe(self) -> str:
        return f"{self.first} to {self.last}"


def _iso(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None


def _can_be_read(form: str) -> bool:
    """Whether dates can be written and read in this format: a wrong one raises (a letter that is
    there twice) or fails for every cell, and that must not first be seen in the rows."""
    try:
        datetime.strptime(datetime(2020, 2, 28, 18, 30).strftime(form), form)
    except Exception:  # also `re.error`
        return False
    return True


def _written_as(text: str, form: str) -> datetime | None:
    try:
        return datetime.strptime(text, form).replace(tzinfo=None)
    except (ValueError, OverflowError, TypeError):
        return None
