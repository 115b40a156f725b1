"""Honest private machine learning: one (epsilon, delta) for training, tuning and scoring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from honestdp.version import __version__

__all__ = [
    "BudgetError",
    "Card",
    "CostTable",
    "FolderError",
    "Grid",
    "HonestSearch",
    "InputError",
    "Interrupted",
    "Ledger",
    "Metric",
    "MisfitError",
    "Plan",
    "PredictionWarning",
    "Procedure",
    "Release",
    "Schema",
    "SearchError",
    "Spec",
    "TableCheck",
    "__version__",
    "affordable",
    "check",
    "choose_on_public",
    "cost_table",
    "load",
    "make_plan",
    "run",
    "simulate",
    "verify",
]

if TYPE_CHECKING:
    from honestdp.errors import (
        BudgetError,
        FolderError,
        InputError,
        Interrupted,
        MisfitError,
        PredictionWarning,
        SearchError,
    )
    from honestdp.estimator import HonestSearch
    from honestdp.ledger import Ledger
    from honestdp.metrics import Metric
    from honestdp.planning.affordable import affordable
    from honestdp.planning.costs import cost_table
    from honestdp.planning.grid import Grid
    from honestdp.planning.make import make_plan
    from honestdp.planning.plan import Plan
    from honestdp.planning.spec import Spec
    from honestdp.planning.table import CostTable
    from honestdp.procedures import Procedure
    from honestdp.release.card import Card
    from honestdp.release.released import Release
    from honestdp.release.saved import load
    from honestdp.runner.choosing import choose_on_public
    from honestdp.runner.run import run
    from honestdp.schema import Schema
    from honestdp.schema.check import check
    from honestdp.schema.simulate import simulate
    from honestdp.schema.table_check import TableCheck

# Loaded on first use: `import honestdp` stays instant, and nothing but training needs torch.
_HOMES = {
    "BudgetError": "honestdp.errors",
    "Card": "honestdp.release.card",
    "CostTable": "honestdp.planning.table",
    "FolderError": "honestdp.errors",
    "Grid": "honestdp.planning.grid",
    "HonestSearch": "honestdp.estimator",
    "InputError": "honestdp.errors",
    "Interrupted": "honestdp.errors",
    "Ledger": "honestdp.ledger",
    "Metric": "honestdp.metrics",
    "MisfitError": "honestdp.errors",
    "Plan": "honestdp.planning.plan",
    "PredictionWarning": "honestdp.errors",
    "Procedure": "honestdp.procedures",
    "Release": "honestdp.release.released",
    "Schema": "honestdp.schema",
    "SearchError": "honestdp.errors",
    "Spec": "honestdp.planning.spec",
    "TableCheck": "honestdp.schema.table_check",
    "affordable": "honestdp.planning.affordable",
    "check": "honestdp.schema.check",
    "choose_on_public": "honestdp.runner.choosing",
    "cost_table": "honestdp.planning.costs",
    "load": "honestdp.release.saved",
    "make_plan": "honestdp.planning.make",
    "run": "honestdp.runner.run",
    "simulate": "honestdp.schema.simulate",
    "verify": "honestdp.release.verify",
}
# Old names, for a year after the version in which they were replaced (CONTRIBUTING.md).
_RENAMED = {"plan": "cost_table"}


def __getattr__(name: str) -> Any:
    if name in _RENAMED:
        import warnings

        now = _RENAMED[name]
        warnings.warn(f"honestdp.{name} is now honestdp.{now}", DeprecationWarning, stacklevel=2)
        name = now
    if name not in _HOMES:
        raise AttributeError(f"module 'honestdp' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
