"""`honestdp card --format`, `honestdp verify`, and what `honestdp tune` is told for the card."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest
import yaml
from cli_calls import QUICK, complaint

from honestdp import Card, Ledger
from honestdp.cli import about as asking
from honestdp.cli.about import with_reason
from honestdp.cli.console import Console
from honestdp.planning.about import About

SAID = ("--curator", "City Hospital", "--justification", "Our board asks for it.")


@pytest.fixture
def run(shell) -> Path:
    """A run, told by its options and by the table [about] of a file."""
    Path("asked.toml").write_text(
        '[about]\ncurator = "Somebody"\nintended_use = "To plan beds."\nlicense = "mit"\n'
    )
    said = shell("tune", "visits.csv", *QUICK, "--spec", "asked.toml", *SAID, "--set",
                 "test_share=0.2", "--out", "run", "--yes", "--no-check")  # fmt: skip
    assert said.code == 0, said
    return Path("run")


def test_the_card(run, shell) -> None:
    said = shell("card", "run", "--ledger", "visits.ledger")
    assert said.out == Card.load(run).prose()
    assert "checked: the ledger holds this charge" in said.err
    assert Card.from_json(shell("card", "run", "--json").out) == Card.load(run)
    text = (run / "card.json").read_text()
    (run / "card.json").write_text(text.replace('"one visit"', '"one person"'))
    said = shell("card", "run", "--ledger", "visits.ledger")
    assert "is not what the ledger says has left" in complaint(said)
    assert said.out == ""
    assert "cannot be read" in complaint(shell("card", "none"))


def test_the_card_has_what_was_said_and_every_format_shows_it(run, shell) -> None:
    card = Card.load(run)
    assert card.about == About(
        curator="City Hospital", justification="Our board asks for it.",
        intended_use="To plan beds.", license="mit",
    )  # fmt: skip
    assert card.publication_date is not None
    assert "Curator: City Hospital\n" in shell("card", "run").out
    said = shell("card", "run", "--format", "registry")
    basic = yaml.safe_load(said.out)["deployment"]["basic"]
    assert basic["data_curators"] == ["City Hospital"]
    assert "not on the card: data_product_region (region); fill it in" in said.err
    assert shell("card", "run", "--format", "registry", "--quiet").err == ""
    said = shell("card", "run", "--format", "model-card")
    assert said.out.startswith('---\nlicense: "mit"\n')
    assert said.err == ""
    whole = (run / "card.json").read_text().rstrip()
    assert shell("card", "run", "--format", "json").out.rstrip() == whole
    assert shell("card", "run", "--json").out.rstrip() == whole
    line = complaint(shell("card", "run", "--format", "pdf"))
    assert "must be one of json, model-card, prose, registry" in line
    assert "--json is a format too" in complaint(
        shell("card", "run", "--json", "--format", "prose")
    )


def test_it_is_verified_by_ledger_and_by_head(run, shell) -> None:
    head = Card.load(run).ledger.head
    said = shell("verify", "run", "--ledger", "visits.ledger", "--head", head)
    assert "holds: charge 1 of visits.ledger paid epsilon 2.000 and delta" in said.out
    assert json.loads(shell("verify", "run", "--head", head, "--json").out) == {
        "holds": True, "by": "head",
    }  # fmt: skip
    assert "is not in" in complaint(
        shell("verify", "run", "--ledger", "visits.ledger", "--head", "0" * 64)
    )
    assert "is not the one on the card" in complaint(shell("verify", "run", "--head", "0" * 64))
    assert "give --ledger FILE, or --head HASH" in complaint(shell("verify", "run"))
    assert "or --page FILE" in complaint(shell("verify"))
    text = (run / "card.json").read_text()
    (run / "card.json").write_text(text.replace("City Hospital", "Town Hospital"))
    for by in (("--head", head), ("--ledger", "visits.ledger")):
        assert "something on it is not what" in complaint(shell("verify", "run", *by))


def test_the_page_and_the_entries_are_written(run, shell) -> None:
    assert "written: verify.html" in shell("verify", "--page", "verify.html").out
    page = Path("verify.html").read_text()
    assert "default-src &#39;none&#39;" in page
    assert all(f'"{name}"' in page for name in Card.model_fields)
    assert "http://" not in page
    assert "https://" not in page
    assert "already exists" in complaint(shell("verify", "--page", "verify.html"))
    assert "leave out all others" in complaint(shell("verify", "run", "--page", "other.html"))
    found = json.loads(shell("ledger", "show", "visits.ledger", "--json", "--entries").out)
    ledger = Ledger.inspect("visits.ledger")
    assert found["head"] == ledger.head
    assert found["entries"] == list(ledger.entries())
    assert "goes with --json" in complaint(shell("ledger", "show", "visits.ledger", "--entries"))


def test_what_cannot_stand_on_a_card_is_refused_before_anything_is_made(shell) -> None:
    words = ("tune", "visits.csv", *QUICK, "--out", "run", "--yes")
    assert "1 to 200 printable" in complaint(shell(*words, "--curator", "x" * 201))
    assert "'who' is not known" in complaint(shell(*words, "--set", 'about={who="I"}'))
    assert "must be a table" in complaint(shell(*words, "--set", "about=7", "--curator", "I"))
    assert not list(Path().glob("*.ledger"))


def test_the_reason_is_asked_once_on_a_terminal(run, shell, monkeypatch) -> None:
    """Before the first charge of a ledger, of a plan about which nothing was said."""
    from dataclasses import replace

    from honestdp import Spec, make_plan
    from honestdp.release.saved import load

    asked = []
    monkeypatch.setattr(asking, "line", lambda text: asked.append(text) or "  Enough. ")
    schema = load("run").schema
    plan = make_plan(Spec(schema=schema, rows=300, epsilon=1.0, delta=1e-5, steps=20, lot_size=50))
    empty = Ledger.create("empty.ledger", schema=schema, epsilon=1.0, delta=1e-5)
    console = Console(json=False, quiet=False)
    assert with_reason(plan, empty, console, yes=False) is plan  # no terminal here
    monkeypatch.setattr(
        sys, "stdin", type("Terminal", (io.StringIO,), {"isatty": lambda _: True})()
    )
    told = replace(plan, spec=replace(plan.spec, about={"curator": "I"}))
    for given in (
        (plan, Ledger.inspect("visits.ledger"), console, False), (plan, None, console, False),
        (plan, empty, console, True), (plan, empty, Console(json=False, quiet=True), False),
        (told, empty, console, False),
    ):  # fmt: skip
        assert with_reason(*given) is given[0]
    assert asked == []
    found = with_reason(plan, empty, console, yes=False)
    assert found.spec.about == About(justification="Enough.")
    assert found.public() == plan.public()
    monkeypatch.setattr(asking, "line", lambda text: "")
    assert with_reason(plan, empty, console, yes=False) is plan
    assert asked == ["Why epsilon 1? A line for the privacy card; Enter leaves it out:"]
