"""`TableOptions`: how a table is written, where it does not say so itself."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, fields

from honestdp.errors import InputError, fail

_TABS = ("tab", r"\t")
# Where a byte of one row can change how later rows are read, or which are no character sets.
_REFUSED = (
    "hz",
    "idna",
    "iso2022",
    "punycode",
    "raw_unicode",
    "undefined",
    "unicode_escape",
    "utf_7",
)


@dataclass(frozen=True)
class TableOptions:
    """What is declared about how a table is written. Public; nothing is taken from rows.

    Args:
        delimiter: The separator of a CSV file's cells, one character ("tab" is one too). By default
            that of the header.
        decimal: The decimal mark of numbers that are text: "." or ",". By default a point.
        encoding: The character encoding of a CSV file, such as "latin-1". By default UTF-8; UTF-16
            with a byte order mark, and Windows-1252 if the header is not UTF-8.
        sheet: The sheet of a workbook. By default the first.
        query: The SQL query whose rows are the table.

    Raises:
        InputError: If one of them is not possible.

    Example:
        >>> TableOptions(delimiter="tab").given
        {'delimiter': '\\t'}
    """

    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    sheet: str | None = None
    query: str | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and not isinstance(value, str):
                raise fail(field.name, value, "must be a text")
        if self.delimiter in _TABS:
            object.__setattr__(self, "delimiter", "\t")
        mark = self.delimiter
        if mark is not None and (len(mark) != 1 or not mark.isascii() or mark in '"\r\n\0'):
            raise fail("delimiter", mark, "must be one character, such as ; or tab")
        if self.decimal not in (None, ".", ","):
            raise fail("decimal", self.decimal, "must be . or ,")
        if self.encoding is not None:
            object.__setattr__(self, "encoding", _encoding(self.encoding))

    @property
    def given(self) -> dict[str, str]:
        """The options that are not left to their default."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}

    def check(self, names: frozenset[str], source: str, kind: str) -> None:
        """Raise InputError if an option is given that is none of these names."""
        for name in self.given:
            if name not in names:
                raise InputError(f"{name}: {source} is {kind}, which has none; leave it out")


def _encoding(name: str) -> str:
    """Python's name of an encoding."""
    try:
        found = codecs.lookup(name)
        known = found.name.replace("-", "_")
        if not found._is_text_encoding or known.startswith(_REFUSED):
            raise LookupError
    except (LookupError, ValueError):
        remedy = "is not a known encoding; give one such as utf-8, utf-16, latin-1, cp1252"
        raise fail("encoding", name, remedy) from None
    return "utf-8" if known in ("utf_8", "utf_8_sig") else found.name
