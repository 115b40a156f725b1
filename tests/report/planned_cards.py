"""Cards of plans that were not carried out: quick to make."""

from __future__ import annotations

from typing import Any

from releases import SCHEMA

from honestdp import Card, Spec, make_plan
from honestdp.planning.plan import Plan
from honestdp.release.card_builder import build_card


def planned(**facts: Any) -> tuple[Card, Plan]:
    known = {"schema": SCHEMA, "rows": 60, "epsilon": 2.0, "delta": 1e-4, "steps": 4, "lot_size": 8}
    plan = make_plan(Spec(**{**known, **facts}))
    return build_card(plan, None, (), "0" * 64, simulated=True), plan
