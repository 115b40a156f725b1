"""Procedures that select a model: `base` is the contract, every other file a procedure.

Numbers only, no torch: what a procedure costs, which candidates it draws, which it keeps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from honestdp.errors import fail
from honestdp.procedures.base import Procedure, Training
from honestdp.procedures.checks import made
from honestdp.procedures.draws import Draw, Outcome
from honestdp.registry import Registry

__all__ = [
    "Draw",
    "Outcome",
    "Procedure",
    "Request",
    "Training",
    "automatic_requests",
    "procedures",
]

procedures: Registry[type[Procedure]] = Registry(
    "procedure", "honestdp.procedures", "honestdp.procedures", Procedure
)


@dataclass(frozen=True)
class Request:
    """The name and options that select a procedure, for any number of candidates.

    A card carries it, so that the cost of a larger or smaller search can be computed from it.
    """

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def among(self, candidates: int) -> Procedure:
        """Make the procedure for a number of candidates.

        Args:
            candidates: Number of settings to choose among.

        Raises:
            InputError: If there is no such procedure, or none with such options.
        """
        kind = procedures.get(self.name)
        for name, value in self.options.items():
            if name not in kind.options:
                raise fail(name, value, f"{self.name} has no such option")
        checked = {name: kind.options[name](name, value) for name, value in self.options.items()}
        return made(kind, candidates, checked)


def automatic_requests(hit_probability: float) -> list[Request]:
    """The procedures that "auto" considers to draw the best setting with this probability.

    The library's own only: "auto" takes the cheapest, and the price of another is what its author
    says. A procedure of another package is used where it is named.
    """
    return [
        Request(kind.name, options)
        for kind in procedures
        if procedures.is_own(kind)
        for options in kind.automatic(hit_probability)
    ]
