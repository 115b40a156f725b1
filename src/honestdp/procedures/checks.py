"""What the code of a procedure returns, checked before anything is planned with it.

A procedure may come from another package. If one of its methods fails or returns something else
than `Procedure` says, the user is told in one line, before anything is charged.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from numbers import Real
from typing import Any

from honestdp.errors import InputError, fail, one_line
from honestdp.privacy.curve import RdpCurve
from honestdp.privacy.events import Event
from honestdp.privacy.points import PricedProfile
from honestdp.privacy.profile import CurveProfile, Profile, TightestProfile
from honestdp.procedures.base import THEOREMS, Procedure


def made(kind: type[Procedure], candidates: int, options: Mapping[str, Any]) -> Procedure:
    """Make a procedure by its `make`, and check that it can be planned with.

    Args:
        kind: The class.
        candidates: Number of settings to choose among.
        options: Values of some of its options, checked; others are left out.

    Raises:
        InputError: If `make` fails or returns something else than a procedure, or if one of its
            bounds has no name or no text.
    """
    found = _called(kind, "make", candidates, kind.given_of(options))
    if not isinstance(found, Procedure):
        remedy = f"make returned a {type(found).__name__}; return the procedure"
        raise fail("procedure", kind.name, remedy)
    if not is_dataclass(found) or type(found).__hash__ is None:
        raise fail("procedure", kind.name, "must be a frozen dataclass: @dataclass(frozen=True)")
    _check_bounds(found)
    return found


def checked_variants(
    kind: type[Procedure], candidates: int, options: Mapping[str, Any]
) -> Sequence[Procedure]:
    """The procedures that `variants` of a kind returns.

    Args:
        kind: The class.
        candidates: Number of settings to choose among.
        options: As for `Procedure.variants`.

    Raises:
        InputError: If it cannot make one, or returns something else.
    """
    found: object = _called(kind, "variants", candidates, options)
    if not isinstance(found, Sequence) or not all(isinstance(one, Procedure) for one in found):
        remedy = f"variants returned a {type(found).__name__}; return a list of procedures"
        raise fail("procedure", kind.name, remedy)
    for one in found:
        _check_bounds(one)
    return found


def _called(kind: type[Procedure], method: str, candidates: int, options: Any) -> object:
    """What a class method that makes procedures returns; its errors as an InputError."""
    try:
        found: object = getattr(kind, method)(candidates, options)
        return found
    except InputError:
        raise
    except Exception as error:  # of a kind that is not in the library
        reason = one_line(error)
        remedy = f"{method} fails ({reason}); it may need an option that was not given"
        raise fail("procedure", kind.name, remedy) from error


def _check_bounds(procedure: Procedure) -> None:
    """The bounds are a tuple of names, and each has a text for the card."""
    bounds: object = procedure.bounds
    named = isinstance(bounds, tuple) and all(isinstance(bound, str) for bound in bounds)
    if not named or not bounds:
        remedy = f'bounds of {procedure.name} must be a tuple of names, such as ("pld",)'
        raise fail("bounds", bounds, remedy)
    for bound in procedure.bounds:
        try:
            words: object = procedure.theorem(bound)
        except KeyError:
            words = None
        if not isinstance(words, str):
            known = ", ".join(THEOREMS)
            remedy = f"is not one of {known}; give {procedure.name} a method theorem for its text"
            raise fail("bound", bound, remedy)


def priced(procedure: Procedure, bound: str, run: Event, final: Event, delta: float) -> float:
    """The epsilon that a procedure's `price` returns; infinite for NaN.

    Args:
        procedure: The procedure.
        bound: As for `Procedure.price`, like the others.
        run: What one candidate's run costs the record.
        final: What the training after the search costs it, where there is one.
        delta: The delta of the result.

    Raises:
        InputError: If it is not a number of at least 0.
    """
    found: object = procedure.price(bound, run, final, delta)
    if isinstance(found, bool) or not isinstance(found, Real):
        remedy = f"price returned a {type(found).__name__}; return epsilon, a float"
        raise fail("procedure", procedure.name, remedy)
    if found < 0:
        raise fail("procedure", procedure.name, "price returned a number below 0; see its theorem")
    return math.inf if math.isnan(found) else float(found)


def curve_of(procedure: Procedure, run: Event, final: Event, delta: float) -> RdpCurve:
    """The curve that a procedure's `curve` returns.

    Args:
        procedure: The procedure.
        run: As for `Procedure.curve`, like the others.
        final: What the training after the search costs it, where there is one.
        delta: The delta at which the curve will be used.

    Raises:
        InputError: If it is something else.
    """
    found: object = procedure.curve(run, final, delta)
    if not isinstance(found, RdpCurve):
        remedy = f"curve returned a {type(found).__name__}; return an RdpCurve"
        raise fail("procedure", procedure.name, remedy)
    return found


def profile_of(procedure: Procedure, run: Event, final: Event, delta: float) -> Profile:
    """A procedure's own `profile`; where it has none, what its prices and its curve say.

    Each of its bounds is a theorem that holds for it, whichever a plan is accounted by, so the
    smallest counts at each point.

    Args:
        procedure: The procedure.
        run: As for `Procedure.profile`, like the others.
        final: What the training after the search costs it, where there is one.
        delta: The delta of the plan.

    Raises:
        InputError: If a method returns something else than the contract says.
    """
    if _says_itself(type(procedure)):
        found: object = procedure.profile(run, final, delta)
        if isinstance(found, Profile):
            return found
        if found is not None:
            remedy = f"profile returned a {type(found).__name__}; return a Profile, or None"
            raise fail("procedure", procedure.name, remedy)

    def of(bound: str) -> Profile:
        return PricedProfile(lambda d: priced(procedure, bound, run, final, d))

    curve = CurveProfile(curve_of(procedure, run, final, delta))
    return TightestProfile(curve, *(of(bound) for bound in procedure.bounds))


def _says_itself(kind: type[Procedure]) -> bool:
    """Whether no class has a cost of its own below the one that has the profile: that would be the
    profile of another procedure."""

    def place(name: str) -> int:
        return next(i for i, one in enumerate(kind.__mro__) if name in vars(one))

    return all(place("profile") <= place(name) for name in ("price", "curve", "event"))
