"""`honestdp card`."""

from __future__ import annotations

from cli_calls import complaint

import honestdp


def test_the_card(run, shell) -> None:
    said = shell("card", "run", "--ledger", "visits.ledger")
    assert said.out == honestdp.Card.load(run).prose()
    assert "checked: the ledger holds this charge" in said.err
    assert honestdp.Card.from_json(shell("card", "run", "--json").out) == honestdp.Card.load(run)
    text = (run / "card.json").read_text()
    (run / "card.json").write_text(text.replace('"one visit"', '"one person"'))
    said = shell("card", "run", "--ledger", "visits.ledger")
    assert "is not what the ledger says has left" in complaint(said)
    assert said.out == ""
    assert "cannot be read" in complaint(shell("card", "none"))
