"""What is public about a table, declared; and rows as numbers, by those declarations alone."""

from honestdp.schema.encode import Encoded, open_rows
from honestdp.schema.files import TableFile
from honestdp.schema.header import from_header
from honestdp.schema.kinds import Categorical, Column, Entries, Numeric, column_kinds
from honestdp.schema.learn import Learnt, learn_bounds, with_bounds
from honestdp.schema.schema import Schema
from honestdp.schema.tables import Table
from honestdp.schema.target import Target

__all__ = [
    "Categorical",
    "Column",
    "Encoded",
    "Entries",
    "Learnt",
    "Numeric",
    "Schema",
    "Table",
    "TableFile",
    "Target",
    "column_kinds",
    "from_header",
    "learn_bounds",
    "open_rows",
    "with_bounds",
]
