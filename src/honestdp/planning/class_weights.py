"""Weights of classes in the loss: public numbers, never counted in the rows.

A weight multiplies a row's gradient before it is clipped, so it costs nothing
(`honestdp.engine.losses` has the theorem). "balanced" weights have the ratios of scikit-learn's, by
shares of the classes that are declared public: 1 / share.

Only ratios matter: weights are divided by the largest. A weight above 1 is mostly undone by the
clip, one below 1 is not: on Adult with 6 % of rare rows, balanced weights that are 1 on average
(8.3 and 0.53) gave a balanced accuracy of 0.61, and those divided by the largest (1 and 0.064) 0.78
(docs/metrics.md).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from honestdp.errors import InputError, between, fail, open_unit
from honestdp.units import WEIGHTS

NONE, BALANCED = "none", "balanced"
GIVEN = (1e-4, 1e4)  # the least and the largest weight that a user may give
ROUNDED = 0.01  # how far from 1 declared shares may add up
_SHARES = 'give class_shares={"no": 0.94, "yes": 0.06}, as far as they are public'

Weights = tuple[float, ...]


def checked_shares(shares: object, classes: Sequence[str] | None) -> dict[str, float]:
    """Check declared shares of classes.

    Args:
        shares: A share for each class.
        classes: The declared classes; None: the target is a number.

    Returns:
        The shares, in the order of the classes, adding up to 1.

    Raises:
        InputError: If a class has none, or they do not add up to 1.
    """
    found = _by_class("class_shares", shares, classes)
    if len(found) != len(classes or ()):
        missing = next(one for one in classes or () if one not in found)
        raise fail("class_shares", missing, "has no share; give one for every class")
    checked = {name: open_unit("class_shares", value) for name, value in found.items()}
    total = math.fsum(checked.values())
    if abs(total - 1) > ROUNDED:
        raise fail("class_shares", float(f"{total:.6g}"), "is their sum; must be 1")
    return {name: checked[name] / total for name in classes or ()}


def checked_weight(weight: object, classes: Sequence[str] | None) -> str | dict[str, float]:
    """Check what a spec gives as `class_weight`.

    Args:
        weight: "balanced", or a weight for each class.
        classes: The declared classes; None: the target is a number.

    Returns:
        "balanced", or the weights in the order of the classes; those not given are 1.

    Raises:
        InputError: If a class is unknown or a weight out of bounds.
    """
    if isinstance(weight, str) and classes is not None:
        return checked_name("class_weight", weight, (BALANCED,))
    found = _by_class("class_weight", weight, classes)
    checked = {name: between(*GIVEN, "class_weight", value) for name, value in found.items()}
    return {name: float(checked.get(name, 1.0)) for name in classes or ()}


def checked_name(name: str, weight: str, known: Sequence[str] = (NONE, BALANCED)) -> str:
    """Check weights that are given by name.

    Args:
        name: What they are given as, for the error.
        weight: The name.
        known: The names there are.
    """
    if weight not in known:
        listed = " or ".join(f'"{one}"' for one in known)
        raise fail(name, weight, f'must be {listed}; weights of single classes: {{"yes": 5.0}}')
    return weight


def weights(
    weight: str | Mapping[str, float] | None,
    classes: Sequence[str] | None,
    shares: Mapping[str, float] | None,
) -> Weights | None:
    """The weight of each class, as models take it, the largest 1; None if all are equal.

    Args:
        weight: As `checked_weight` returns it, or "none" or None.
        classes: The declared classes; None: the target is a number.
        shares: As `checked_shares` returns them.

    Raises:
        InputError: If balanced weights are wanted and shares are not declared.
    """
    if weight is None or weight == NONE:
        return None
    if classes is None:
        raise fail("class_weight", weight, "is of classes; this target is a number: leave it out")
    if isinstance(weight, str):
        if shares is None:
            raise fail("class_weight", weight, f"would count protected rows; {_SHARES}")
        found = [1 / shares[name] for name in classes]
    else:
        found = [weight[name] for name in classes]
    ratio = max(found) / min(found)
    if ratio > 1 / WEIGHTS[0]:
        remedy = f"is the largest share by the smallest; must be at most {1 / WEIGHTS[0]:g}"
        raise fail("class_shares", float(f"{ratio:.6g}"), remedy)
    return None if ratio == 1 else tuple(max(WEIGHTS[0], one / max(found)) for one in found)


def _by_class(name: str, given: object, classes: Sequence[str] | None) -> dict[str, Any]:
    """A number for classes; raises InputError if a class is unknown."""
    if classes is None:
        raise InputError(f"{name}: is of classes; this target is a number: leave it out")
    if not isinstance(given, Mapping) or not given:
        kind = f'a {type(given).__name__}; give a number by class, such as {{"{classes[-1]}": 5.0}}'
        raise InputError(f"{name}: is {kind}")
    unknown = [one for one in given if one not in classes]
    if unknown:
        known = ", ".join(map(str, classes))
        shown = unknown[0] if isinstance(unknown[0], (str, int, float)) else "?"
        raise fail(name, shown, f"is none of the declared classes: {known}")
    return dict(given)
