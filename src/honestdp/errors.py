"""The library's errors, and the checks of public parameters that raise them.

A message gives the parameter's name, its value and a remedy. Only public parameters may be shown:
nothing here may be called with a value read from data.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any


class InputError(ValueError):
    """A public parameter is wrong; the message is one line: name, value, remedy."""


class FolderError(InputError):
    """A run's folder cannot be read or written; the message says whether its charge stands."""


class BudgetError(InputError):
    """A plan costs more than the ledger has left. Nothing was spent."""


class MisfitError(InputError):
    """A table does not fit its schema, by noisy counts that are paid for; nothing was trained.

    The charge stands and pays for the next attempt; the message says how. facts: What was found,
    as texts and numbers: the reasons, the noisy counts, the charge, and how many checks are left.
    """

    def __init__(self, message: str, facts: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.facts: dict[str, Any] = dict(facts or {})


class SearchError(RuntimeError):
    """A paid search failed. The message gives only the type of the error, to protect the data."""


class PredictionWarning(UserWarning):
    """Rows to predict have cells that the schema does not expect; the message has counts alone."""


class Interrupted(KeyboardInterrupt):
    """A run was interrupted and can be resumed; the message says how."""


def fail(name: str, value: object, remedy: str) -> InputError:
    """Make an `InputError` of the form `name=value: remedy`."""
    return InputError(f"{name}={_shown(value)}: {remedy}")


def one_line(error: Exception) -> str:
    """The type and text of an error in one line of at most 200 characters. Only for an error that
    code of a user raised on public or made-up values."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


def seed_and_ledger(name: str, seed: object) -> InputError:
    """The error for a seed and a ledger together; name: what the caller calls the seed."""
    return fail(name, seed, "makes a simulation, which no ledger pays for; leave one out")


def _shown(value: object) -> str:
    """The repr of a text or a number, shortened; only the type of anything else, as it may be a
    table that was given by mistake."""
    if value is not None and not isinstance(value, (str, Real)):
        return f"<{type(value).__name__}>"
    try:
        text = repr(value)
    except ValueError:  # Python converts no integer of more than 4300 digits
        return "a number of thousands of digits"
    return text if len(text) <= 200 else f"{text[:20]}...{text[-10:]} ({len(text)} characters)"


def positive_integer(name: str, value: object) -> int:
    number = _number(value)
    if number == math.inf and isinstance(value, int):
        raise fail(name, value, "must be below 1e308")
    if not (1 <= number < math.inf and number == int(number)):
        raise fail(name, value, "must be a whole number of at least 1")
    return value if isinstance(value, int) else int(number)  # a float loses digits above 2^53


def random_seed(name: str, value: object) -> int:
    """A seed of NumPy's generators."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not 0 <= int(value) < 2**32:
        raise fail(name, value, "must be a whole number from 0 to 4294967295")
    return int(value)


def positive(name: str, value: object) -> float:
    return above(0, name, value)


def above(limit: float, name: str, value: object) -> float:
    number = _number(value)
    if not limit < number < math.inf:
        raise fail(name, value, f"must be a finite number above {limit:g}")
    return number


def not_negative(name: str, value: object) -> float:
    number = _number(value)
    if not 0 <= number < math.inf:
        raise fail(name, value, "must be a finite number of at least 0")
    return number


def open_unit(name: str, value: object) -> float:
    number = _number(value)
    if not 0 < number < 1:
        raise fail(name, value, "must lie strictly between 0 and 1")
    return number


def unit(name: str, value: object) -> float:
    number = _number(value)
    if not 0 < number <= 1:
        raise fail(name, value, "must be above 0 and at most 1")
    return number


def between(least: float, most: float, name: str, value: object) -> float:
    number = _number(value)
    if not least <= number <= most:
        raise fail(name, value, f"must be a number between {least:g} and {most:g}")
    return number


def text(name: str, value: object) -> str:
    if not isinstance(value, str) or not value:
        raise fail(name, value, "must be a text")
    return value


def true_or_false(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise fail(name, value, "must be True or False")
    return value


def instance(kind: type, name: str, value: object, example: str) -> None:
    """Raise InputError unless a value is an instance of a class."""
    if not isinstance(value, kind):
        raise fail(name, value, f"must be a {kind.__name__}, such as {example}")


def _number(value: object) -> float:
    """The value as a float; NaN, which fails every check, if it is not a number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:  # a whole number of 309 digits or more
        return math.inf if value == abs(value) else -math.inf
