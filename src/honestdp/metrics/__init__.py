"""What candidates are compared by: `base` is the contract, every other file a metric.

Importing this needs no torch: a metric's values are computed by the methods of the tensors it is
given.
"""

from honestdp.metrics.base import Metric
from honestdp.registry import Registry

__all__ = ["Metric", "default_metric", "metrics"]

metrics: Registry[Metric] = Registry("metric", "honestdp.metrics", "honestdp.metrics")


def default_metric(classes: int | None) -> Metric:
    """What candidates are compared by where nobody says: accuracy for classes, for numbers the
    squared error."""
    return metrics.get("accuracy" if classes else "squared_error")
