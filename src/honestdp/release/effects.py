"""The effects of a released linear model: what each column adds to its prediction.

Post-processing of what was released: nothing is paid for, no row is read. The effect of a column is
computed at cells that represent it (`Column.representatives`), with the column's own encoding, so
that a number that is encoded in several ways has one curve.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from honestdp.errors import InputError
from honestdp.models import Architecture
from honestdp.release.predictor import Predictor
from honestdp.schema import Column, Schema, Target
from honestdp.schema.blocks import as_matrix
from honestdp.schema.cells import cells

Shape = Literal["bars", "curve", "line"]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Effect:
    """What one cell of a column adds to the prediction.

    Attributes:
        column: The column.
        label: The cell: a category, or a number as text.
        position: Its place on an axis; None for a category and for a missing cell.
        class_: The class that the output is for; None where a number is predicted.
        contribution: What the cell adds to the output, compared with the mean over the column's
            labels, in the unit of `Effects.unit`.
        noise_sd: The standard deviation that the training's noise alone gives the contribution;
            None if unknown.
        kind: How to draw the column: "bars", "curve" or "line".
        note: What else to know about the cell, such as that too few rows have it for a weight of
            its own; may be empty.
    """

    column: str
    label: str
    position: float | None
    class_: str | None
    contribution: float
    noise_sd: float | None
    kind: Shape
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The effect as plain values, by name."""
        return {
            "column": self.column,
            "label": self.label,
            "position": self.position,
            "class": self.class_,
            "contribution": self.contribution,
            "noise_sd": self.noise_sd,
            "kind": self.kind,
            "note": self.note,
        }


@dataclass(frozen=True)
class ColumnEffect:
    """The effects of one column.

    Attributes:
        column: The column.
        kind: How to draw it: "bars", "curve" or "line".
        size: The range of the contributions: by how much this column alone can change the output.
            With several classes, that of the class where it is largest.
        noise_sd: The largest standard deviation among the effects; None if unknown.
        effects: The effects, class by class.
    """

    column: str
    kind: Shape
    size: float
    noise_sd: float | None
    effects: tuple[Effect, ...]

    def of_class(self, name: str | None) -> tuple[Effect, ...]:
        """The effects on the output of one class."""
        return tuple(one for one in self.effects if one.class_ == name)

    @property
    def notes(self) -> tuple[str, ...]:
        """What else to know, each note with the cells that it is about."""
        labels: dict[str, dict[str, None]] = {}
        for one in self.effects:
            if one.note:
                labels.setdefault(one.note, {})[one.label] = None
        return tuple(f"{note}: {', '.join(cells)}" for note, cells in labels.items())


@dataclass(frozen=True)
class Effects(Sequence[Effect]):
    """The effects of all columns, the largest first; a sequence of `Effect`.

    Attributes:
        columns: The effects by column.
        classes: The classes that outputs are for; (None,) where a number is predicted.
        unit: What a contribution of 1 is, in words.
        base: For each of the classes, the output for a row that is at the mean of every column.
        noise_sd: The standard deviation that the training's noise alone gives a weight, in the same
            unit; None if unknown.
        note: What else to know when reading them; may be empty.

    Example:
        >>> import honestdp
        >>> honestdp.load("run").effects().columns[0].column  # doctest: +SKIP
        'education'
    """

    columns: tuple[ColumnEffect, ...]
    classes: tuple[str | None, ...]
    unit: str
    base: tuple[float, ...]
    noise_sd: float | None
    note: str

    def __iter__(self) -> Iterator[Effect]:
        return (one for column in self.columns for one in column.effects)

    def __len__(self) -> int:
        return sum(len(column.effects) for column in self.columns)

    @overload
    def __getitem__(self, index: int) -> Effect: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Effect]: ...
    def __getitem__(self, index: int | slice) -> Effect | Sequence[Effect]:
        return tuple(self)[index]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        return {
            "unit": self.unit,
            "classes": list(self.classes),
            "base": list(self.base),
            "noise_sd": self.noise_sd,
            "note": self.note,
            "columns": [
                {"column": one.column, "kind": one.kind, "size": one.size, "noise_sd": one.noise_sd,
                 "effects": [effect.to_dict() for effect in one.effects]}
                for one in self.columns
            ],
        }  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Weights:
    """A linear model's weights [input, output] and bias [output] in the unit of the effects.

    classes: What each output is for. noise_sd: The standard deviation of a weight's noise."""

    weight: Floats
    bias: Floats
    classes: tuple[str | None, ...]
    unit: str
    noise_sd: float | None


def effects_of(predictor: Predictor, noise_sd: float | None) -> Effects:
    """Compute the effects of a linear model.

    Args:
        predictor: The model and its schema.
        noise_sd: The standard deviation that noise alone gives a weight; None if unknown.

    Raises:
        InputError: If the model is not linear, or its weights are not finite.
    """
    schema = predictor.schema
    weights = _weights(predictor, noise_sd)
    base, start, found = weights.bias.copy(), 0, []
    for column in schema.columns:
        own = weights.weight[start : start + column.width]
        start += column.width
        one, mean = _column_effect(column, own, weights)
        base += mean
        found.append(one)
    found.sort(key=lambda one: -one.size)
    return Effects(
        columns=tuple(found),
        classes=weights.classes,
        unit=weights.unit,
        base=tuple(base.tolist()),
        noise_sd=weights.noise_sd,
        note=_note(schema),
    )


