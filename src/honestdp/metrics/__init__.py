"""Metrics that candidates are compared by: `base` is the contract, every other file a metric.

Importing this does not import torch: a metric only calls methods of the tensors it is given.
"""

from honestdp.errors import positive, text, true_or_false
from honestdp.metrics.base import Metric
from honestdp.registry import Registry

__all__ = ["Metric", "default_metric", "metrics"]

metrics: Registry[Metric] = Registry(
    "metric",
    "honestdp.metrics",
    "honestdp.metrics",
    Metric,
    objects=True,
    needs={
        "bound": positive,
        "of_classes": true_or_false,
        "larger_is_better": true_or_false,
        **dict.fromkeys(("summary", "label", "meaning", "summed"), text),
    },
)


def default_metric(classes: int | None) -> Metric:
    """The default metric: accuracy for classes, the squared error for numbers."""
    return metrics.get("accuracy" if classes else "squared_error")
