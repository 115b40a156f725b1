"""How much of a released weight is noise: its standard deviation, from the facts on the card."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from honestdp.candidates import for_lots
from honestdp.engine.noise_alone import noise_sd
from honestdp.engine.train import Schedule
from honestdp.errors import InputError
from honestdp.planning.grid import Grid, Setting
from honestdp.release.card import Card


class _RowNorm(BaseModel):
    value: float | None


class _Facts(BaseModel):
    """What of `Card.declared_public` determines the noise of a training."""

    model_config = ConfigDict(allow_inf_nan=False)

    noise_multiplier: float = Field(gt=0)
    steps: int = Field(ge=1)
    lot_size: list[float] = Field(min_length=1)
    row_norm: _RowNorm
    grid: list[dict[str, Any]] = []
    row_norm_of_settings: list[float] = []  # where they differ

    def norm_of(self, setting: Setting) -> float | None:
        """The norm of the rows that a setting's model reads."""
        pairs = zip(self.row_norm_of_settings, self.grid, strict=False)
        own = (norm for norm, known in pairs if known == dict(setting))
        return next(own, self.row_norm.value)


def weight_noise_sd(card: Card, setting: Setting, parameters: int) -> float | None:
    """The standard deviation that the noise of the training alone gives a weight.

    Args:
        card: The card of the release.
        setting: That of the released candidate.
        parameters: How many parameters the model has.

    Returns:
        The standard deviation; None if the card does not have the facts, or its update rule is not
        installed.
    """
    try:
        facts = _Facts.model_validate(card.declared_public)
        first, last = facts.lot_size[0], facts.lot_size[-1]
        (candidate,) = Grid((setting,)).candidates(facts.noise_multiplier, facts.norm_of(setting))
        if last != first:  # the winner of a tuning subset, trained again on the rest
            candidate = for_lots(candidate, facts.steps, first, last)
        return noise_sd(candidate, Schedule(facts.steps, last), parameters)
    except (ValidationError, InputError):  # an earlier card, or a rule of another package
        return None
