"""The inputs of a report, validated: the public facts of a card, and public test results."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from honestdp.errors import InputError
from honestdp.json_files import Part
from honestdp.procedures import Request
from honestdp.release.card import Card
from honestdp.run_files import CARD, TESTED
from honestdp.schema import Schema


class Search(BaseModel):
    """The name and options of the procedure, and the delta it is priced at."""

    model_config = ConfigDict(hide_input_in_errors=True, allow_inf_nan=False, extra="allow")

    name: str
    delta: float = Field(gt=0, lt=1)

    @property
    def request(self) -> Request:
        given = self.model_extra or {}
        return Request(self.name, {name: v for name, v in given.items() if v is not None})


class Declared(BaseModel):
    """The facts of `Card.declared_public` that a report uses; others are ignored."""

    model_config = ConfigDict(hide_input_in_errors=True, allow_inf_nan=False)

    rows: int = Field(ge=1)
    training_rows: int = Field(ge=1)
    validation_rows: int = Field(ge=0)
    split_seed: int | None = None  # not on the first cards
    table: Schema = Field(alias="schema")
    grid: list[dict[str, Any]] = Field(min_length=1)
    search: Search
    threshold: float | None = None  # on cards of format 1 beside the search's other options
    lot_size: list[float] = Field(min_length=1)
    sampling_probability: float = Field(gt=0, le=1)
    steps: int = Field(ge=1)
    noise_multiplier: float = Field(gt=0)

    @property
    def options(self) -> dict[str, Any]:
        """The given options of the procedure, with readable names."""
        found = dict(self.search.request.options)
        if self.threshold is not None:
            found["threshold"] = self.threshold
        return {name.replace("_", " ").capitalize(): value for name, value in found.items()}

    @classmethod
    def of(cls, card: Card) -> Declared:
        try:
            return cls.model_validate(card.declared_public)
        except ValidationError as error:
            place = ".".join(map(str, error.errors(include_input=False)[0]["loc"]))[:100]
            raise InputError(
                f"{CARD}: declared_public: {place}: does not have the form that honestdp writes"
            ) from None


class TestResults(Part):
    """Results of the model on public rows; at least one figure."""

    rows: int | None = Field(default=None, ge=1, strict=True)
    accuracy: float | None = Field(default=None, ge=0, le=1, strict=True)
    r2: float | None = Field(default=None, le=1, strict=True)

    @classmethod
    def of(cls, values: Any) -> TestResults:
        """Validate a dict of figures; an error is one line."""
        try:
            found = cls.model_validate(values)
        except ValidationError as error:
            first = error.errors(include_input=False)[0]
            place = ".".join(map(str, first["loc"]))[:100]
            reason = f"{place}: {first['msg']}" if place else "is not an object of figures"
            raise InputError(f"{TESTED}: {' '.join(reason.split())[:200]}") from None
        if all(v is None for name, v in found if name != "rows"):
            figures = ", ".join(name for name in cls.model_fields if name != "rows")
            raise InputError(f"{TESTED}: holds no figure; give one of {figures}, or remove it")
        return found
