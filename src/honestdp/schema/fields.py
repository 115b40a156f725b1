"""Field types of declarations: numbers, names and categories, as pydantic checks them.

A kind of column, built in or your own, declares its fields with these, so that every kind refuses
the same wrong values with the same messages.
"""

from __future__ import annotations

import math
import warnings
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StringConstraints


def _number(value: Any) -> Any:
    """Refuse an integer that is too large for a float, like any other wrong value."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 1e300:
        return None
    return value


def _category(value: Any) -> Any:
    """Convert a category written as a number or a boolean to text."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and abs(value) < 1e300:
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return written(value)
    return value


def as_tuple(value: Any) -> Any:
    """Convert a list, as files hold it, to a tuple."""
    return tuple(value) if isinstance(value, list) else value


def written(value: float) -> str:
    """A finite number as text: whole numbers without a point."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(value)


Number = Annotated[
    float, BeforeValidator(_number), Field(strict=True, allow_inf_nan=False, ge=-1e300, le=1e300)
]
Text = Annotated[str, StringConstraints(strict=True)]
Name = Annotated[str, StringConstraints(strict=True, strip_whitespace=True)]
Category = Annotated[
    str, BeforeValidator(_category), StringConstraints(strict=True, strip_whitespace=True)
]
Categories = Annotated[tuple[Category, ...], BeforeValidator(as_tuple), Field(strict=True)]
Pair = Annotated[tuple[Number, Number], BeforeValidator(as_tuple), Field(strict=True)]
Names = Annotated[tuple[Name, ...], BeforeValidator(as_tuple), Field(strict=True)]
Flag = Annotated[bool, Field(strict=True)]


def check_pair(name: str, pair: tuple[float, float]) -> None:
    """Raise ValueError unless the first number is below the second."""
    low, high = pair
    if not low < high:
        raise ValueError(f"{name} = [{low:g}, {high:g}]: needs low < high")


def check_categories(
    name: str, categories: tuple[str, ...], least: int, ignore_case: bool = False
) -> None:
    """Raise ValueError if there are fewer than `least` categories, an empty one, or one twice;
    `ignore_case`: also if two differ in upper and lower case alone."""
    if len(categories) < least:
        raise ValueError(f"{name} = {list(categories)}: needs at least {least}")
    seen: set[str] = set()
    folded: set[str] = set()
    for one in categories:
        if not one:
            raise ValueError(f'{name} holds an empty text: an empty cell is missing; use "missing"')
        if one in seen:
            raise ValueError(f"{name} holds {one[:60]!r} twice: keep one")
        if ignore_case and one.lower() in folded:
            raise ValueError(
                f"{name} holds {one[:60]!r} twice, but for upper and lower case: keep one, or "
                "leave ignore_case out"
            )
        seen.add(one)
        folded.add(one.lower())


# Old names, for a year after the version in which they were replaced (CONTRIBUTING.md).
_RENAMED = {"Word": "Category", "Words": "Categories", "check_words": "check_categories"}


def __getattr__(name: str) -> Any:
    if name not in _RENAMED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    now = _RENAMED[name]
    warnings.warn(f"{__name__}.{name} is now {now}", DeprecationWarning, stacklevel=2)
    return globals()[now]
