"""What would it cost? Public facts only: no data, no ledger, nothing is spent.

python examples/4_planning_only.py
"""

import honestdp
from honestdp import HonestSearch
from honestdp.datasets import adult

# Every procedure's cost for forty candidates that train at the same noise.
print(honestdp.cost_table(n=36177, lot_size=250, steps=2500, candidates=40, epsilon=1.0))

# What a search would do under one budget, and why.
schema = adult().schema
for grid in (None, "dpadam-4", "dpsgd-40"):
    search = HonestSearch(grid=grid, epsilon=1.0, delta=1e-6, schema=schema)
    print()
    print(f"grid: {grid}")
    print(search.plan(32561))
