"""What `honestdp tune` is told for the card: by its options, its configuration or a question."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from honestdp.cli.console import Console, line

if TYPE_CHECKING:
    from honestdp.ledger import Ledger
    from honestdp.planning.plan import Plan


def merged(values: Mapping[str, Any], **given: str | None) -> dict[str, Any]:
    """The setting `about`, with the texts of options over those of a file; empty without any.

    Raises:
        InputError: If a text cannot stand on a card.
    """
    from honestdp.planning.about import ABOUT, About

    before = About.of(values.get(ABOUT)) or About()
    said = {name: text for name, text in given.items() if text is not None}
    found = About.of({**before.given, **said})
    return {} if found is None else {ABOUT: found.given}


def with_reason(plan: Plan, ledger: Ledger | None, console: Console, yes: bool) -> Plan:
    """The plan, with the reason for its epsilon; asked once, on a terminal, before the first charge
    of a ledger, if nothing is said about the run. No answer is an answer."""
    if yes or console.silent or not sys.stdin.isatty() or ledger is None or ledger.history():
        return plan
    if plan.spec.about is not None:
        return plan
    epsilon = f"epsilon {plan.spec.epsilon:g}"
    text = line(f"Why {epsilon}? A line for the privacy card; Enter leaves it out:")
    return replace(plan, spec=replace(plan.spec, about={"justification": text})) if text else plan
