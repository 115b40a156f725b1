"""The effects of a released linear model: what each column adds to its prediction.

Post-processing of what was released: nothing is paid for, no row is read. The effect of a column is
computed at cells that represent it (`Column.representatives`), with the column's own encoding, so
that a number that is encoded in several ways has one curve.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from honestdp.errors import InputError
from honestdp.models import Architecture
from honestdp.release.predictor import Predictor
from honestdp.schema import Column, Entries, Target
from honestdp.schema.cells import cells

Shape = Literal["bars", "curve", "line"]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Effect:
    """What one cell of a column adds to the prediction.

    Attributes:
        column: The column.
        label: The cell: a category, or a number as text.
        position: Its place on an axis; None for a category.
        class_: The class that the output is for; None where a number is predicted.
        contribution: What the cell adds to the output, compared with the mean over the column's
            labels, in the unit of `Effects.unit`.
        noise_sd: The standard deviation that the training's noise alone gives the contribution;
            None if unknown.
        kind: How to draw the column: "bars", "curve" or "line".
    """

    column: str
    label: str
    position: float | None
    class_: str | None
    contribution: float
    noise_sd: float | None
    kind: Shape

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
    note = ""
    if schema.row_norm is not None:
        note = f"These are the effects before a row is scaled to norm {schema.row_norm:g}."
    return Effects(
        tuple(found), weights.classes, weights.unit, tuple(base.tolist()), weights.noise_sd, note
    )


def linear_part(predictor: Predictor) -> tuple[Floats, Floats]:
    """Weights [input, output] and bias [output] of a linear model, as it was trained.

    Raises:
        InputError: If the model is not linear, or its weights are not finite.
    """
    part = predictor.model.linear_part(predictor.parameters)
    if part is None:
        raise not_linear(predictor.model.architecture)
    weight, bias = (tensor.double().numpy() for tensor in part)
    if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
        raise InputError("model: its weights are not finite, the training diverged; see `predict`")
    return weight, bias


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
    factor = 1.0
    if target.bounds is not None:  # outputs from -1 to 1 stand for the bounds
        low, high = target.bounds
        factor = (high - low) / 2
        weight, bias = weight * factor, bias * factor + (low + high) / 2
    if len(classes) > 1:  # what all outputs have in common changes no probability
        weight = weight - weight.mean(axis=1, keepdims=True)
        bias = bias - bias.mean()
        factor = np.sqrt(1 - 1 / len(classes))
    noise = None if noise_sd is None else float(noise_sd * factor)
    return _Weights(weight, bias, classes, unit, noise)


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
    if shown:
        positions, values = column.encode(cells([one.cell for one in shown]))
        positions = np.broadcast_to(positions, values.shape)
        points = [(one.label, one.position) for one in shown]
    else:  # the weights themselves
        positions, values = np.arange(column.width)[:, None], np.ones((column.width, 1))
        points = [(name, None) for name in column.encoded_names]
    mean = np.zeros(column.width)
    if len(shown) > 1:
        np.add.at(mean, positions, values / len(shown))
    found = np.einsum("pe,peo->po", values, own[positions]) - mean @ own
    sds = None if weights.noise_sd is None else weights.noise_sd * _lengths(
        Entries(positions, values), mean
    )  # fmt: skip
    kind = _kind([position for _, position in points])
    effects = tuple(
        Effect(
            column=column.name,
            label=label,
            position=position,
            class_=name,
            contribution=float(found[i, k]),
            noise_sd=None if sds is None else float(sds[i]),
            kind=kind,
        )
        for k, name in enumerate(weights.classes)
        for i, (label, position) in enumerate(points)
    )
    size = float((found.max(axis=0, initial=0) - found.min(axis=0, initial=0)).max())
    largest = None if sds is None else float(sds.max())
    return ColumnEffect(column.name, kind, size, largest, effects), mean @ own


def _lengths(entries: Entries, mean: Floats) -> Floats:
    """The norm of every encoded cell's difference from the mean: by how much it multiplies the
    independent noises of the weights."""
    positions, values = entries
    squares = (values**2 - 2 * values * mean[positions]).sum(axis=1) + mean @ mean
    return np.sqrt(np.maximum(squares, 0))


def _kind(positions: list[float | None]) -> Shape:
    if any(position is None for position in positions):
        return "bars"
    return "line" if len(positions) == 2 else "curve"
