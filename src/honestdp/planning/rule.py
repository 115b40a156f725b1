"""`Rule`: how a procedure, and its law of K, follow from the number of candidates.

It is what was asked for, in public facts. A card carries it, so that what the same search would
have cost among more or fewer candidates can be worked out from the card alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from honestdp.errors import fail
from honestdp.planning.procedures import (
    ComposeAll,
    Procedure,
    RandomRepeats,
    RandomStopping,
    SubsetTuning,
    Threshold,
    Untuned,
)
from honestdp.planning.spec import AUTO, OPTIONS, Spec
from honestdp.privacy.calibrate import Shape, run_count, stopping_probability
from honestdp.privacy.runs import Capped

HIT_PROBABILITY = 0.9  # what "auto" wants, if the user does not say
SUBSET = 0.1


@dataclass(frozen=True)
class Rule:
    """The name of a procedure and its options; None where it was not asked for (see `Spec`)."""

    name: str
    hit_probability: float | None = None
    mean_runs: float | None = None
    shape: Shape | None = None
    cap: int | None = None
    subset: float | None = None
    scores: bool | None = None

    @classmethod
    def asked(cls, spec: Spec) -> Rule:
        """Of a spec that names its procedure."""
        options = {name: getattr(spec, name) for name in _OPTIONS}
        return cls(spec.procedure, **options)

    @classmethod
    def behind(cls, spec: Spec, chosen: Procedure) -> Rule:
        """Of a procedure that was planned: as asked for, or as "auto" chose it."""
        if spec.procedure != AUTO:
            return cls.asked(spec)
        if isinstance(chosen, (Untuned, ComposeAll)):
            return cls(chosen.name)
        return cls(chosen.name, wanted(spec), shape=chosen.shape)

    def procedure(self, candidates: int) -> Procedure:
        """The procedure among so many candidates."""
        if self.name == Untuned.name:
            return Untuned(candidates)
        if self.name == ComposeAll.name:
            return ComposeAll(candidates, self.scores is not False)
        if self.name in (RandomStopping.name, Threshold.name):
            gamma = stopping_probability(candidates, self.hit_probability, self.mean_runs)
            if self.name == Threshold.name:
                return Threshold(candidates, gamma, self.cap)
            return RandomStopping(candidates, gamma)
        shape: Shape = 1.0 if self.shape is None else self.shape
        law = run_count(shape, candidates, self.hit_probability, self.mean_runs)
        if self.cap is not None:
            law = Capped(law, self.cap)
        if self.name == RandomRepeats.name:
            return RandomRepeats(candidates, law)
        if self.name == SubsetTuning.name:
            return SubsetTuning(candidates, law, SUBSET if self.subset is None else self.subset)
        raise fail("procedure", self.name, f"must be one of {', '.join(OPTIONS)}")


_OPTIONS = ("hit_probability", "mean_runs", "shape", "cap", "subset", "scores")


def wanted(spec: Spec) -> float:
    """How often "auto" wants the best setting to be tried."""
    return HIT_PROBABILITY if spec.hit_probability is None else spec.hit_probability
