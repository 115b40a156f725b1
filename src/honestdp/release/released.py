"""`Release`: what a run released."""

from __future__ import annotations

from dataclasses import dataclass

from honestdp.ledger import Receipt
from honestdp.planning.plan import Plan
from honestdp.release.saved import Released


@dataclass(frozen=True, eq=False, repr=False)
class Release(Released):
    """What left, with the plan that was carried out; `receipt` is None in a simulation."""

    plan: Plan
    receipt: Receipt | None

    @property
    def head(self) -> str | None:
        """The ledger's head after this release."""
        return None if self.card.ledger is None else self.card.ledger.head
