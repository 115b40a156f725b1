"""`Schema`: everything about a table that is public, declared before its rows are seen.

The columns and how each becomes numbers, the target, the unit of privacy. It is read from a TOML
file or built in Python, has a fingerprint, and encodes tables. Nothing in it is inferred from a
row: whoever writes it vouches that its values are known without looking at the protected data.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from numpy.typing import NDArray
from pydantic import BeforeValidator, Field, SerializeAsAny, model_validator
from pydantic_core import PydanticCustomError

from honestdp.schema import codebook, patterns, toml
from honestdp.schema.fields import Number, Text
from honestdp.schema.kinds import Column, column_kinds
from honestdp.schema.kinds.base import BLOCK_NORM
from honestdp.schema.problems import KIND_MISSING, KIND_UNKNOWN, Declaration, Location
from honestdp.schema.target import Target

if TYPE_CHECKING:
    from honestdp.schema.encode import Encoded, Inputs

SPARSE_BELOW = 0.3  # of the encoded cells that can be non-zero


def _column_list(value: Any) -> Any:
    """Convert `{"age": {...}}` to a tuple of declarations that hold their names."""
    if not isinstance(value, Mapping):
        return tuple(value) if isinstance(value, list) else value
    return tuple(
        {"name": name, **column} if isinstance(column, Mapping) else column
        for name, column in value.items()
    )


def _column(value: Any) -> Any:
    """Build a column of the named kind, looked up in the registry.

    A pydantic union would only know the kinds registered when `Schema` was defined.
    """
    if not isinstance(value, Mapping):
        return value
    kind = value.get("kind")
    if kind not in column_kinds:
        known = " or ".join(f'"{name}"' for name in column_kinds.names())
        known += f', or in a file "{patterns.UNUSED}" for a column that is never read'
        wrong = KIND_UNKNOWN if "kind" in value else KIND_MISSING
        raise PydanticCustomError(wrong, "must be {known}", {"known": known})
    return column_kinds.get(kind).model_validate(dict(value))


def _kind_at(columns: Any, at: object) -> type[Declaration]:
    """The kind of a column whose declaration is wrong; `Column` if that is unknown."""
    listed = list(columns.values()) if isinstance(columns, Mapping) else columns
    if isinstance(listed, (list, tuple)) and isinstance(at, int) and at < len(listed):
        column = listed[at]
        if isinstance(column, Column):
            return type(column)
        if isinstance(column, Mapping) and column.get("kind") in column_kinds:
            return column_kinds.get(column["kind"])
    return Column


AnyColumn = Annotated[SerializeAsAny[Column], BeforeValidator(_column)]


class Schema(Declaration):
    """The public facts of one dataset.

    Args:
        name: The dataset's name; its budget is kept under this name.
        columns: The inputs, in the order in which they are encoded: `Numeric`, `Categorical`, or
            of any other registered kind; or a dict of declarations by name.
        target: What is predicted; never among the columns.
        unit: What one row stands for, as a text: the guarantee protects one such unit.
        row_norm: Scale every encoded row to exactly this Euclidean norm (a row of zeros stays
            zero), so that the root-mean-square row norm is public. None: rows are left as they
            are.
        row_scale: Multiply every encoded row by this number. None: a plan chooses it, so that a
            typical row has the norm that step sizes and clip norms are chosen for.

    Raises:
        InputError: If a declaration is wrong; the message names the place and the way out.

    Example:
        >>> from honestdp.schema import Numeric
        >>> schema = Schema(
        ...     name="visits",
        ...     target=Target(column="readmitted", classes=["no", "yes"]),
        ...     columns=[Numeric(name="age", bounds=(0, 110))],
        ... )
        >>> schema.width
        1
    """

    remedies: ClassVar[dict[str, str]] = {
        "name": "give a text",
        "unit": "give a text for what one row stands for",
        "row_norm": "must be a number between 1e-6 and 1e6",
        "row_scale": "must be a number between 1e-9 and 1e9",
        "target": 'give a table with column and classes, such as column = "income"',
        "columns": "give a table of columns, such as [columns.age]",
    }

    name: Text
    unit: Text = "one row"
    row_norm: Annotated[Number, Field(ge=1e-6, le=1e6)] | None = None
    row_scale: Annotated[Number, Field(ge=1e-9, le=1e9)] | None = None
    target: Target
    columns: Annotated[tuple[AnyColumn, ...], BeforeValidator(_column_list), Field(strict=True)]

    @model_validator(mode="after")
    def _check(self) -> Schema:
        if not self.name.strip():
            raise ValueError('name = "": give the dataset a name')
        if not self.columns:
            raise ValueError("no columns: declare at least one, such as [columns.age]")
        seen: set[str] = set()
        for column in self.columns:
            if self.target.column in (column.name, *column.sources):
                name = self.target.column
                raise ValueError(f"column {name[:60]!r} is the target too: remove one")
            if column.name in seen:
                raise ValueError(f"column {column.name[:60]!r} is declared twice: remove one")
            seen.add(column.name)
        self._bind_columns()
        return self

    def _bind_columns(self) -> None:
        by_name = {column.name: column for column in self.columns}
        bound = []
        for column in self.columns:
            try:
                bound.append(column.bound_to(by_name))
            except ValueError as error:
                raise ValueError(f"column {column.name[:60]!r}: {error}") from None
        object.__setattr__(self, "columns", tuple(bound))

    @classmethod
    def part_at(cls, path: Location, values: Mapping[str, Any]) -> type[Declaration]:
        """The class that declares one part of a schema, for messages about it.

        Args:
            path: The location of the part, as pydantic reports it.
            values: The declarations of the schema.
        """
        if path[:1] == ("target",):
            return Target
        if path[:1] == ("columns",) and len(path) > 1:
            return _kind_at(values.get("columns"), path[1])
        return cls

    # Files

    @classmethod
    def load(cls, path: str | os.PathLike[str], columns: Iterable[str] | None = None) -> Schema:
        """Read a TOML file.

        Args:
            path: The file, as `save` or `honestdp schema` writes it.
            columns: The names of the table's columns, which wildcards such as "word *" are matched
                with; not needed without wildcards.

        Returns:
            The schema.

        Raises:
            InputError: If it cannot be read or is wrong: one line that names the file.
        """
        return toml.load(path, cls, columns)

    @classmethod
    def from_toml(cls, text: str, columns: Iterable[str] | None = None) -> Schema:
        """Read a schema from TOML.

        Args:
            text: The content of a TOML file.
            columns: As in `load`.

        Returns:
            The schema.

        Raises:
            InputError: If a declaration is wrong.

        Example:
            >>> schema = Schema.from_toml('''
            ...     name = "survey"
            ...     target = { column = "B", classes = ["no", "yes"] }
            ...     columns = { "A1..A3" = { kind = "numeric", bounds = [0, 9] } }
            ... ''')
            >>> schema.input_names
            ['A1', 'A2', 'A3']
        """
        return toml.parse(text, cls, columns)

    def to_toml(self) -> str:
        """The schema as TOML, one line a column; `from_toml` reads it back."""
        facts = self.model_dump(exclude_none=True)
        columns = {column.pop("name"): column for column in facts.pop("columns")}
        return f"{toml.write(facts)}\n{toml.write_columns(columns, {})}"

    @classmethod
    def from_codebook(
        cls,
        path: str | os.PathLike[str],
        *,
        name: str | None = None,
        target: str | None = None,
        columns: Iterable[str] | None = None,
        **facts: Any,
    ) -> Schema:
        """Read a code book: a CSV or JSON file with one row for each column of a table.

        Args:
            path: The file; `honestdp.schema.codebook` says what is in it.
            name: The dataset's name; by default that of the file.
            target: The column to predict; by default the one whose kind is "target".
            columns: The names of the table's columns: the schema then has those that are in the
                book, in the table's order. By default all of the book, in its order.
            facts: Further fields of the schema: unit, row_norm.

        Returns:
            The schema.

        Raises:
            InputError: If it cannot be read or is wrong: one line that names the file.
        """
        book = codebook.Codebook.load(path)
        with toml.errors_of(path):
            return cls(
                name=name or Path(path).name.split(".")[0],
                target=book.target(target),
                columns=patterns.used(book.columns(target, columns)),
                **facts,
            )

    def to_codebook(self, path: str | os.PathLike[str]) -> None:
        """Write a code book that `from_codebook` reads: JSON if its name ends so, otherwise CSV.

        Args:
            path: The file; an existing one is replaced. Name, unit and row_norm are not part of it.

        Raises:
            InputError: If it cannot be written.
        """
        toml.save(path, codebook.write(path, self.columns, self.target))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a TOML file, completely or not at all.

        Args:
            path: The file; an existing one is replaced.

        Raises:
            InputError: If it cannot be written.
        """
        toml.save(path, self.to_toml())

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the declarations, the order of columns and categories included.

        A ledger is bound to it: it must never change for a schema that can be declared today.
        """
        facts = {"format": 1, **self.model_dump(mode="json", exclude={"columns"})}
        # Fields that the first release did not have.
        if self.row_scale is None:
            del facts["row_scale"]
        if not self.target.ignore_case:
            del facts["target"]["ignore_case"]
        facts["columns"] = [column.facts() for column in self.columns]
        canonical = json.dumps(facts, sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(canonical.encode()).hexdigest()

    # What the encoding looks like, known before a row is seen

    @property
    def input_names(self) -> list[str]:
        """The columns of the table that the inputs are read from, in order."""
        return list(dict.fromkeys(name for column in self.columns for name in column.sources))

    @property
    def readers(self) -> dict[str, Column]:
        """For each column of the table that is read, the declaration that says what its cells mean:
        the one of its name, before a pair of columns that reads it too."""
        own = {column.name: column for column in self.columns}
        found = {name: column for column in self.columns for name in column.sources}
        return {name: own.get(name, found[name]) for name in self.input_names}

    @property
    def encoded_names(self) -> list[str]:
        """The names of the encoded columns."""
        return [name for column in self.columns for name in column.encoded_names]

    @property
    def width(self) -> int:
        """The number of encoded columns."""
        return sum(column.width for column in self.columns)

    @property
    def entries(self) -> int:
        """Number of stored entries of every encoded row, without those of columns that store as
        many as a row needs; all others are zeros."""
        return sum(column.entries or 0 for column in self.columns)

    @property
    def sparse(self) -> bool:
        """Whether rows are encoded as a sparse matrix: few of their cells can be non-zero."""
        return self.entries < SPARSE_BELOW * self.width

    @property
    def scaled_together(self) -> list[tuple[int, int]]:
        """The stretches of encoded columns that are scaled together to the norm BLOCK_NORM in
        every row, each as its first column and the one after its last."""
        found: list[tuple[int, int]] = []
        start = 0
        for column in self.columns:
            end = start + column.width
            if column.scaled_together:
                joined = bool(found) and found[-1][1] == start
                found[-1:] = [(found[-1][0], end)] if joined else [*found[-1:], (start, end)]
            start = end
        return found

    @property
    def has_blocks(self) -> bool:
        """Whether most of an encoded row's norm is that of words, counts or images."""
        blocks = sum(c.squared_norm for c in self.columns if c.squared_norm >= BLOCK_NORM**2)
        blocks += BLOCK_NORM**2 if self.scaled_together else 0.0
        return 2 * blocks > self.squared_norm

    @property
    def squared_norm(self) -> float:
        """The squared norm of a typical encoded row, without `row_scale`, by public facts."""
        return self._summed(column.squared_norm for column in self.columns)

    @property
    def known_norm(self) -> float:
        """The part of `squared_norm` that nearly every row has, whatever its cells."""
        return self._summed(column.known_norm for column in self.columns)

    def _summed(self, squares: Iterable[float]) -> float:
        """The squared norm of a row whose columns have these."""
        if self.row_norm is not None:
            return self.row_norm**2
        return sum(squares) + (BLOCK_NORM**2 if self.scaled_together else 0.0)

    @property
    def to_learn(self) -> list[str]:
        """The columns whose bounds still have to be learnt."""
        return [column.name for column in self.columns if column.learns]

    # Rows (see `encode` for what is promised)

    def encode(self, table: Any, target: Any = None, *, sparse: bool | None = None) -> Encoded:
        """Encode inputs and targets of every row, in the order of the table.

        Args:
            table: A path to a CSV or Parquet file, or a table in memory.
            target: The cells of the target, if they are not a column of the table.
            sparse: Whether to return a sparse matrix; by default as `sparse` of the schema.

        Returns:
            The encoded rows. Sensitive.

        Raises:
            InputError: If the table lacks a column, or a bound still has to be learnt.
        """
        from honestdp.schema.encode import encode

        return encode(self, table, target, sparse=sparse)

    def encode_inputs(self, table: Any, *, sparse: bool | None = None) -> Inputs:
        """Encode only the inputs, for prediction.

        Args:
            table: A path to a CSV or Parquet file, or a table in memory.
            sparse: Whether to return a sparse matrix; by default as `sparse` of the schema.

        Returns:
            The encoded inputs. Sensitive.

        Raises:
            InputError: If the table lacks a column, or a bound still has to be learnt.
        """
        from honestdp.schema.encode import encode_inputs

        return encode_inputs(self, table, sparse=sparse)

    def decode_targets(self, outputs: Any) -> NDArray[Any]:
        """Convert a model's predictions to the values of the table.

        Args:
            outputs: Class numbers, or numbers in [-1, 1].

        Returns:
            Classes, or numbers within the declared bounds.
        """
        return self.target.decode(outputs)
