"""Contract suites: one call checks a kind that you wrote. They need no test runner.

    from honestdp.testing import check_optimizer

    def test_my_optimizer():
        check_optimizer(Mine)

Each raises AssertionError with what is wrong and what the contract requires, and returns None
otherwise. `docs/extend.md` has an example of each.
"""

from honestdp.testing.card_formats import check_card_format
from honestdp.testing.columns import check_column_kind
from honestdp.testing.executors import check_executor
from honestdp.testing.metrics import check_metric
from honestdp.testing.models import check_model
from honestdp.testing.optimizers import check_optimizer
from honestdp.testing.procedures import check_procedure

__all__ = [
    "check_card_format",
    "check_column_kind",
    "check_executor",
    "check_metric",
    "check_model",
    "check_optimizer",
    "check_procedure",
]
