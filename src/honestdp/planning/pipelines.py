"""`Pipeline`: a model and the encoding of its rows. Settings of one grid may differ in both.

A setting of a grid may name its model (`model`) and how numbers are encoded (`encode`). Rows are
encoded once for each `RowEncoding`, however many pipelines read them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from honestdp.errors import InputError
from honestdp.models import Description, describe
from honestdp.planning.encoding import is_wide
from honestdp.planning.grid import CHOICES, ENCODE, MODEL, is_open
from honestdp.schema import Column, Schema
from honestdp.schema.learn import ROW_NORM, ROWS, Numbers

Item = TypeVar("Item")


@dataclass(frozen=True)
class RowEncoding:
    """How rows are encoded.

    Attributes:
        schema: The schema with everything decided that it leaves open about encoding; what has to
            be learnt from rows is still open in it.
        scales_rows: Whether rows are scaled so that a typical one has the same norm in every table.
        may_be_sparse: Whether the models that read them take sparse rows.
    """

    schema: Schema
    scales_rows: bool
    may_be_sparse: bool

    @property
    def learns_scale(self) -> bool:
        """Whether the scale of rows has to be learnt."""
        return self.scales_rows and self.schema.row_scale is None

    @property
    def row_norm(self) -> tuple[float, str]:
        """The root-mean-square norm of the encoded rows, and where it is from. Step sizes of
        `balanced` follow from it."""
        if self.scales_rows:
            how = "learnt with noise" if self.learns_scale else "follows from the schema"
            return ROW_NORM, how
        if self.schema.row_norm is not None:
            return self.schema.row_norm, "declared"
        return math.sqrt(self.schema.squared_norm), "estimated from the schema"


@dataclass(frozen=True)
class OpenColumn:
    """A column about which something has to be learnt.

    Attributes:
        place: The place of the first encoding that has it so.
        column: The column.
    """

    place: int
    column: Column

    @property
    def key(self) -> str:
        """What its learnt values are stored under."""
        return learnt_key(self.place, self.column.name)


def learnt_key(place: int, name: str) -> str:
    """What learnt values about a column, or about `ROWS`, are stored under; no column has a name
    that begins with a space."""
    return name if place == 0 else f" {place} {name}"


def open_columns(encodings: Sequence[RowEncoding], question: str | None = None) -> list[OpenColumn]:
    """The columns about which something has to be learnt, those that are alike once.

    Args:
        encodings: The encodings of the rows.
        question: The name of the question that pays for it; None: any.
    """
    found: list[OpenColumn] = []
    for place, encoding in enumerate(encodings):
        for column in encoding.schema.columns:
            asked = column.learns and question in (None, column.question)
            if asked and all(column != known.column for known in found):
                found.append(OpenColumn(place, column))
    return found


def learnt_by(
    encodings: Sequence[RowEncoding], place: int, learnt: Mapping[str, Numbers]
) -> dict[str, Numbers]:
    """What `schema.with_learnt` needs for one encoding.

    Args:
        encodings: The encodings of the rows.
        place: Which of them.
        learnt: All that was learnt, by key.
    """
    known = [one for one in open_columns(encodings) if one.key in learnt]
    own = encodings[place]
    found = {
        column.name: learnt[one.key]
        for column in own.schema.columns
        for one in known
        if one.column == column
    }
    scale = learnt_key(place, ROWS)
    return found | ({ROWS: learnt[scale]} if scale in learnt else {})


@dataclass(frozen=True, eq=False)
class Pipeline:
    """A model and the encoding of its rows.

    Attributes:
        model: The name of the model, or a model of `honestdp.engine`.
        encode: How its settings want numbers encoded; None: by default.
        encoding: The encoding of its rows.
    """

    model: Any
    encode: str | None
    encoding: RowEncoding

    @property
    def described(self) -> Description:
        """The public description of the model."""
        return describe(self.model, self.encoding.schema.width, self._classes)

    @property
    def _classes(self) -> int | None:
        known = self.encoding.schema.target.classes
        return None if known is None else len(known)

    @property
    def words(self) -> str:
        """The pipeline in words, beside others of one grid."""
        return self.described.words + ("" if self.encode is None else f", numbers {self.encode}")

    @property
    def setting(self) -> Mapping[str, Any]:
        """The model's own setting for such rows, which needs no tuning."""
        return self.described.setting(self._classes, is_wide(self.encoding.schema))

    def completed(self, setting: Mapping[str, Any]) -> dict[str, Any]:
        """A setting of this pipeline with all that it leaves open.

        One that chooses a model or an encoding, and no rule, is the model's own setting, some
        values changed.
        """
        return {**self.setting, **setting} if is_open(setting) else dict(setting)


def distinct(items: Iterable[Item]) -> list[Item]:
    """The items, each once, in the order of their first use; compared, as some have no hash."""
    found: list[Item] = []
    for one in items:
        if one not in found:
            found.append(one)
    return found


def choice(setting: Mapping[str, Any], model: Any) -> tuple[Any, str | None]:
    """The model and the encoding that a setting chooses.

    Args:
        setting: A setting of a grid.
        model: The model of settings that name none.

    Raises:
        InputError: If one of them is no text.
    """
    for name in CHOICES:
        if name in setting and not isinstance(setting[name], str):
            raise InputError(f"grid: {name} must be a text; give a module as the model of the spec")
    return setting.get(MODEL, model), setting.get(ENCODE)
