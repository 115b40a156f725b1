"""Events and laws of K as data: what ledgers and cards keep of them.

The names below are written into files that must be readable for as long as anyone keeps them. So:
never rename one, never give one another meaning; a kind with other fields gets a name of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any, Final

from honestdp.errors import InputError
from honestdp.privacy import events, runs

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
}
_NAMES = {kind: name for name, kind in KINDS.items()}


def to_dict(value: events.Event | runs.RunCount) -> dict[str, Any]:
    """An event or a law as texts, numbers, lists and dicts.

    A law that is not in the library is written as its class's name and repr, which identify it but
    do not allow it to be read back.

    Example:
        >>> to_dict(events.Gaussian(4.0))
        {'kind': 'gaussian', 'noise_multiplier': 4.0}
    """
    kind = _NAMES.get(type(value))
    if kind is None:
        return {"kind": f"own:{type(value).__name__}", "shown": repr(value)}
    assert is_dataclass(value)
    return {"kind": kind} | {one.name: _plain(getattr(value, one.name)) for one in fields(value)}


def _plain(value: Any) -> Any:
    if isinstance(value, (events.Event, runs.RunCount)):
        return to_dict(value)
    return [_plain(each) for each in value] if isinstance(value, tuple) else value


def from_dict(facts: Mapping[str, Any]) -> Any:
    """What `to_dict` was called on.

    Raises:
        InputError: If its kind is not one of `KINDS`.
    """
    kind = KINDS.get(str(facts.get("kind")))
    if kind is None:
        raise InputError(f"kind: {str(facts.get('kind'))[:60]!r} is not known to this version")
    given = {name: _made(value) for name, value in facts.items() if name != "kind"}
    if kind in (events.Composition, events.Disjoint):  # they take their parts one by one
        (parts,) = given.values()
        return kind(*parts)
    return kind(**given)


def _made(value: Any) -> Any:
    if isinstance(value, Mapping):
        return from_dict(value)
    return [_made(each) for each in value] if isinstance(value, list) else value
