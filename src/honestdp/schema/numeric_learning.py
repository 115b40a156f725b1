"""What is learnt about a column of numbers from a noisy histogram: bounds, then edges, then scale.

Only counts with noise and public facts are used here; `honestdp.schema.learn` adds the noise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from honestdp.schema.noisy_histogram import Histogram, cell_edges, fill

if TYPE_CHECKING:
    from honestdp.schema.kinds.numeric import Numeric

MOST_BINS = 4096


def learnt_numbers(
    column: Numeric, noisy: NDArray[np.float64], noise: float, rows: int
) -> tuple[float, ...]:
    """Bounds at the declared quantiles, edges at equal shares of the rows, mean and twice the
    deviation: of the counts that stand out from the noise (`Histogram.clear`). Where none does,
    the outer range, equal bins and the middle."""
    low, high = column.range
    clear = Histogram.clear(cell_edges(low, high, len(noisy)), noisy, noise, rows)
    learnt: list[float] = []
    if column.is_open("bounds"):
        if clear is not None:
            found = clear.quantiles(*column.learn_quantiles)
            low, high = found if has_room(*found) else (low, high)
        learnt += [low, high]
    if column.is_open("edges"):
        count = column.bin_count
        cuts = [] if clear is None else clear.bin_edges(count, low, high)
        learnt += cuts or fill([], count - 1, low, high)
    if column.is_open("scale"):
        shift, deviation = (low + high) / 2, (high - low) / 4
        if clear is not None:
            shift, spread = clear.mean_and_deviation()
            deviation = max(spread, 1e-6 * (high - low))
        learnt += [shift, 2 * deviation]
    return tuple(learnt)


def with_numbers(column: Numeric, numbers: tuple[float, ...]) -> dict[str, Any]:
    """The fields of the column that declares what `learnt_numbers` returned."""
    rest = list(numbers)
    facts = column.model_dump()
    if column.is_open("bounds"):
        low, high = rest.pop(0), rest.pop(0)
        facts |= {"bounds": (low, high), "outer": None, "quantiles": None}
        if isinstance(column.missing, float):
            facts["missing"] = min(max(column.missing, low), high)
    if column.is_open("edges"):
        cuts = [rest.pop(0) for _ in range(column.bin_count - 1)]
        facts |= {"edges": tuple(cuts), "bins": None}
    if column.is_open("scale"):
        facts["scale"] = rest.pop(0), rest.pop(0)
    return facts


def has_room(low: float, high: float) -> bool:
    """Whether as many bins as there may be find edges between two numbers."""
    return bool(high - low > 4 * MOST_BINS * np.spacing(max(abs(low), abs(high))))
