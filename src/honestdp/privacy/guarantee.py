"""From events to a Renyi curve, a privacy profile and (epsilon, delta).

    rdp_curve(event)             the Renyi curve, for composing with other spending
    profile(event)               delta(epsilon), the tightest known
    epsilon(event, delta, how)   how: "rdp-classic" (the paper's), "rdp" or "pld"
    delta(event, epsilon)        the profile at one point

"pld" answers by privacy loss distributions where they can, by the Renyi curve where they
cannot (delta near the arithmetic's own error, selections inside a composition).
"""

from __future__ import annotations

import math
from collections import Counter
from functools import lru_cache, reduce
from typing import Literal

from honestdp.errors import fail, not_negative, open_unit
from honestdp.privacy import curve as curves
from honestdp.privacy import profile as profiles
from honestdp.privacy import selection
from honestdp.privacy.curve import RdpCurve
from honestdp.privacy.events import (
    Composition,
    Disjoint,
    Event,
    Gaussian,
    PoissonGaussian,
    Pure,
    Repeated,
    Selection,
)
from honestdp.privacy.profile import Profile

Accountant = Literal["rdp-classic", "rdp", "pld"]


@lru_cache(maxsize=512)
def rdp_curve(event: Event) -> RdpCurve:
    """The Renyi curve of an event, both directions of neighbours."""
    atoms = _atoms(event)
    return reduce(RdpCurve.__add__, (_atom_curve(atom, count) for atom, count in atoms.items()))


def _atom_curve(atom: Event, count: int) -> RdpCurve:
    match atom:
        case Gaussian(sigma):
            return curves.gaussian(sigma) * count
        case PoissonGaussian(q, sigma):
            return curves.sampled_gaussian(q, sigma, count)
        case Pure(epsilon):
            return curves.pure(epsilon) * count
        case Disjoint(parts):
            # Sum of maxima: right whether or not the split is the same each time.
            return reduce(RdpCurve.maximum, (rdp_curve(Repeated(part, count)) for part in parts))
        case Selection(event, runs):
            return selection.best_of_curve(rdp_curve(event), profile(event), runs) * count
    raise fail("event", atom, "is not an event this accounting knows")


@lru_cache(maxsize=128)
def profile(event: Event) -> Profile:
    """The tightest privacy profile known for an event."""
    atoms = _atoms(event)
    if is_gaussian(event):
        losses = profiles.loss_distribution(tuple(_sampled(a, c) for a, c in atoms.items()))
        if losses is not None:
            return profiles.FallbackProfile(losses, lambda: rdp_curve(event))
    (atom, count), *others = atoms.items()
    match atom:
        case Selection(run, runs) if count == 1 and not others:
            return profiles.TightestProfile(
                selection.profile_bound(profile(run), runs),
                profiles.CurveProfile(rdp_curve(event)),
            )
        case Pure(epsilon) if count == 1 and not others:
            return profiles.PureProfile(epsilon)
        case Disjoint(parts) if count == 1 and not others:
            return profiles.LargestProfile(*(profile(part) for part in parts))
    return profiles.CurveProfile(rdp_curve(event))


@lru_cache(maxsize=512)
def integer_curve(event: Event, delta: float) -> RdpCurve:
    """The Renyi curve of trainings and Gaussians at the integer orders 2, 3, ... without a gap,
    as far as useful at this delta: what `selection.subset_tuning` reads."""
    parts = [
        curves.sampled_gaussian_integers(*_sampled(atom, count), delta)
        for atom, count in _atoms(event).items()
    ]
    return reduce(RdpCurve.__add__, parts)


def epsilon(event: Event, delta: float, accountant: Accountant = "pld") -> float:
    """The epsilon of an event at this delta. Always finite: else an error."""
    open_unit("delta", delta)
    match accountant:
        case "rdp-classic":
            found = rdp_curve(event).epsilon(delta, "classic")
        case "rdp":
            found = rdp_curve(event).epsilon(delta, "improved")
        case "pld":
            found = profile(event).epsilon(delta)
        case _:
            raise fail("accountant", accountant, 'choose "rdp-classic", "rdp" or "pld"')
    if not math.isfinite(found):
        raise fail("delta", delta, f"no finite epsilon can be shown ({accountant}); add noise")
    return found


def delta(event: Event, epsilon: float) -> float:
    """The delta of an event at this epsilon >= 0, by its profile."""
    not_negative("epsilon", epsilon)
    return profile(event).delta(epsilon)


def is_gaussian(event: Event) -> bool:
    """Whether an event is made of Gaussians, sampled or not: loss distributions compose them."""
    return all(isinstance(atom, Gaussian | PoissonGaussian) for atom in _atoms(event))


def gaussian_noise(event: Event) -> float:
    """The noise of the one Gaussian that unsampled Gaussians compose to: (sum 1/s_i^2)^(-1/2)."""
    precision = math.fsum(
        count / _sampled(atom, count)[1] ** 2 for atom, count in _atoms(event).items()
    )
    return 1 / math.sqrt(precision)


def _atoms(event: Event) -> Counter[Event]:
    """An event taken apart to what cannot be taken apart, with how often each happens.

    Equal parts are counted together, so k times e and e, ..., e are the same by construction.
    """
    if event == Composition():
        raise fail("event", event, "holds nothing that touches the data")
    match event:
        case Repeated(inner, count):
            return Counter({atom: n * count for atom, n in _atoms(inner).items()})
        case Composition(events):
            return sum((_atoms(inner) for inner in events), Counter())
        case PoissonGaussian(q, sigma) if q == 1:
            return Counter({Gaussian(sigma): 1})
    return Counter({event: 1})


def _sampled(atom: Event, count: int) -> tuple[float, float, int]:
    match atom:
        case Gaussian(sigma):
            return 1.0, sigma, count
        case PoissonGaussian(q, sigma):
            return q, sigma, count
    raise fail("event", atom, "is not a Gaussian")
