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
        schema: The schema, with the chosen encoding and all that was learnt filled in.
        winner: The selected candidate; None if the search ended without one.
        candidates: All candidates, the winner first, if the procedure releases all.
        card: The privacy card.
        files: The content of the files that `save` writes, by name.
        plan: The plan that was carried out.
        receipt: The receipt of the charge; None in a simulation.
    """

    plan: Plan
    receipt: Receipt | None

    @property
    def head(self) -> str | None:
        """The ledger's head after this release; None in a simulation."""
        return None if self.card.ledger is None else self.card.ledger.head
