"""Contract suites: whether a kind of one's own does what the library relies on.

    from honestdp.testing import check_optimizer

    def test_my_optimizer():
        check_optimizer(Mine)

Each is one call that raises `AssertionError` with what to do about it. No test runner is needed.
"""

from honestdp.testing.models import check_model
from honestdp.testing.optimizers import check_optimizer

__all__ = ["check_model", "check_optimizer"]
