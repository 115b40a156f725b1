"""Excel workbooks (.xlsx), through openpyxl. The first row of a sheet holds the names.

Every row from the second to the last that the sheet has is a row, empty ones too: whether a record
is there must not depend on its cells. Cells without a name above them are ignored.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, ClassVar

import pyarrow as pa

from honestdp.errors import InputError, fail
from honestdp.schema.cells import as_text
from honestdp.schema.sources.base import ParsedSource, sources
from honestdp.schema.sources.objects import text_table
from honestdp.schema.sources.options import TableOptions


@sources.register
class XlsxSource(ParsedSource):
    """One sheet of a workbook."""

    name: ClassVar[str] = "xlsx"
    label: ClassVar[str] = "a workbook"
    magic: ClassVar[bytes] = b"PK\x03\x04"
    options: ClassVar[frozenset[str]] = frozenset({"decimal", "sheet"})

    def __init__(self, place: str, options: TableOptions) -> None:
        super().__init__(place, options)
        self._sheet, self._decimal = options.sheet, options.decimal or "."
        with self._rows() as rows:
            self.names = [(as_text(cell) or "").strip() for cell in next(rows, ())]
        if not any(self.names):
            raise InputError(f"{self}: no header; the first row must hold the names of the columns")

    def parse(self, wanted: Sequence[str]) -> pa.Table:
        at = [i for i, name in enumerate(self.names) if name in set(wanted)] or [0]
        with self._rows() as rows:
            next(rows, None)
            kept = [[row[i] if i < len(row) else None for i in at] for row in rows]
        return text_table([self.names[i] for i in at], kept, self._decimal)

    @contextmanager
    def _rows(self) -> Iterator[Iterator[tuple[Any, ...]]]:
        """The rows of the sheet. Sensitive."""
        try:
            from openpyxl import load_workbook
        except ImportError:
            way = "pip install 'honestdp[xlsx]', or save it as CSV"
            raise InputError(f"{self}: a workbook is read by openpyxl: {way}") from None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # some are about single cells
                book = load_workbook(self.place, read_only=True, data_only=True, keep_links=False)
                try:
                    sheet = self._chosen(book)
                    sheet.reset_dimensions()  # which some programs write wrongly
                    yield sheet.iter_rows(values_only=True)
                finally:
                    book.close()
        except InputError:
            raise
        except Exception:
            raise InputError(f"{self}: not a valid workbook; save it as CSV or again") from None

    def _chosen(self, book: Any) -> Any:
        sheets = {sheet.title: sheet for sheet in book.worksheets}
        if not sheets:
            raise InputError(f"{self}: has no sheet with cells; save it as CSV")
        if self._sheet is None:
            return next(iter(sheets.values()))
        if self._sheet not in sheets:
            listed = ", ".join(repr(title[:60]) for title in list(sheets)[:20])
            raise fail("sheet", self._sheet, f"{self} has {listed}")
        return sheets[self._sheet]
