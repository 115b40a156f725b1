"""Events and laws of K as data: what ledgers and cards keep of them.

The names below are written into files that must be readable for as long as anyone keeps them. So:
never rename one, never give one another meaning; a kind with other fields gets a name of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final, TypeVar

from honestdp.errors import InputError, fail
from honestdp.privacy import events, runs
from honestdp.privacy.run_count import RunCount

KINDS: Final[Mapping[str, type]] = {
    "gaussian": events.Gaussian,
    "poisson-gaussian": events.PoissonGaussian,
    "pure": events.Pure,
    "repeated": events.Repeated,
    "composition": events.Composition,
    "disjoint": events.Disjoint,
    "selection": events.Selection,
    "truncated-negative-binomial": runs.TruncatedNegativeBinomial,
    "poisson": runs.Poisson,
    "binomial": runs.Binomial,
    "capped": runs.Capped,
    "tabulated": runs.Tabulated,
}
_registered: dict[str, type] = {}

Law = TypeVar("Law", bound=type[RunCount])


def register_law(kind: str) -> Callable[[Law], Law]:
    """Give a law of one's own the name by which files keep it; a decorator of a frozen dataclass.

    Args:
        kind: The package and a name, with a dot between them. Files hold it for ever.

    Raises:
        InputError: If the name has no dot or is another law's, or the class is no frozen dataclass
            that derives from `RunCount`.

    Example:
        >>> @register_law("our_package.always")  # doctest: +SKIP
        ... @dataclass(frozen=True)
        ... class Always(RunCount):
        ...     times: int
    """
    if not isinstance(kind, str) or not all(kind.partition(".")):
        raise fail("kind", kind, "must be a package and a name, such as 'our_package.always'")

    def register(law: Law) -> Law:
        if not (isinstance(law, type) and issubclass(law, RunCount)):
            raise fail("law", law, f"{kind} must be a class that derives from RunCount")
        if not _is_frozen_dataclass(law):
            raise fail("law", law.__name__, "must be a dataclass with frozen=True")
        known = _registered.get(kind, law)
        if _full_name(known) != _full_name(law):
            raise fail("kind", kind, "is the name of another law; choose another")
        _registered[kind] = law
        return law

    return register


def _is_frozen_dataclass(kind: type) -> bool:
    # Its own, not an inherited one: the fields of a child would go unwritten.
    found = vars(kind).get("__dataclass_params__")
    return found is not None and bool(found.frozen)


def _full_name(kind: type) -> tuple[str, str]:
    return kind.__module__, kind.__qualname__  # a module that is loaded again defines it again


def _kinds() -> dict[str, type]:
    return {**_registered, **KINDS}


def to_dict(value: events.Event | RunCount) -> dict[str, Any]:
    """An event or a law as texts, numbers, lists and dicts.

    Raises:
        InputError: If no file can hold it: a law of one's own that is not registered, or one whose
            fields are not texts, numbers, laws or tuples of these.

    Example:
        >>> to_dict(events.Gaussian(4.0))
        {'kind': 'gaussian', 'noise_multiplier': 4.0}
    """
    name = next((name for name, kind in _kinds().items() if kind is type(value)), None)
    if name is None:
        own = type(value).__name__
        raise fail("law", own, "no file can hold it; name it by formats.register_law")
    assert is_dataclass(value)
    return {"kind": name} | {
        one.name: _plain(f"{name}.{one.name}", getattr(value, one.name)) for one in fields(value)
    }


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, (events.Event, RunCount)):
        return to_dict(value)
    if isinstance(value, tuple):
        return [_plain(name, each) for each in value]
    if value is not None and not isinstance(value, (bool, int, float, str)):
        raise fail(name, value, "no file can hold it; use texts, numbers, laws and tuples")
    return value


def from_dict(facts: Mapping[str, Any]) -> Any:
    """What `to_dict` was called on.

    Raises:
        InputError: If its kind is neither one of `KINDS` nor registered.
    """
    kind = _kinds().get(str(facts.get("kind")))
    if kind is None:
        raise InputError(
            f"kind: {str(facts.get('kind'))[:60]!r} is not known; import the package that has it"
        )
    given = {name: _made(value) for name, value in facts.items() if name != "kind"}
    if kind in (events.Composition, events.Disjoint):  # they take their parts one by one
        (parts,) = given.values()
        return kind(*parts)
    return kind(**given)


def _made(value: Any) -> Any:
    if isinstance(value, Mapping):
        return from_dict(value)
    return tuple(_made(each) for each in value) if isinstance(value, list) else value
