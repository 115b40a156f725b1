"""`BucketColumn`: what the kinds share whose cells are hashed to a declared number of buckets."""

from __future__ import annotations

from honestdp.schema.kinds.base import Column


class BucketColumn(Column):
    """A column with one encoded column per bucket. A kind declares how many there may be."""

    buckets: int

    @property
    def encoded_names(self) -> list[str]:
        return [f"{self.name} bucket {i}" for i in range(self.buckets)]

    @property
    def width(self) -> int:
        return self.buckets
