"""What is public about a table, declared; and rows as numbers, by those declarations alone."""

from honestdp.schema.cell_problems import CellProblems
from honestdp.schema.encode import Encoded, open_rows
from honestdp.schema.files import TableFile
from honestdp.schema.header import from_header
from honestdp.schema.kinds import (
    Boolean,
    Categorical,
    Column,
    Counts,
    Cross,
    Date,
    Entries,
    Hashed,
    Image,
    Numeric,
    Ordinal,
    Representative,
    Text,
    column_kinds,
)
from honestdp.schema.learn import Learnt, learn_bounds, with_learnt
from honestdp.schema.schema import Schema
from honestdp.schema.tables import Table
from honestdp.schema.target import Target

__all__ = [
    "Boolean",
    "Categorical",
    "CellProblems",
    "Column",
    "Counts",
    "Cross",
    "Date",
    "Encoded",
    "Entries",
    "Hashed",
    "Image",
    "Learnt",
    "Numeric",
    "Ordinal",
    "Representative",
    "Schema",
    "Table",
    "TableFile",
    "Target",
    "Text",
    "column_kinds",
    "from_header",
    "learn_bounds",
    "open_rows",
    "with_learnt",
]
