"""`Hashed`: categories too many to list, hashed to a declared number of buckets."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from honestdp.schema.blocks import Entries
from honestdp.schema.cells import Cells
from honestdp.schema.hashing import bucket_of_each
from honestdp.schema.kinds.base import CellLists, column_kinds
from honestdp.schema.kinds.buckets import BucketColumn

MOST_BUCKETS = 2**24
MOST_MADE_UP = 1000  # different texts


@column_kinds.register
class Hashed(BucketColumn):
    """A column of thousands of categories, such as postcodes or products.

    Each cell is hashed to one of the buckets (`honestdp.schema.hashing`); cells that share one
    share a weight. No list of categories is read from the rows.

    Args:
        name: The column of the table.
        buckets: Number of buckets, from 2 on. A missing cell is in none.

    Example:
        >>> Hashed(name="zip", buckets=2).encoded_names
        ['zip bucket 0', 'zip bucket 1']
    """

    label: ClassVar[str] = "hashed category"
    form: ClassVar[tuple[str, ...]] = ('kind = "hashed"', "buckets = 256")
    form_help: ClassVar[tuple[str, ...]] = ("thousands of categories, none of them listed",)
    remedies: ClassVar[dict[str, str]] = {
        "buckets": f"must be a whole number from 2 to {MOST_BUCKETS}"
    }

    kind: Literal["hashed"] = "hashed"
    buckets: Annotated[int, Field(strict=True, ge=2, le=MOST_BUCKETS)]

    @property
    def known_norm(self) -> float:
        return 1.0

    def encode(self, cells: Cells) -> Entries:
        places = bucket_of_each(cells.texts(), self.buckets)[:, None]
        return Entries(np.maximum(places, 0), (places >= 0).astype(np.float64))

    def as_one_hot(self) -> Hashed:
        return self

    def made_up(self, rows: int, source: np.random.RandomState) -> CellLists:
        """Texts, twice as many different ones as there are buckets, up to a thousand."""
        numbers = source.randint(min(2 * self.buckets, MOST_MADE_UP), size=rows)
        return {self.name: [f"value {number}" for number in numbers]}

    @property
    def encoding_words(self) -> str:
        return f"hashed to {self.buckets} buckets"
