"""Kinds of columns: `base.py` is the contract, every other module is one kind."""

from honestdp.schema.kinds.base import CellProblems, Column, Entries, Representative, column_kinds
from honestdp.schema.kinds.numeric import Numeric  # first: the order of the form's choices

from honestdp.schema.kinds.categorical import Categorical  # isort: skip

__all__ = [
    "Categorical",
    "CellProblems",
    "Column",
    "Entries",
    "Numeric",
    "Representative",
    "column_kinds",
]
