"""`Pipeline`: a model and the encoding of its rows. Settings of one grid may differ in both.

A setting of a grid may name its model (`model`) and how numbers are encoded (`encode`). Rows are
encoded once for each `RowEncoding`, however many pipelines read them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from honestdp.errors import InputError
from honestdp.models import Description, describe
from honestdp.planning.encoding import is_wide
from honestdp.planning.grid import CHOICES, ENCODE, MODEL, is_open
from honestdp.schema import Schema
from honestdp.schema.learn import ROW_NORM


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
        return self.described.words + ("" if self.encode is None else f" on {self.encode} numbers")

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
