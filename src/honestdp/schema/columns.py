"""What is declared of each column: its kind, and how its cells become numbers.

Everything here is public and known without looking at the rows. A numeric column is scaled from
its bounds to [0, 1]; a categorical column becomes one 0/1 column per declared category, plus one
for everything else where `other` is on.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from honestdp.schema.problems import Declaration


def _number(value: Any) -> Any:
    """A whole number too large for a float is refused like any other wrong value."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 1e300:
        return None
    return value


def _word(value: Any) -> Any:
    """Categories may be written as numbers or true/false; they are words from then on."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and abs(value) < 1e300:
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return written(value)
    return value


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def written(value: float) -> str:
    """A finite number as text: whole numbers without a point."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


Number = Annotated[
    float, BeforeValidator(_number), Field(strict=True, allow_inf_nan=False, ge=-1e300, le=1e300)
]
Text = Annotated[str, StringConstraints(strict=True)]
Name = Annotated[str, StringConstraints(strict=True, strip_whitespace=True)]
Word = Annotated[str, BeforeValidator(_word), StringConstraints(strict=True, strip_whitespace=True)]
Words = Annotated[tuple[Word, ...], BeforeValidator(_tuple), Field(strict=True)]
Pair = Annotated[tuple[Number, Number], BeforeValidator(_tuple), Field(strict=True)]


class Numeric(Declaration):
    """Numbers between public bounds.

    bounds: [low, high], scaled to [0, 1], cells outside clipped to the nearer bound; or "learn":
        paid for with `learn_bounds` before anything can be encoded.
    outer: for "learn" only: the range the bounds surely lie in.
    quantiles: for "learn" only: at which quantiles of the cells the bounds are put; (0.01, 0.99)
        where they are not declared.
    missing: the value of a cell that is missing, not a number, or not finite; the middle of the
        bounds where it is not declared.
    """

    kind: Literal["numeric"] = "numeric"
    name: Name
    bounds: Pair | Literal["learn"]
    outer: Pair | None = None
    quantiles: Pair | None = None
    missing: Number | None = None

    @model_validator(mode="after")
    def _check(self) -> Numeric:
        if self.learn and self.outer is None:
            raise ValueError('bounds = "learn" needs outer = [low, high], declared without looking')
        if not self.learn and (self.outer or self.quantiles):
            raise ValueError('outer and quantiles are for bounds = "learn"; remove them')
        check_pair("outer" if self.learn else "bounds", self.range)
        low, high = self.learn_quantiles
        if not 0 <= low < high <= 1:
            raise ValueError(f"quantiles = [{low:g}, {high:g}]: needs 0 <= low < high <= 1")
        low, high = self.range
        if self.missing is not None and not low <= self.missing <= high:
            raise ValueError(f"missing = {self.missing:g} must lie in [{low:g}, {high:g}]")
        return self

    @property
    def learn(self) -> bool:
        return self.bounds == "learn"

    @property
    def range(self) -> tuple[float, float]:
        """The bounds; the outer range as long as they are not learnt."""
        chosen = self.outer if isinstance(self.bounds, str) else self.bounds
        assert chosen is not None  # checked above
        return chosen

    @property
    def learn_quantiles(self) -> tuple[float, float]:
        return self.quantiles or (0.01, 0.99)

    @property
    def missing_value(self) -> float:
        low, high = self.range
        return low + (high - low) / 2 if self.missing is None else self.missing

    @property
    def encoded(self) -> list[str]:
        return [self.name]


class Categorical(Declaration):
    """One of a list of words.

    categories: compared with the cells without surrounding white space, then as numbers (1, 1.0,
        " 1 " and "1" are the same; true is 1, false is 0).
    other: one more bin, for every word that is not declared. Without it such a cell is all zeros.
    missing: the category of a missing cell; where it is not declared, `other`, or all zeros.
    """

    kind: Literal["categorical"] = "categorical"
    name: Name
    categories: Words
    other: Annotated[bool, Field(strict=True)] = False
    missing: Word | None = None

    @model_validator(mode="after")
    def _check(self) -> Categorical:
        check_words("categories", self.categories, least=1)
        if self.missing is not None and self.missing not in self.categories:
            raise ValueError(f"missing = {self.missing!r} must be one of the categories")
        return self

    @property
    def encoded(self) -> list[str]:
        names = [f"{self.name}={category}" for category in self.categories]
        return [*names, f"{self.name} (other)"] if self.other else names


Column = Annotated[Numeric | Categorical, Field(discriminator="kind")]


class Target(Declaration):
    """What is predicted: a class (`classes`), or a number between public `bounds`.

    Class k is the k-th declared; a cell that is none of them becomes -1. A number is clipped to the
    bounds and scaled to [-1, 1], so that a model that says 0 says the middle; a cell that is no
    finite number becomes NaN. Such rows keep their place and count for nothing in training.
    """

    column: Name
    classes: Words | None = None
    bounds: Pair | None = None

    @model_validator(mode="after")
    def _check(self) -> Target:
        if (self.classes is None) == (self.bounds is None):
            raise ValueError("give either classes = [...] or bounds = [low, high]")
        if self.classes is not None:
            check_words("classes", self.classes, least=2)
        if self.bounds is not None:
            check_pair("bounds", self.bounds)
        return self


def check_pair(name: str, pair: tuple[float, float]) -> None:
    low, high = pair
    if not low < high:
        raise ValueError(f"{name} = [{low:g}, {high:g}]: needs low < high")


def check_words(name: str, words: tuple[str, ...], least: int) -> None:
    if len(words) < least:
        raise ValueError(f"{name} = {list(words)}: needs at least {least}")
    seen: set[str] = set()
    for word in words:
        if not word:
            raise ValueError(f'{name} holds an empty word: an empty cell is missing; use "missing"')
        if word in seen:
            raise ValueError(f"{name} holds {word[:60]!r} twice: keep one")
        seen.add(word)
