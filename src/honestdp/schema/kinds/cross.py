"""`Cross`: two declared columns together, one encoded column for each pair of values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import BeforeValidator, Field, PrivateAttr, model_validator

from honestdp.schema.blocks import Entries
from honestdp.schema.fields import Name
from honestdp.schema.kinds.base import CellLists, Column, column_kinds

if TYPE_CHECKING:
    from honestdp.schema.tables import Table

MOST_PAIRS = 100_000

Two = Annotated[
    tuple[Name, Name],
    BeforeValidator(lambda value: tuple(value) if isinstance(value, list) else value),
    Field(strict=True),
]


@column_kinds.register
class Cross(Column):
    """Two columns of the schema together, where their effects do not simply add up.

    Each is taken one-hot: categories as they are, numbers in their bins, 8 where none are declared.
    A row where one of them is missing, or a rare category, is all zeros.

    Args:
        name: A name of its own.
        columns: The names of two other columns of the schema.

    Example:
        >>> from honestdp.schema import Categorical
        >>> cross = Cross(name="sex and ward", columns=["sex", "ward"])
        >>> sex = Categorical(name="sex", categories=["f", "m"])
        >>> ward = Categorical(name="ward", categories=["a", "b"])
        >>> cross.bound_to({"sex": sex, "ward": ward}).encoded_names[:2]
        ['sex=f and ward=a', 'sex=f and ward=b']
    """

    label: ClassVar[str] = "pair of columns"
    form: ClassVar[tuple[str, ...]] = ('kind = "cross"', 'columns = ["one", "other"]')
    form_help: ClassVar[tuple[str, ...]] = (
        "two declared columns together, in a line with a name of its own",
    )
    remedies: ClassVar[dict[str, str]] = {
        "columns": 'give the names of two declared columns, such as ["sex", "ward"]'
    }

    kind: Literal["cross"] = "cross"
    columns: Two
    _parts: tuple[Column, Column] | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _check(self) -> Cross:
        if self.columns[0] == self.columns[1]:
            raise ValueError(f"columns: {self.columns[0][:60]!r} twice; name two different columns")
        return self

    def bound_to(self, others: Mapping[str, Column]) -> Cross:
        parts = []
        for name in self.columns:
            if name not in others or others[name].kind == self.kind:
                raise ValueError(f"columns: {name[:60]!r} is not another column of the schema")
            one = others[name].as_one_hot()
            if one is None and others[name].learns:
                raise ValueError(
                    f"columns: {name[:60]!r} is to be learnt, so its pairs are unknown"
                )
            if one is None:
                kind = others[name].kind
                raise ValueError(f"columns: {name[:60]!r} is of kind {kind}, which has no pairs")
            parts.append(one)
        if parts[0].width * parts[1].width > MOST_PAIRS:
            raise ValueError(f"columns: more than {MOST_PAIRS} pairs; take fewer bins or buckets")
        found = self.model_copy()
        found._parts = (parts[0], parts[1])
        return found

    @property
    def _both(self) -> tuple[Column, Column]:
        if self._parts is None:
            raise ValueError("declare a cross in a schema, beside the columns that it names")
        return self._parts

    @property
    def sources(self) -> tuple[str, ...]:
        return self.columns

    @property
    def encoded_names(self) -> list[str]:
        one, other = self._both
        return [f"{a} and {b}" for a in one.encoded_names for b in other.encoded_names]

    @property
    def width(self) -> int:
        return self._both[0].width * self._both[1].width

    @property
    def known_norm(self) -> float:
        return 1.0

    def encode_from(self, table: Table) -> Entries:
        one, other = self._both
        first, second = _whole(one, table), _whole(other, table)
        return Entries(first[0] * other.width + second[0], first[1] * second[1])

    def made_up(self, rows: int, source: np.random.RandomState) -> CellLists:
        return {}  # its columns make up their own

    @property
    def encoding_words(self) -> str:
        return f"as {self.width} pairs"

    def describe(self) -> str:
        return " and ".join(self.columns)


def _whole(column: Column, table: Table) -> tuple[Any, Any]:
    positions, values = column.encode_from(table)
    return np.broadcast_to(positions, values.shape), values
