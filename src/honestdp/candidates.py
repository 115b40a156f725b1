"""A candidate: one setting of everything about training that may be tuned. Numbers only.

All fields are public: they come from a grid or a distribution that was fixed before
the data was opened, never from the data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from honestdp.errors import between, fail, not_negative, positive
from honestdp.units import LARGEST_NOISE

# Learning rates of the rules that have a usual one; None: it must be given.
RULES: dict[str, float | None] = {
    "dpsgd": None,
    "dpmomentum": None,
    "dpadam": 1e-3,
    "dpadamwosm": 1e-3,
    "adadp": 1e-3,
    "dpadambc": 1e-3,
    "balanced": None,
}
CLIPPINGS = ("norm", "automatic")
# Beyond, float32 cannot hold what is left of a gradient. A clip norm far above the gradients rounds
# them away, but never more than noise hides: a coordinate of a lot's sum loses at most L / 2^21 of
# the clip norm, and its noise is noise_multiplier times that norm.
CLIP_NORMS = (1e-12, 1e12)


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One setting to train.

    noise_multiplier: the noise's standard deviation over the sum's sensitivity (the paper's sigma).
    rule: the optimizer, a key of `RULES`.
    learning_rate: the rule's own default where it has one; for ADADP where its controller starts;
        set by the rule itself for "balanced".
    clip_norm: bound on one example's gradient (the paper's C). "automatic" clipping has none to
        tune: it normalises each gradient, and every formula uses 1.
    momentum (dpmomentum); beta1, beta2, stability (the Adam family); variance_floor (dpadambc).
    kappa, row_norm (balanced): by how much the noise of the whole training may move a typical
        logit, and the public root-mean-square norm of the input rows.
    initial_scale: times the model's usual initialisation (0: zeros); None: the model's own choice.
    average: release the mean of the second half's parameters instead of the last.
    """

    noise_multiplier: float
    rule: str = "dpadam"
    learning_rate: float | None = None
    clip_norm: float = 1.0
    clipping: str = "norm"
    momentum: float = 0.9
    beta1: float = 0.9
    beta2: float = 0.999
    stability: float = 1e-8
    variance_floor: float = 1e-8
    kappa: float = 2.0
    row_norm: float | None = None
    initial_scale: float | None = None
    average: bool = False

    def __post_init__(self) -> None:
        _one_of("rule", self.rule, RULES)
        _one_of("clipping", self.clipping, CLIPPINGS)
        between(0, LARGEST_NOISE, "noise_multiplier", self.noise_multiplier)
        between(*CLIP_NORMS, "clip_norm", self.clip_norm)
        for name in ("momentum", "beta1", "beta2"):
            if not not_negative(name, getattr(self, name)) < 1:
                raise fail(name, getattr(self, name), "must be at least 0 and below 1")
        for name in ("stability", "variance_floor", "kappa"):
            positive(name, getattr(self, name))
        if self.initial_scale is not None:
            not_negative("initial_scale", self.initial_scale)
        if not isinstance(self.average, bool):
            raise fail("average", self.average, "must be True or False")
        self._check_step_size()

    def _check_step_size(self) -> None:
        if self.rule == "balanced":
            if self.learning_rate is not None:
                raise fail(
                    "learning_rate", self.learning_rate, "balanced sets its own; leave it out"
                )
            if self.noise_multiplier == 0:
                raise fail(
                    "noise_multiplier", 0, "balanced needs noise above 0; take dpsgd without"
                )
            if self.row_norm is None:
                raise fail("row_norm", None, "balanced needs the public norm of the input rows")
            positive("row_norm", self.row_norm)
        elif self.learning_rate is not None:
            positive("learning_rate", self.learning_rate)
        elif RULES[self.rule] is None:
            raise fail("learning_rate", None, f"{self.rule} needs one; dpadam and balanced do not")

    @property
    def sensitivity(self) -> float:
        """The most one example can move the clipped sum."""
        return 1.0 if self.clipping == "automatic" else self.clip_norm


def _one_of(name: str, value: Any, known: Any) -> None:
    if not isinstance(value, str) or value not in known:
        raise fail(name, value, f"must be one of {', '.join(known)}")
