"""Honest private machine learning: one (epsilon, delta) for training, tuning and scoring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from honestdp.version import __version__

__all__ = [
    "Card",
    "CostTable",
    "Grid",
    "HonestSearch",
    "InputError",
    "Ledger",
    "Release",
    "Schema",
    "Spec",
    "__version__",
    "affordable",
    "load",
    "make_plan",
    "plan",
    "verify",
]

if TYPE_CHECKING:
    from honestdp.errors import InputError
    from honestdp.estimator import HonestSearch
    from honestdp.ledger import Ledger
    from honestdp.planning.affordable import affordable
    from honestdp.planning.costs import plan
    from honestdp.planning.grid import Grid
    from honestdp.planning.make import make_plan
    from honestdp.planning.spec import Spec
    from honestdp.planning.table import CostTable
    from honestdp.release.card import Card, verify
    from honestdp.release.released import Release
    from honestdp.release.saved import load
    from honestdp.schema import Schema

# Loaded on first use: `import honestdp` stays instant, and nothing but training needs torch.
_HOMES = {
    "Card": "honestdp.release.card",
    "CostTable": "honestdp.planning.table",
    "Grid": "honestdp.planning.grid",
    "HonestSearch": "honestdp.estimator",
    "InputError": "honestdp.errors",
    "Ledger": "honestdp.ledger",
    "Release": "honestdp.release.released",
    "Schema": "honestdp.schema",
    "Spec": "honestdp.planning.spec",
    "make_plan": "honestdp.planning.make",
    "affordable": "honestdp.planning.affordable",
    "load": "honestdp.release.saved",
    "plan": "honestdp.planning.costs",
    "verify": "honestdp.release.card",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'honestdp' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
