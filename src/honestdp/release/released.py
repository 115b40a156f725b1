"""`Release`: the result of a run."""

from __future__ import annotations

from dataclasses import dataclass

from honestdp.ledger import Receipt
from honestdp.planning.plan import Plan
from honestdp.release.saved import Released


@dataclass(frozen=True, eq=False, repr=False)
class Release(Released):
    """The result of `run`: everything that was released, and the plan that was carried out.

    Attributes:
        schema, winner, candidates, card, files: As of `Released`.
        plan: The plan that was carried out.
        receipt: The receipt of the charge; None in a simulation.
    """

    plan: Plan
    receipt: Receipt | None

    @property
    def head(self) -> str | None:
        """The ledger's head after this release; None in a simulation."""
        return None if self.card.ledger is None else self.card.ledger.head
