"""What is public about a table, declared; and rows as numbers, by those declarations alone."""

from honestdp.schema.columns import Categorical, Numeric, Target
from honestdp.schema.declared import Schema
from honestdp.schema.encode import Encoded, open_rows
from honestdp.schema.header import from_header
from honestdp.schema.learn import Learnt, learn_bounds, with_bounds
from honestdp.schema.tables import Table

__all__ = [
    "Categorical",
    "Encoded",
    "Learnt",
    "Numeric",
    "Schema",
    "Table",
    "Target",
    "from_header",
    "learn_bounds",
    "open_rows",
    "with_bounds",
]
