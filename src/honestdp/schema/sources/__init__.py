"""Sources of tables: `base.py` is the contract, every other kind is one module."""

from honestdp.schema.sources.base import Source, check_names, kind_of, sources
from honestdp.schema.sources.options import TableOptions

__all__ = ["Source", "TableOptions", "check_names", "kind_of", "sources"]
