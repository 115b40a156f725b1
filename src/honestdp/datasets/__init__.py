"""Tables that come with the package, as (schema, train, test)."""

from honestdp.datasets.adult import Dataset, adult

__all__ = ["Dataset", "adult"]
