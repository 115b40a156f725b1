"""A candidate: one setting of everything about training that may be tuned. Numbers only.

All fields are public: they come from a grid or a distribution that was fixed before
the data was opened, never from the data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from types import MappingProxyType
from typing import Any

from honestdp.errors import between, fail, not_negative
from honestdp.optimizers import Hyperparameter, Optimizer, optimizer, optimizers
from honestdp.units import LARGEST_NOISE

CLIPPINGS = ("norm", "automatic")
# Outside of this float32 cannot represent a clipped gradient. A clip norm far above the gradients
# rounds them away, but by less than the noise: a coordinate of a lot's sum loses at most L / 2^21
# of the clip norm, and its noise is noise_multiplier times that norm.
CLIP_NORMS = (1e-12, 1e12)
DEFAULT_RULE = "dpadam"


@dataclass(frozen=True, init=False, repr=False)
class Candidate:
    """One setting to train.

    Args:
        noise_multiplier: The noise's standard deviation over the sum's sensitivity (the paper's
            sigma).
        rule: The optimizer, by its name in `honestdp.optimizers`.
        learning_rate: The rule's own default where it has one; for ADADP where its controller
            starts; set by the rule itself for "balanced".
        clip_norm: Bound on one example's gradient (the paper's C). "automatic" clipping has none
            to tune: it normalises each gradient, and every formula uses 1.
        clipping: "norm" or "automatic".
        row_norm: The public root-mean-square norm of the input rows, for rules that use it
            ("balanced").
        initial_scale: Times the model's usual initialisation (0: zeros); None: the model's own
            choice.
        average: Release the mean of the second half's parameters instead of the last.
        hyperparameters: Those of the rule, by name; each may also be given as an argument of its
            own, `momentum=0.9`. Those of other rules are checked and left out.
        **own: Hyperparameters of the rule, as arguments.

    Raises:
        InputError: If a value is out of bounds, or no optimizer has such a hyperparameter.

    Example:
        >>> Candidate(noise_multiplier=4.0, rule="dpadam", beta1=0.8).beta1
        0.8
    """

    noise_multiplier: float
    rule: str
    learning_rate: float | None
    clip_norm: float
    clipping: str
    row_norm: float | None
    initial_scale: float | None
    average: bool
    hyperparameters: Mapping[str, float] = field(hash=False)

    def __init__(
        self,
        *,
        noise_multiplier: float,
        rule: str = DEFAULT_RULE,
        learning_rate: float | None = None,
        clip_norm: float = 1.0,
        clipping: str = "norm",
        row_norm: float | None = None,
        initial_scale: float | None = None,
        average: bool = False,
        hyperparameters: Mapping[str, Any] | None = None,
        **own: Any,
    ) -> None:
        if rule not in optimizers:
            raise fail("rule", rule, f"must be one of {', '.join(optimizers.names())}")
        chosen = optimizers.get(rule)
        if clipping not in CLIPPINGS:
            raise fail("clipping", clipping, f"must be one of {', '.join(CLIPPINGS)}")
        between(0, LARGEST_NOISE, "noise_multiplier", noise_multiplier)
        between(*CLIP_NORMS, "clip_norm", clip_norm)
        if initial_scale is not None:
            not_negative("initial_scale", initial_scale)
        if not isinstance(average, bool):
            raise fail("average", average, "must be True or False")
        facts = {
            "noise_multiplier": noise_multiplier,
            "rule": rule,
            "learning_rate": learning_rate,
            "clip_norm": clip_norm,
            "clipping": clipping,
            "row_norm": row_norm,
            "initial_scale": initial_scale,
            "average": average,
            "hyperparameters": _checked(chosen, {**(hyperparameters or {}), **own}),
        }
        for name, value in facts.items():
            object.__setattr__(self, name, value)
        chosen().check(self)

    def __getattr__(self, name: str) -> float:
        """A hyperparameter of the rule, by its name."""
        try:
            return self.__dict__["hyperparameters"][name]
        except KeyError:
            raise AttributeError(f"Candidate has no {name}; its rule reads none") from None

    def __reduce__(self) -> tuple[Any, ...]:  # a mapping proxy is neither pickled nor copied
        return partial(Candidate, **self._facts()), ()

    def __repr__(self) -> str:
        return f"Candidate({', '.join(f'{name}={v!r}' for name, v in self._facts().items())})"

    def _facts(self) -> dict[str, Any]:
        named = [f.name for f in fields(self) if f.name != "hyperparameters"]
        return {name: getattr(self, name) for name in named} | dict(self.hyperparameters)

    @property
    def sensitivity(self) -> float:
        """The most that one example can change the clipped sum."""
        return 1.0 if self.clipping == "automatic" else self.clip_norm


TUNABLE = tuple(f.name for f in fields(Candidate) if f.name != "hyperparameters")


def declared(name: str, rule: str = DEFAULT_RULE) -> Hyperparameter | None:
    """The hyperparameter of this name: the rule's own, or else that of the first optimizer that has
    one; None if no optimizer does."""
    own = optimizers.get(rule).hyperparameters if rule in optimizers else ()
    found = next((one for one in own if one.name == name), None)
    if found is None:
        found = next(
            (o for every in optimizers for o in every.hyperparameters if o.name == name), None
        )
    return found


def hyperparameter_names() -> tuple[str, ...]:
    """The names of all optimizers' hyperparameters."""
    return tuple(dict.fromkeys(o.name for every in optimizers for o in every.hyperparameters))


def _checked(chosen: type[Optimizer], given: Mapping[str, Any]) -> Mapping[str, float]:
    """The hyperparameters of the chosen optimizer; those of others are checked and left out."""
    for name, value in given.items():
        known = declared(name, chosen.name)
        if known is None:
            names = ", ".join(hyperparameter_names())
            raise fail(name, value, f"no optimizer has such a hyperparameter; there are {names}")
        known.check(name, value)
    own = chosen.hyperparameters
    return MappingProxyType({one.name: given.get(one.name, one.default) for one in own})


def for_lots(candidate: Candidate, steps: int, before: float, after: float) -> Candidate:
    """The same candidate for lots of another size: its learning rate grows with them where its
    rule's steps are proportional to a lot's sum.

    Args:
        candidate: The candidate.
        steps: How many lots the training reads.
        before: The lot size that the candidate was chosen for.
        after: The lot size that it trains with now.
    """
    rule = optimizer(candidate.rule)
    if not rule.scales_with_lot:
        return candidate
    return replace(candidate, learning_rate=rule.rate(candidate, steps, after) * (after / before))
