"""`Column`: what every kind of column has to say of itself; and the registry of kinds.

A kind is a pydantic class: its fields are what a schema declares of such a column. It owns how
cells become numbers, what has to be learnt of them with noise, and all words about it: the lines
of the form that `honestdp schema` writes, what is wrong with a declaration, the report.

    @column_kinds.register
    class YesNo(Column):
        kind: Literal["yes-no"] = "yes-no"
        yes: Words = ("yes",)

        @property
        def encoded_names(self) -> list[str]:
            return [self.name]

        def encode(self, cells: Cells) -> Entries:
            return Entries(np.zeros(1, np.int64), (cells.places(self.yes)[:, None] >= 0) * 1.0)

Privacy rests on the contract of `encode` and `bin_of`: row i of the answer depends on cell i and
on the declaration, on nothing else; no cell raises; and every row has as many stored entries as
any other. `honestdp.testing.columns.check_column_kind` tests it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from honestdp.registry import Registry
from honestdp.schema.cells import Cells
from honestdp.schema.fields import Name
from honestdp.schema.problems import Declaration


class Entries(NamedTuple):
    """The encoded cells of one column: per row a fixed number of entries.

    positions: Which of the column's encoded columns an entry is in: integers of shape [entries],
        the same for every row, or of shape [rows, entries]. The positions of one row differ.
    values: Finite numbers of shape [rows, entries]. Encoded columns without an entry are 0.
    """

    positions: NDArray[Any]
    values: NDArray[Any]


class Column(Declaration):
    """A declared input column. Subclass it and register the class to add a kind.

    Args:
        kind: The name of the kind; a subclass declares it as `kind: Literal["mine"] = "mine"`.
        name: The column of the table that it is read from.

    A subclass must define `encoded_names` and `encode`. All else has a default: nothing is learnt,
    a cell of 0 need not stay 0, the kind is never inferred from rows.

    Attributes:
        label: What a report calls such a column, such as "number".
        form: Lines of TOML that declare such a column, for `honestdp schema`: an example.
        form_help: What the form says about the kind at its top, one item a line.
        remedies: For each field, what to write there; shown when its value is refused.
        infer_order: Kinds with a lower one are tried first when a simulation infers a schema.
        added_fields: Optional fields that the first release of the kind did not have. As long as
            they have their default they are no part of a schema's fingerprint, so that ledgers
            opened before still fit.
    """

    label: ClassVar[str] = ""
    form: ClassVar[tuple[str, ...]] = ()
    form_help: ClassVar[tuple[str, ...]] = ()
    remedies: ClassVar[Mapping[str, str]] = {"name": "give a text"}
    infer_order: ClassVar[int] = 0
    added_fields: ClassVar[frozenset[str]] = frozenset()

    kind: str
    name: Name

    # The encoding

    @property
    @abstractmethod
    def encoded_names(self) -> list[str]:
        """The names of the encoded columns, one each; they do not depend on any row."""

    @property
    def width(self) -> int:
        """The number of encoded columns."""
        return len(self.encoded_names)

    @property
    def entries(self) -> int:
        """How many entries a row has in this column: the same for every row."""
        return 1

    @abstractmethod
    def encode(self, cells: Cells) -> Entries:
        """Encode the cells of every row.

        Args:
            cells: The column. `cells.numbers()`, `cells.places(words)` and `cells.texts()` read
                it; none of them ever raises.

        Returns:
            The entries. Row i must depend on cell i and this declaration alone.
        """

    @property
    def keeps_zeros(self) -> bool:
        """Whether the column is encoded as one number that is 0 for a cell of 0, so that a sparse
        matrix of such columns can stay sparse."""
        return False

    @classmethod
    def encode_stored(
        cls, columns: Sequence[Self], of: NDArray[np.int64], cells: Cells
    ) -> NDArray[Any]:
        """Encode the stored cells of a sparse matrix of columns that keep zeros.

        Args:
            columns: Columns of this kind.
            of: For each stored cell, the index of its column.
            cells: The stored cells.

        Returns:
            One number a cell. This default encodes column by column; override it for speed.
        """
        values = np.zeros(len(cells))
        for i, column in enumerate(columns):
            at = np.flatnonzero(of == i)
            if len(at):
                values[at] = column.encode(cells.take(at)).values[:, 0]
        return values

    @property
    def squared_norm(self) -> float:
        """What the column adds to the squared norm of a typical encoded row: a guess from public
        facts, used to choose a step size. By default that of entries of size 1."""
        return float(self.entries)

    # What has to be learnt before rows can be encoded: from one noisy histogram

    @property
    def learns(self) -> int:
        """How many numbers must be learnt of the column before it can be encoded; 0: none."""
        return 0

    def bin_of(self, cells: Cells, bins: int) -> NDArray[np.int64]:
        """The histogram bin of each row's cell, from 0 to bins - 1; -1: in none.

        A row is in at most one bin, so it changes one count by one: the l2 sensitivity of the
        histogram is 1.
        """
        raise NotImplementedError(f"{type(self).__name__}.bin_of: needed where something is learnt")

    def learnt_from(self, noisy: NDArray[np.float64], noise: float, rows: int) -> tuple[float, ...]:
        """What follows from the noisy counts and public facts alone.

        Args:
            noisy: The counts of the bins, with noise.
            noise: The standard deviation of the noise of one count.
            rows: The number of rows of the table, which is public.

        Returns:
            As many numbers as the column `learns`.
        """
        raise NotImplementedError(f"{type(self).__name__}.learnt_from: see bin_of")

    def with_learnt(self, numbers: tuple[float, ...]) -> Column:
        """The column with what was learnt declared; it learns nothing more."""
        raise NotImplementedError(f"{type(self).__name__}.with_learnt: see bin_of")

    # Words

    def describe(self) -> str:
        """The declared values in words, for the report."""
        hidden = {"kind", "name"}
        facts = self.model_dump(mode="json", exclude=hidden, exclude_none=True)
        return ", ".join(f"{name} {value}" for name, value in facts.items())

    def facts(self) -> dict[str, Any]:
        """The declaration as it counts for the fingerprint of a schema."""
        found = self.model_dump(mode="json")
        for name in self.added_fields:
            if getattr(self, name) == type(self).model_fields[name].default:
                del found[name]
        return found

    @classmethod
    def infer(cls, name: str, cells: Cells) -> Column | None:
        """A column of this kind, read off the cells; None where the kind does not suit them.

        For simulations only: what it returns depends on the rows.
        """
        return None


class ColumnKinds(Registry[type[Column]]):
    """The registry of column kinds; a kind is found by the default of its field `kind`."""

    def name_of(self, kind: type[Column]) -> object:
        field = getattr(kind, "model_fields", {}).get("kind")
        return None if field is None else field.default


column_kinds = ColumnKinds("column kind", "honestdp.schema.kinds", "honestdp.columns")
