"""Adult with few high incomes: an imbalanced table at hand, made by a public seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from honestdp.datasets.adult import adult
from honestdp.datasets.dataset import SPLIT_SEED, Dataset
from honestdp.errors import open_unit

SHARE = 0.06


def adult_rare(share: float = SHARE) -> Dataset:
    """Load Adult with only some of those who earn more than 50,000 dollars, so that they are rare.

    All others stay; which of the rare ones stay is drawn by a public seed. It is a table to try
    metrics and class weights on: that it was thinned by its target is not accounted for.

    Args:
        share: The share of the rare class in the rows to protect and in those to test on.

    Returns:
        The schema, the rows to protect (26,297 by default), the rows to test on.

    Raises:
        InputError: If the share is not between 0 and 1.

    Example:
        >>> rows = adult_rare().train
        >>> rows.num_rows
        26297
    """
    schema, train, validation = adult()
    made = schema.model_copy(update={"name": "adult-rare"})
    few = open_unit("share", share)
    return Dataset(made, _thinned(made, train, few), _thinned(made, validation, few))


def _thinned(schema: Any, table: Any, share: float) -> Any:
    target = schema.target
    rare = np.asarray(table[target.column].to_pylist()) == target.classes[1]
    wanted = min(int(share / (1 - share) * (~rare).sum()), int(rare.sum()))
    # RandomState draws the same permutation in every version of NumPy.
    chosen = np.random.RandomState(SPLIT_SEED).permutation(np.flatnonzero(rare))[:wanted]
    return table.take(pa.array(np.sort(np.concatenate([np.flatnonzero(~rare), chosen]))))
