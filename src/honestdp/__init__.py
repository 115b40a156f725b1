"""Honest private machine learning: one (epsilon, delta) for training, tuning and scoring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["CostTable", "InputError", "__version__", "affordable", "plan"]

if TYPE_CHECKING:
    from honestdp.errors import InputError
    from honestdp.planning.affordable import affordable
    from honestdp.planning.costs import plan
    from honestdp.planning.table import CostTable

# Loaded on first use: `import honestdp` stays instant, and nothing but training needs torch.
_HOMES = {
    "CostTable": "honestdp.planning.table",
    "InputError": "honestdp.errors",
    "affordable": "honestdp.planning.affordable",
    "plan": "honestdp.planning.costs",
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
