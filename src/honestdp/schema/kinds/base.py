"""`Column`: the contract of a kind of column; and the registry of kinds.

A kind is a pydantic class: its fields are what a schema declares about such a column. It defines
how cells become numbers, what has to be learnt about them with noise, and all texts about it: the
lines of the form that `honestdp schema` writes, the messages for wrong declarations, the report.

    @column_kinds.register
    class YesNo(Column):
        kind: Literal["yes-no"] = "yes-no"
        yes: Categories = ("yes",)

        @property
        def encoded_names(self) -> list[str]:
            return [self.name]

        def encode(self, cells: Cells) -> Entries:
            return Entries(np.zeros(1, np.int64), (cells.places(self.yes)[:, None] >= 0) * 1.0)

Privacy rests on the contract of `encode` and `bin_of`: row i of the result depends on cell i and
the declaration alone; no cell raises; and all rows have the same number of stored entries, or
(texts) a number that follows from the row itself.
`honestdp.testing.columns.check_column_kind` tests it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from honestdp.registry import Registry
from honestdp.schema.blocks import Block, as_matrix
from honestdp.schema.cell_problems import CellProblems
from honestdp.schema.cells import Cells
from honestdp.schema.cells import cells as cells_of
from honestdp.schema.fields import Name
from honestdp.schema.problems import Declaration

if TYPE_CHECKING:
    from honestdp.schema.tables import Table

CellLists: TypeAlias = Mapping[str, Sequence[Any] | NDArray[Any]]  # by name of column

BLOCK_NORM = 2.0  # of counts, texts and images in a row: as much as four columns of categories


class Representative(NamedTuple):
    """A cell that stands for many, where the effect of a column is shown.

    label: The text beside it. position: Its place on an axis; None: it has none, as a category.
    cell: The cell as a table holds it. note: What else to know about it, in a few words.
    """

    label: str
    position: float | None
    cell: object
    note: str = ""


class Column(Declaration):
    """A declared input column. Subclass it and register the class to add a kind.

    Args:
        kind: The name of the kind; a subclass declares it as `kind: Literal["mine"] = "mine"`.
        name: The column of the table that it is read from.

    A subclass must define `encoded_names` and `encode`, or `encode_from` if it reads several
    columns of the table. By default nothing is learnt, a cell of 0 need not be encoded as 0, and
    the kind is never inferred from rows.

    Attributes:
        label: The kind's name in a report, such as "number".
        form: The keys and values of an example, such as ('kind = "numeric"', "bounds = [0, 1]"):
            `honestdp schema` shows them as one line of TOML.
        form_help: Lines below that example, about what to write there.
        remedies: For each field, what to write there; shown when its value is refused.
        infer_order: Kinds with a lower number are tried first when a simulation infers a schema.
        added_fields: Optional fields that the first release of the kind did not have. While they
            have their default they are not part of a schema's fingerprint, so that existing
            ledgers still fit.
        scaled_together: Whether all columns of such kinds are scaled, in every row, to one public
            norm together.
        question: The name of the question of a plan that pays for what its columns learn: "columns"
            or "categories", which has a smaller share of the budget.
        tells_order: Whether a number beside the categories says where a cell lies among them.
        is_block: Whether the kind itself scales its part of every row to the norm BLOCK_NORM.
    """

    label: ClassVar[str] = ""
    form: ClassVar[tuple[str, ...]] = ()
    form_help: ClassVar[tuple[str, ...]] = ()
    remedies: ClassVar[Mapping[str, str]] = {"name": "give a text"}
    infer_order: ClassVar[int] = 0
    added_fields: ClassVar[frozenset[str]] = frozenset()
    scaled_together: ClassVar[bool] = False
    question: ClassVar[str] = "columns"
    tells_order: ClassVar[bool] = False
    is_block: ClassVar[bool] = False

    kind: str
    name: Name

    # The encoding

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns of the table that it reads; by default the one of its name."""
        return (self.name,)

    @property
    @abstractmethod
    def encoded_names(self) -> list[str]:
        """The names of the encoded columns; they do not depend on any row."""

    @property
    def width(self) -> int:
        """The number of encoded columns."""
        return len(self.encoded_names)

    @property
    def entries(self) -> int | None:
        """Number of stored entries of a row in this column, the same for every row; None if a row
        stores as many as it needs, as a text does."""
        return 1

    def encode(self, cells: Cells) -> Block:
        """Encode the cells of every row.

        Args:
            cells: The column. `cells.numbers()`, `cells.places(values)` and `cells.texts()` read
                it; none of them ever raises.

        Returns:
            The entries; a SciPy CSR matrix [rows, width] if `entries` is None. Row i must depend on
            cell i and this declaration alone.
        """
        raise NotImplementedError(f"{type(self).__name__}: define encode or encode_from")

    def encode_from(self, table: Table) -> Block:
        """Encode the rows of a table; for kinds that read several of its columns.

        Args:
            table: The opened table. `table.cells(name)` is a column, `table.numbers(names)` several
                as an array of numbers.

        Returns:
            As `encode`. Row i must depend on row i and this declaration alone.
        """
        return self.encode(table.cells(self.name))

    def bound_to(self, others: Mapping[str, Column]) -> Column:
        """Look up the other columns of the schema that the column refers to.

        Args:
            others: The columns of the schema, by name.

        Returns:
            The column that knows them; by default this one, which refers to none.

        Raises:
            ValueError: If one is not there, or does not suit.
        """
        return self

    def as_one_hot(self) -> Column | None:
        """The column with one entry of 1 per row, for `Cross`; None if it has no such form."""
        return None

    def with_default_encoding(self, pieces: int) -> Column:
        """Fill in how the column is encoded, where the schema leaves it open.

        Args:
            pieces: Into how many pieces the table, by public facts, lets a curve be cut; 0: none.

        Returns:
            A column that leaves nothing open; by default this one.
        """
        return self

    def encoded_as(self, encode: str) -> Column:
        """The column encoded in a way that a setting of a grid asks for, where the schema leaves
        it open.

        Args:
            encode: "linear", "bins", "both" or "spline", as of numeric columns.

        Returns:
            The column; by default this one, which has but one encoding.
        """
        return self

    def with_default_rare(self) -> Column:
        """The column that learns which of its categories have too few rows for a weight of their
        own, where the schema leaves that open; by default this one, as it has no categories."""
        return self

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
            One number per cell. This default encodes column by column; override it for speed.
        """
        values = np.zeros(len(cells))
        for i, column in enumerate(columns):
            at = np.flatnonzero(of == i)
            if len(at):
                values[at] = column.encode(cells.take(at)).values[:, 0]
        return values

    @property
    def squared_norm(self) -> float:
        """What the column adds to the squared norm of a typical encoded row: an estimate from
        public facts, by which rows are scaled. By default that of entries of size 1."""
        return BLOCK_NORM**2 if self.is_block else float(self.entries or 1)

    @property
    def known_norm(self) -> float:
        """The part of `squared_norm` that every row has, or nearly every one, whatever its cells.
        By default none but that of a block: then the norm of a typical row is learnt with noise."""
        return BLOCK_NORM**2 if self.is_block else 0.0

    def representatives(self) -> Sequence[Representative]:
        """Cells at which a linear model's effect of the column is shown.

        The effect at each is computed with `encode`. Those with a position, in rising order, make a
        line or a curve, the others bars; beside a curve, one without is a case apart, such as a
        missing cell. By default there are none: then the weight of every encoded column is shown
        as it is.
        """
        return ()

    def never_used(self) -> Mapping[int, str]:
        """The encoded columns that are 0 in every row, and why, for kinds without representatives:
        their weights are noise alone, so no effect of them is shown. By default there are none."""
        return {}

    def made_up(self, rows: int, source: np.random.RandomState) -> CellLists:
        """Make up cells from the declaration alone, for `honestdp simulate`.

        Args:
            rows: Number of cells to make up.
            source: Where all random numbers must come from, so that a seed repeats them.

        Returns:
            For each column of the table in `sources` as many cells, such as a CSV file may hold:
            none is missing, all are within the declaration. A kind that reads only columns which
            others declare, as `Cross`, makes up none. By default the cells of `representatives`
            that the declaration can read, each as often; digits if there is none.
        """
        found = [one.cell for one in self.representatives() if one.cell is not None]
        known = [cell for cell in found if not self.unfit(cells_of([cell])).any()]
        choices = np.array(known or list(range(10)), dtype=object)
        return {name: choices[source.randint(len(choices), size=rows)] for name in self.sources}

    # What has to be learnt before rows can be encoded: from one noisy histogram

    @property
    def learns(self) -> int:
        """Number of values that must be learnt before the column can be encoded; 0: none."""
        return 0

    def histogram_bins(self, bins: int) -> int:
        """Number of bins of its histogram.

        Args:
            bins: As many as there are by default.
        """
        return bins

    def bin_of(self, cells: Cells, bins: int) -> NDArray[np.int64]:
        """Assign each row's cell to a histogram bin.

        A row is in at most one bin, so it changes one count by one: the l2 sensitivity of the
        histogram is 1.

        Args:
            cells: The column.
            bins: Number of bins.

        Returns:
            A bin from 0 to bins - 1 per row; -1: none.
        """
        raise NotImplementedError(f"{type(self).__name__}.bin_of: needed if `learns` is not 0")

    def learnt_from(self, noisy: NDArray[np.float64], noise: float, rows: int) -> tuple[float, ...]:
        """Compute the learnt values from the noisy counts and public facts alone.

        Args:
            noisy: The counts of the bins, with noise.
            noise: The standard deviation of the noise of one count.
            rows: The number of rows of the table, which is public.

        Returns:
            As many numbers as the column `learns`.
        """
        raise NotImplementedError(f"{type(self).__name__}.learnt_from: see bin_of")

    def with_learnt(self, numbers: tuple[float, ...]) -> Column:
        """Make the column that declares the learnt values and learns nothing more.

        Args:
            numbers: From `learnt_from`.

        Returns:
            The column.
        """
        raise NotImplementedError(f"{type(self).__name__}.with_learnt: see bin_of")

    def learnt_facts(self, made: Self) -> dict[str, Any]:
        """What was learnt, by field, for the card: it is paid for, and so public.

        Args:
            made: The column from `with_learnt`.

        Returns:
            The fields in which it differs from this one and that it has, as JSON holds them.
        """
        mine, found = (one.model_dump(mode="json", exclude_none=True) for one in (self, made))
        return {name: value for name, value in found.items() if value != mine.get(name)}

    def learnt_words(self, made: Self) -> str:
        """What was learnt, in words for card and report.

        Args:
            made: The column from `with_learnt`.
        """
        facts = self.learnt_facts(made)
        return "; ".join(f"{name} {_written(value)}" for name, value in facts.items())

    # What a keeper, or a user of the model, should know about cells

    def problems(self, cells: Cells) -> CellProblems:
        """Count the cells that the declaration does not expect, without noise: sensitive, unless
        the rows are the caller's own.

        Args:
            cells: The column.

        Returns:
            The counts. By default missing cells and `distinct_capped` alone: override it where the
            kind knows more.
        """
        missing = int(cells.missing().sum())
        return CellProblems(len(cells), missing, distinct_capped=self.distinct(cells))

    def absent(self, cells: Cells) -> Sequence[str]:
        """The declared categories that no row has, for the keeper of the table: they may be spelled
        otherwise in it. Sensitive. By default none are declared.

        Args:
            cells: The column.
        """
        return ()

    def unfit(self, cells: Cells) -> NDArray[np.bool_]:
        """Whether each cell is there, but the declaration cannot read it: it is no number where one
        is declared, or none of the categories. Sensitive.

        `honestdp tune` pays for a noisy count of these cells before it trains.

        Args:
            cells: The column.

        Returns:
            One truth value per row; row i must depend on cell i and this declaration alone. By
            default every cell fits. Override it together with `problems`: as many cells as are
            `unreadable` or `unknown` there.
        """
        return np.zeros(len(cells), dtype=np.bool_)

    def distinct(self, cells: Cells) -> int:
        """How many different values the encoded cells have, capped at 2; the cells themselves, as
        long as something has to be learnt before they can be encoded, and of a kind that reads
        several columns of the table. Sensitive.

        Args:
            cells: The column.
        """
        if not len(cells):
            return 0
        if self.learns or self.sources != (self.name,):
            return min(2, len(cells.categories()) + bool(cells.missing().any()))
        found = as_matrix(self.encode(cells), self.width).copy()
        found.eliminate_zeros()
        found.sort_indices()
        entries = np.diff(found.indptr)
        if (entries != entries[0]).any():
            return 2
        stored = (one.reshape(len(cells), entries[0]) for one in (found.indices, found.data))
        return 1 if all((one == one[:1]).all() for one in stored) else 2

    # Texts

    @property
    def encoding_words(self) -> str:
        """How the column is encoded, in a few words for the plan; columns of equal words are listed
        together. Empty: nothing worth a word."""
        return ""

    def describe(self) -> str:
        """The declared values as a text, for the report."""
        hidden = {"kind", "name"}
        facts = self.model_dump(mode="json", exclude=hidden, exclude_none=True)
        return ", ".join(f"{name} {value}" for name, value in facts.items())

    def facts(self) -> dict[str, Any]:
        """The declaration as it enters the fingerprint of a schema."""
        found = self.model_dump(mode="json")
        for name, declared in type(self).model_fields.items():
            key = declared.alias or name
            if key in self.added_fields and getattr(self, name) == declared.default:
                del found[key]
        return found

    @classmethod
    def infer(cls, name: str, cells: Cells) -> Column | None:
        """Infer a column of this kind from cells; for simulations only, as it reads the rows.

        Args:
            name: The name of the column.
            cells: The column.

        Returns:
            The column; None if the kind does not suit the cells.
        """
        return None


def _written(value: Any) -> str:
    """A value, or a list of them, as text: numbers with six digits."""
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_written, value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)


class ColumnKinds(Registry[type[Column]]):
    """The registry of column kinds; a kind is found by the default of its field `kind`."""

    def name_of(self, kind: type[Column]) -> object:
        field = getattr(kind, "model_fields", {}).get("kind")
        return None if field is None else field.default


column_kinds = ColumnKinds("column kind", "honestdp.schema.kinds", "honestdp.columns", Column)
