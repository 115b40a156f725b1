"""Parquet files, known by their first four bytes, whatever their name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import ClassVar

import pyarrow as pa
import pyarrow.parquet as parquet

from honestdp.errors import InputError
from honestdp.schema.sources.base import Source, sources
from honestdp.schema.sources.options import TableOptions


@sources.register
class ParquetSource(Source):
    """A Parquet file. Its own metadata has the names and the number of rows."""

    name: ClassVar[str] = "parquet"
    label: ClassVar[str] = "a Parquet file"
    magic: ClassVar[bytes] = b"PAR1"

    def __init__(self, place: str, options: TableOptions) -> None:
        super().__init__(place, options)
        with self._sound():
            self.names = list(parquet.read_schema(place).names)

    def count_rows(self, wanted: Sequence[str]) -> int:
        with self._sound():
            return int(parquet.read_metadata(self.place).num_rows)

    def read(self, wanted: Sequence[str]) -> pa.Table:
        with self._sound():
            return parquet.ParquetFile(self.place).read()

    @contextmanager
    def _sound(self) -> Iterator[None]:
        try:
            yield
        except Exception:
            raise InputError(f"{self}: not a valid Parquet file; write it again") from None
