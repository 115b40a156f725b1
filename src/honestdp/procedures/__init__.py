"""Procedures that select a model: `base` is the contract, every other file a procedure.

Numbers only, no torch: what a procedure costs, which candidates it draws, which it keeps.
"""

from honestdp.procedures.base import Procedure, Request, Training
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
    "procedure", "honestdp.procedures", "honestdp.procedures"
)


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