def linear_part(predictor: Predictor) -> tuple[Floats, Floats]:
    """Weights [input, output] and bias [output] of a linear model, as it predicts.

    Raises:
        InputError: If the model is not linear, or its weights are not finite.
    """
    part = predictor.model.linear_part(predictor.parameters)
    if part is None:
        raise not_linear(predictor.model.architecture)
    weight, bias = (tensor.double().numpy() for tensor in part)
    if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
        raise InputError("model: its weights are not finite, the training diverged; see `predict`")
    answers = predictor.answers  # what is not in the parameters already
    return weight * answers.slope, bias * answers.slope + answers.offset


def not_linear(architecture: Architecture) -> InputError:
    """The error for a model of another kind."""
    return InputError(
        f"model: is {architecture.summary}, which is not linear: its columns have no effects of "
        'their own; those of "logistic" and "linear" have'
    )


def _weights(predictor: Predictor, noise_sd: float | None) -> _Weights:
    weight, bias = linear_part(predictor)
    target = predictor.schema.target
    classes, unit = _outputs(target)
    factor = predictor.schema.row_scale or 1.0  # of all encoded rows, so part of every effect
    weight = weight * factor
    if target.bounds is not None:  # outputs from -1 to 1 stand for the bounds
        low, high = target.bounds
        half = (high - low) / 2
        weight, bias = weight * half, bias * half + (low + half)
        factor *= half
    if len(classes) > 1:  # what all outputs have in common changes no probability
        weight = weight - weight.mean(axis=1, keepdims=True)
        bias = bias - bias.mean()
        factor *= math.sqrt(1 - 1 / len(classes))
    noise = None if noise_sd is None else float(noise_sd * factor)
    return _Weights(weight, bias, classes, unit, noise)


def _note(schema: Schema) -> str:
    """What is scaled row by row, so that effects do not simply add up."""
    if schema.row_norm is not None:
        return f"These are the effects before a row is scaled to norm {schema.row_norm:g}."
    if schema.scaled_together:
        named = [column.label for column in schema.columns if column.scaled_together]
        kinds = " and ".join(dict.fromkeys(named))
        return f"Effects of kind {kinds} are those before a row's are scaled to one norm together."
    return ""


def _outputs(target: Target) -> tuple[tuple[str | None, ...], str]:
    """What each output of a linear model is for, and the unit of its effects."""
    if target.classes is None:
        return (None,), f"the unit of {target.column}"
    if len(target.classes) == 2:
        return target.classes[1:], f"log-odds of {target.column} = {target.classes[1]}"
    return target.classes, f"log-odds of a {target.column} against the average one"


def _column_effect(column: Column, own: Floats, weights: _Weights) -> tuple[ColumnEffect, Floats]:
    """The effects of a column with these weights [encoded column, output], and the mean that they
    are compared with [output]."""
    shown = column.representatives()
    mean = np.zeros(column.width)
    if shown:
        points = [(one.label, one.position, one.note) for one in shown]
        encoded = as_matrix(column.encode(cells([one.cell for one in shown])), column.width)
        if len(shown) > 1:
            mean = np.asarray(encoded.mean(axis=0)).ravel()
        found = encoded @ own - mean @ own
        lengths = _lengths(encoded, mean)
    else:  # the weights themselves
        idle = column.never_used()
        points = [(name, None, idle.get(i, "")) for i, name in enumerate(column.encoded_names)]
        lengths = np.ones(column.width)
        lengths[list(idle)] = 0
        found = own * lengths[:, None]
    kind = _kind([position for _, position, _ in points])
    sds = None if weights.noise_sd is None else weights.noise_sd * lengths
    effects = tuple(
        Effect(
            column=column.name,
            label=label,
            position=position,
            class_=name,
            contribution=float(found[i, k]),
            noise_sd=None if sds is None else float(sds[i]),
            kind=kind,
            note=note,
        )
        for k, name in enumerate(weights.classes)
        for i, (label, position, note) in enumerate(points)
    )
    size = float((found.max(axis=0, initial=0) - found.min(axis=0, initial=0)).max())
    largest = None if sds is None else float(sds.max())
    return ColumnEffect(column.name, kind, size, largest, effects), mean @ own


def _lengths(encoded: csr_matrix, mean: Floats) -> Floats:
    """The norm of every encoded cell's difference from the mean: by how much it multiplies the
    independent noises of the weights."""
    own = np.asarray(encoded.multiply(encoded).sum(axis=1)).ravel()
    squares: Floats = own - 2 * (encoded @ mean) + mean @ mean
    return np.sqrt(np.maximum(squares, 0))


def _kind(positions: list[float | None]) -> Shape:
    places = sum(position is not None for position in positions)
    if places < 2:
        return "bars"
    return "line" if places == 2 else "curve"
