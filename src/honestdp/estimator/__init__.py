"""The scikit-learn face: `HonestSearch`."""

from honestdp.estimator.search import HonestSearch

__all__ = ["HonestSearch"]
