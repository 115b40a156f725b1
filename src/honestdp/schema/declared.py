"""`Schema`: everything about a table that is public, declared before its rows are seen.

The columns and how each becomes numbers, the target, the unit of privacy. It is read from a TOML
file or built in Python, has a fingerprint, and encodes tables. Nothing in it is inferred from a
row: whoever writes it vouches that its values are known without looking at the protected data.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field, model_validator

from honestdp.schema import toml
from honestdp.schema.columns import Categorical, Column, Number, Numeric, Target, Text
from honestdp.schema.problems import Declaration

if TYPE_CHECKING:
    from honestdp.schema.encode import Encoded, Inputs

SPARSE_BELOW = 0.3  # of the encoded cells that can be non-zero


def _listed(value: Any) -> Any:
    """Columns as a list; `{"age": {...}}` names each by its key."""
    if not isinstance(value, Mapping):
        return tuple(value) if isinstance(value, list) else value
    return tuple(
        {"name": name, **column} if isinstance(column, Mapping) else column
        for name, column in value.items()
    )


class Schema(Declaration):
    """The public facts of one dataset.

    name: what the dataset is called; the budget is kept under this name.
    columns: the inputs, in the order in which they are encoded: `Numeric` and `Categorical`.
    target: what is predicted; never among the columns.
    unit: what one row stands for, in words: the guarantee protects one such unit.
    row_norm: scale every encoded row to exactly this Euclidean norm (a row of zeros stays zero), so
        that the root-mean-square row norm is a public fact. None: rows are left as they are.
    """

    name: Text
    unit: Text = "one row"
    row_norm: Annotated[Number, Field(ge=1e-6, le=1e6)] | None = None
    target: Target
    columns: Annotated[tuple[Column, ...], BeforeValidator(_listed), Field(strict=True)]

    @model_validator(mode="after")
    def _check(self) -> Schema:
        if not self.name.strip():
            raise ValueError('name = "": give the dataset a name')
        if not self.columns:
            raise ValueError("no columns: declare at least one, such as [columns.age]")
        seen = {self.target.column}
        for column in self.columns:
            if column.name == self.target.column:
                raise ValueError(f"column {column.name[:60]!r} is the target too: remove one")
            if column.name in seen:
                raise ValueError(f"column {column.name[:60]!r} is declared twice: remove one")
            seen.add(column.name)
        return self

    @classmethod
    def inner(cls) -> dict[str, type[Declaration]]:
        return {"numeric": Numeric, "categorical": Categorical, "target": Target}

    # Files

    @classmethod
    def load(cls, path: str | Path) -> Schema:
        """Read a TOML file; whatever is wrong with it is one line that names the file."""
        return toml.load(path, cls)

    @classmethod
    def from_toml(cls, text: str) -> Schema:
        return toml.parse(text, cls)

    def to_toml(self) -> str:
        """The schema as TOML; `from_toml` gives an equal one back."""
        return toml.write(self.model_dump())

    def save(self, path: str | Path) -> None:
        toml.save(path, self.to_toml())

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the declarations, the order of columns and categories included."""
        facts = {"format": 1, **self.model_dump(mode="json")}
        canonical = json.dumps(facts, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(canonical.encode()).hexdigest()

    # What the encoding looks like, known before a row is seen

    @property
    def encoded_names(self) -> list[str]:
        """The names of the encoded columns."""
        return [name for column in self.columns for name in column.encoded]

    @property
    def width(self) -> int:
        """The number of encoded columns."""
        return sum(len(column.encoded) for column in self.columns)

    @property
    def sparse(self) -> bool:
        """Whether rows are encoded as sparse: few of their cells can be non-zero."""
        return len(self.columns) < SPARSE_BELOW * self.width

    @property
    def to_learn(self) -> list[str]:
        """The columns whose bounds have still to be learnt."""
        return [c.name for c in self.columns if isinstance(c, Numeric) and c.learn]

    # Rows (see `encode` for what is promised)

    def encode(self, table: Any, target: Any = None, *, sparse: bool | None = None) -> Encoded:
        """Inputs and targets of every row, in place; `target`: the column, if not in the table."""
        from honestdp.schema.encode import encode

        return encode(self, table, target, sparse=sparse)

    def encode_inputs(self, table: Any, *, sparse: bool | None = None) -> Inputs:
        """The inputs alone, for prediction."""
        from honestdp.schema.encode import encode_inputs

        return encode_inputs(self, table, sparse=sparse)

    def decode_targets(self, outputs: Any) -> NDArray[Any]:
        """A model's answers in the table's own terms: class numbers to classes (-1 to ""), scaled
        numbers to numbers within the bounds."""
        if self.target.classes is not None:
            return np.array([*self.target.classes, ""])[np.asarray(outputs, dtype=np.int64)]
        assert self.target.bounds is not None
        low, high = self.target.bounds
        share = (np.clip(np.asarray(outputs, dtype=np.float64), -1, 1) + 1) / 2
        return low * (1 - share) + high * share
