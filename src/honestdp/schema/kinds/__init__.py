"""Kinds of columns: `base.py` is the contract, every other module is one kind."""

from honestdp.schema.blocks import Entries
from honestdp.schema.kinds.base import Column, Representative, column_kinds
from honestdp.schema.kinds.numeric import Numeric  # first: the order of the form's choices

from honestdp.schema.kinds.categorical import Categorical  # isort: skip
from honestdp.schema.kinds.boolean import Boolean  # isort: skip
from honestdp.schema.kinds.ordinal import Ordinal  # isort: skip
from honestdp.schema.kinds.date import Date  # isort: skip
from honestdp.schema.kinds.counts import Counts  # isort: skip
from honestdp.schema.kinds.hashed import Hashed  # isort: skip
from honestdp.schema.kinds.cross import Cross  # isort: skip
from honestdp.schema.kinds.text import Text  # isort: skip
from honestdp.schema.kinds.image import Image  # isort: skip

__all__ = [
    "Boolean",
    "Categorical",
    "Column",
    "Counts",
    "Cross",
    "Date",
    "Entries",
    "Hashed",
    "Image",
    "Numeric",
    "Ordinal",
    "Representative",
    "Text",
    "column_kinds",
]
