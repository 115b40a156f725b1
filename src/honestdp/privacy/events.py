"""What touches the data, as frozen values.

An event describes what a mechanism did, never the data it read. `guarantee` prices it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from honestdp.errors import between, fail, instance, positive_integer, unit
from honestdp.privacy.run_count import RunCount
from honestdp.units import LARGEST_NOISE

LEAST_NOISE, MOST_NOISE = (
    1e-6,
    LARGEST_NOISE,
)  # outside, no bound is finite, or noise cannot be drawn


def checked_noise(value: object) -> float:
    """A noise multiplier the accounting can price.

    Always a float: dp-accounting 0.6 silently drops counts for integer multipliers.
    """
    return between(LEAST_NOISE, MOST_NOISE, "noise_multiplier", value)


class Event:
    """Base of all events; compare and hash by value."""


@dataclass(frozen=True)
class Gaussian(Event):
    """A query of l2 sensitivity S answered with N(0, (noise_multiplier * S)^2) noise."""

    noise_multiplier: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "noise_multiplier", checked_noise(self.noise_multiplier))


@dataclass(frozen=True)
class PoissonGaussian(Event):
    """A `Gaussian` on a lot that holds each record independently with sampling_probability."""

    sampling_probability: float
    noise_multiplier: float

    def __post_init__(self) -> None:
        q = unit("sampling_probability", self.sampling_probability)
        object.__setattr__(self, "sampling_probability", q)
        object.__setattr__(self, "noise_multiplier", checked_noise(self.noise_multiplier))


@dataclass(frozen=True)
class Pure(Event):
    """Anything that is (epsilon, 0)-DP, such as one choice by the exponential mechanism."""

    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", between(1e-9, 1e6, "epsilon", self.epsilon))


@dataclass(frozen=True)
class Repeated(Event):
    """`count` independent runs of one event, all released; each may depend on those before."""

    event: Event
    count: int

    def __post_init__(self) -> None:
        _check_event("event", self.event)
        object.__setattr__(self, "count", positive_integer("count", self.count))


@dataclass(frozen=True)
class Composition(Event):
    """Several events on the same records, all released."""

    events: tuple[Event, ...]

    def __init__(self, *events: Event) -> None:
        for event in events:
            _check_event("events", event)
        object.__setattr__(self, "events", tuple(events))


@dataclass(frozen=True)
class Disjoint(Event):
    """Events on disjoint parts of the table, split by public row numbers.

    A record is in one part only, so the cost is the largest of the parts' costs.
    """

    parts: tuple[Event, ...]

    def __init__(self, *parts: Event) -> None:
        if not parts:
            raise fail("parts", parts, "give at least one event")
        for part in parts:
            _check_event("parts", part)
        object.__setattr__(self, "parts", tuple(parts))


@dataclass(frozen=True)
class Selection(Event):
    """K independent runs of one event, K drawn from `runs`; only the best-scored is released."""

    event: Event
    runs: RunCount

    def __post_init__(self) -> None:
        _check_event("event", self.event)
        instance(RunCount, "runs", self.runs, "geometric(0.025)")


def training(sampling_probability: float, noise_multiplier: float, steps: int) -> Event:
    """One private training: `steps` noisy sums over independent Poisson lots."""
    return Repeated(PoissonGaussian(sampling_probability, noise_multiplier), steps)


def shared_lots(
    sampling_probability: float, noise_multiplier: float, steps: int, candidates: int
) -> Event:
    """`candidates` trainings that read the *same* lots with independent noise.

    The k answers on one lot are one Gaussian query with multiplier sigma / sqrt(k), so
    sampling amplifies them once, not k times: this costs more than independent lots. Best-of-K
    has no such formula; honestdp always draws independent lots, and prices this for comparison.
    """
    multiplier = noise_multiplier / sqrt(positive_integer("candidates", candidates))
    return training(sampling_probability, multiplier, steps)


def _check_event(name: str, value: object) -> None:
    instance(Event, name, value, "training(0.01, 4.0, 1000)")
