"""A scikit-learn pipeline that ends in an honest search.

    python examples/2_a_pipeline.py

Steps before the search see rows that nobody has paid for yet. Take those that work on one row at a
time (FunctionTransformer, Normalizer); one that learns from all rows, as StandardScaler does, would
leak. Bounds in the schema do the scaling instead.
"""

from pathlib import Path
from tempfile import mkdtemp

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from honestdp import HonestSearch, Ledger, Schema
from honestdp.schema import Numeric, Target

X, y = load_breast_cancer(return_X_y=True)
folder = Path(mkdtemp(prefix="honestdp-"))

# Every measurement is positive; their logarithms lie in a range that any pathologist can name.
schema = Schema(
    name="breast cancer",
    unit="one patient",
    columns=tuple(Numeric(name=f"log {i}", bounds=(-7.0, 9.0)) for i in range(X.shape[1])),
    target=Target(column="benign", classes=("0", "1")),
)
ledger = Ledger.create(folder / "cancer.ledger", schema=schema, epsilon=4.0, delta=1e-4)

search = HonestSearch(
    "logistic", "kappa-4", epsilon=4.0, delta=1e-4, schema=schema, ledger=ledger, progress=False
)
pipeline = make_pipeline(FunctionTransformer(lambda x: np.log(x + 1e-3)), search)
pipeline.fit(X, y)
print(search)
print("the noisy score that the budget paid for:", search.best_score_)

# The budget is spent. Whoever goes on is refused, cross-validation too: no fold is fitted, and the
# score of a protected row is never taken without noise.
try:
    cross_val_score(pipeline, X, y)
except ValueError as error:
    print("cross_val_score:", str(error).strip().splitlines()[0], str(error).strip()[-140:])
assert len(ledger.history()) == 1
