"""`TableCheck`: how well a table fits its schema, as counts, sentences and a verdict.

The counts are exact. They are for whoever sees the rows anyway (the keeper of the table), and
everything that shows them says so first; or the rows are public. What is shown are counts, names of
columns and classes of the schema, never a cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from honestdp.schema.cell_problems import CellProblems
from honestdp.text import columns as aligned
from honestdp.text import listed

KEEPER = (
    "FOR THE KEEPER OF THE TABLE ONLY: exact counts of protected rows, without noise. They are not "
    "private; do not pass them on."
)
LONG = 60  # columns; of a wider table only those are listed of which there is something to tell


@dataclass(frozen=True)
class Finding:
    """Something to know about a column. serious: a model would suffer from it."""

    text: str
    serious: bool


@dataclass(frozen=True, repr=False)
class ColumnCheck:
    """How well one column fits its declaration. Sensitive, unless the rows are public.

    Attributes:
        name: The column.
        label: Its kind, as reports call it.
        problems: How many of its cells the declaration does not expect.
        findings: What to know about it, in sentences.
        classes: For a target with classes, the number of rows of each.
    """

    name: str
    label: str
    problems: CellProblems
    findings: tuple[Finding, ...]
    classes: dict[str, int] | None = None

    def __repr__(self) -> str:
        return f"ColumnCheck({self.name!r})"

    @property
    def constant(self) -> bool:
        """Whether all cells are encoded alike, so that a model learns nothing from them."""
        return self.problems.distinct_capped == 1

    @property
    def fits(self) -> bool:
        """Whether nothing serious was found."""
        return not any(finding.serious for finding in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """The counts and sentences, for JSON."""
        found = self.problems
        facts: dict[str, Any] = {
            "name": self.name,
            "kind": self.label,
            "missing": found.missing,
            "unreadable": found.unreadable,
            "unknown": found.unknown,
            "clipped": found.outside,
            "constant": self.constant,
            "fits": self.fits,
            "findings": [finding.text for finding in self.findings],
        }
        return facts if self.classes is None else {**facts, "classes": self.classes}


@dataclass(frozen=True, repr=False)
class TableCheck:
    """How well a table fits its schema. Sensitive, unless the rows are public.

    `str()` of it is the whole report, `to_dict()` the same for programs.

    Attributes:
        source: What the table is called.
        public: Whether the rows were said to be public; otherwise the report is for the keeper
            of the table only, and says so.
        rows: The number of rows.
        width: The number of encoded columns.
        columns: The columns of the table that inputs are read from, in the order of the schema.
        target: The target.
        unused: The columns of the table that the schema does not name.
    """

    source: str
    public: bool
    rows: int
    width: int
    columns: tuple[ColumnCheck, ...]
    target: ColumnCheck
    unused: tuple[str, ...]

    def __repr__(self) -> str:
        whose = "public rows" if self.public else "for the keeper of the table only"
        return f"TableCheck({self.source}, {whose})"

    @property
    def fits(self) -> bool:
        """Whether nothing serious was found in any column."""
        return not self._misfits

    @property
    def mark(self) -> str | None:
        """For whom the result is; None if the rows are public."""
        return None if self.public else KEEPER

    @property
    def headline(self) -> str:
        """The mark and the verdict."""
        return "\n".join(filter(None, (self.mark, f"verdict: {self.verdict}")))

    @property
    def verdict(self) -> str:
        """The result in one line."""
        if self._misfits:
            return f"does not fit the schema: {listed(self._misfits)}; mend that before you tune"
        notes = sum(len(column.findings) for column in self._all)
        if not notes:
            return "fits the schema"
        return f"fits the schema, with {notes} {'note' if notes == 1 else 'notes'}"

    def to_dict(self) -> dict[str, Any]:
        """The whole report, for JSON; the first key marks it unless the rows are public."""
        return {
            **({} if self.mark is None else {"mark": self.mark}),
            "table": self.source,
            "rows": self.rows,
            "width": self.width,
            "fits": self.fits,
            "verdict": self.verdict,
            "columns": [column.to_dict() for column in self.columns],
            "target": self.target.to_dict(),
            "unused": list(self.unused),
        }

    def __str__(self) -> str:
        headers = ("column", "kind", "missing", "unreadable", "unknown", "clipped")
        lines = [] if self.mark is None else [self.mark]
        lines.append(f"{self.source}: {self.rows} rows, encoded as {self.width} numbers each")
        told = [c for c in self._all if len(self._all) <= LONG or c.findings or any(_counts(c))]
        lines += aligned(headers, [(c.name, c.label, *_counts(c)) for c in told], left=2)
        if len(told) < len(self._all):
            lines.append(f"and {len(self._all) - len(told)} columns with nothing to tell")
        if self.target.classes is not None:
            found = ", ".join(f"{name} {count}" for name, count in self.target.classes.items())
            lines.append(f"classes of {self.target.name}: {found}")
        if self.unused:
            lines.append(f"not used by the schema: {listed(self.unused)}")
        for column in self._all:
            lines += [
                f"{'PROBLEM' if finding.serious else 'note'}: {column.name}: {finding.text}"
                for finding in column.findings
            ]
        return "\n".join([*lines, f"verdict: {self.verdict}"])

    @property
    def _all(self) -> tuple[ColumnCheck, ...]:
        return (*self.columns, self.target)

    @property
    def _misfits(self) -> list[str]:
        return [column.name for column in self._all if not column.fits]


def _counts(column: ColumnCheck) -> tuple[int, ...]:
    found = column.problems
    return found.missing, found.unreadable, found.unknown, found.outside
