"""`Text`: free text as hashed words and pairs of words, in rows of one public norm."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field
from scipy.sparse import csr_matrix

from honestdp.schema.cells import Cells
from honestdp.schema.kinds.base import BLOCK_NORM, CellLists, column_kinds
from honestdp.schema.kinds.buckets import BucketColumn
from honestdp.schema.scaling import scale_to
from honestdp.schema.tokens import hashed_words


@column_kinds.register
class Text(BucketColumn):
    """A column of free text.

    The words of a text, and runs of up to `ngrams` words, are hashed to a fixed number of buckets
    (`honestdp.schema.tokens`): no list of words is needed, and none is read from the rows. A word
    counts once however often it occurs, and each text is scaled to one public norm. A text without
    words is all zeros.

    Args:
        name: The column of the table.
        buckets: Number of buckets, and so of encoded columns. Words that share a bucket cannot be
            told apart; more buckets add noise.
        ngrams: The longest run of words that is hashed: 1 for single words, 2 for pairs too.

    Example:
        >>> Text(name="subject", buckets=1024).width
        1024
    """

    label: ClassVar[str] = "text"
    form: ClassVar[tuple[str, ...]] = ('kind = "text"',)
    form_help: ClassVar[tuple[str, ...]] = ("free text, as hashed words and pairs of words",)
    remedies: ClassVar[dict[str, str]] = {
        "buckets": "must be a whole number from 2 to 1048576, such as 16384",
        "ngrams": "must be 1, 2 or 3",
    }

    is_block: ClassVar[bool] = True

    kind: Literal["text"] = "text"
    buckets: Annotated[int, Field(strict=True, ge=2, le=2**20)] = 2**14
    ngrams: Annotated[int, Field(strict=True, ge=1, le=3)] = 2

    @property
    def entries(self) -> None:
        return None

    def encode(self, cells: Cells) -> csr_matrix:
        found = hashed_words(cells.texts(), self.buckets, self.ngrams)
        scale_to(BLOCK_NORM, found)
        return found.astype(np.float32)

    def made_up(self, rows: int, source: np.random.RandomState) -> CellLists:
        """Texts of 3 to 20 words from a list of 500; some words are far more frequent."""
        lengths = source.randint(3, 21, size=rows)
        drawn = (500 ** source.random_sample(lengths.sum())).astype(int)
        parts = np.split(drawn, np.cumsum(lengths)[:-1]) if rows else []
        return {self.name: [" ".join(f"word{number}" for number in part) for part in parts]}

    @property
    def encoding_words(self) -> str:
        return f"as words hashed to {self.buckets} buckets"

    def describe(self) -> str:
        runs = "words" if self.ngrams == 1 else f"up to {self.ngrams} words in a row"
        return f"{runs}, hashed to {self.buckets} buckets"
