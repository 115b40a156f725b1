"""The page that checks a card, in a real browser: true, altered, and beside the wrong head."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from releases import SCHEMA, new_ledger, plan_of, table

from honestdp import Ledger, Spec, make_plan
from honestdp.ledger.chain import link
from honestdp.report.verify_page import verify_page
from honestdp.runner.run import run
from honestdp.schema import Categorical

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.slow
PLANTED = "</script><img src=x onerror=alert(1)> \u2028 \U0001f600 \ue000 \u007f"
FORMATS = Path(__file__).parents[1] / "formats"


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page, a ledger of two charges with its entries, and a run with odd texts on its card."""
    place = tmp_path_factory.mktemp("verify")
    (place / "verify.html").write_text(verify_page())
    column = Categorical(name=f"c{PLANTED}", categories=("a", "b", "\U0001f600", "\ue000"))
    schema = SCHEMA.model_copy(update={"columns": (SCHEMA.columns[0], column)})
    ledger = new_ledger(place / "toy.ledger", schema, epsilon=9.0)
    spec = plan_of("composition").spec
    facts = {"schema": schema, "rows": 60, "epsilon": 2.0, "delta": 1e-5, "steps": 4}
    cells = {**table(), column.name: ["a"] * 60}
    plan = make_plan(Spec(**facts, grid=spec.grid, procedure="composition", test_share=0.3,
                          about={"curator": "A hospital"}))  # fmt: skip
    run(plan, cells, ledger, folder=place / "run")
    run(make_plan(Spec(**facts)), cells, ledger, folder=place / "later")
    write_entries(ledger, place / "entries.json")
    return place


def write_entries(ledger: Ledger, place: Path) -> None:
    """As `honestdp ledger show --json --entries` does."""
    bodies = ledger.entries()
    place.write_text(json.dumps({"head": reduce(link, bodies, ""), "entries": list(bodies)}))


@pytest.fixture
def asked(page: Page, folder: Path) -> Callable[..., dict[str, str]]:
    """Gives files and a head to the page; what it finds, by check, and the verdict."""

    def ask(*files: Path, head: str = "") -> dict[str, str]:
        page.goto((folder / "verify.html").as_uri())
        page.fill("#head", head)
        page.set_input_files("#files", [str(file) for file in files])
        page.locator("#given li").nth(len(files) - 1).wait_for()
        page.wait_for_selector("#verdict.holds, #verdict.fails, #verdict.unknown")
        found = page.evaluate(
            "Object.fromEntries([...document.querySelectorAll('#checks li')]"
            ".map((one) => [one.dataset.check, one.className]))"
        )
        kind = page.evaluate("document.getElementById('verdict').classList[1]")
        return {**found, "verdict": kind}

    return ask


def head_of(place: Path) -> str:
    return str(json.loads((place / "card.json").read_text())["ledger"]["head"])


def altered(folder: Path, to: Path, change: Callable[[Any], None]) -> Path:
    """A copy of the run's card with a change."""
    facts = json.loads((folder / "run" / "card.json").read_text())
    change(facts)
    to.write_text(json.dumps(facts))
    return to


def test_a_true_card_by_its_head_alone(asked: Any, folder: Path, troubles: Any) -> None:
    head = head_of(folder / "run")
    found = asked(folder / "run" / "card.json", head=head.upper())
    assert found == {"head": "holds", "card": "holds", "charge": "unknown", "verdict": "holds"}
    found = asked(folder / "run" / "card.json")
    assert (found["head"], found["card"], found["verdict"]) == ("unknown",) * 3
    assert troubles == []


def test_a_true_card_by_the_entries_and_its_model(asked: Any, folder: Path, troubles: Any) -> None:
    files = [folder / "run" / name for name in ("card.json", "model.json", "model.safetensors")]
    for head in (head_of(folder / "run"), head_of(folder / "later")):  # or one from later on
        found = asked(*files, folder / "entries.json", head=head)
        assert set(found.values()) == {"holds"}
        assert set(found) == {
            "head", "chain", "dataset", "card", "charge", "plan", "model", "tensors", "verdict",
        }  # fmt: skip
    found = asked(folder / "later" / "card.json", folder / "entries.json",
                  head=head_of(folder / "run"))  # fmt: skip
    assert (found["head"], found["card"], found["verdict"]) == ("unknown", "holds", "unknown")
    assert troubles == []


CHANGES: dict[str, Callable[[Any], None]] = {
    "epsilon": lambda card: card["guarantee"].update(epsilon=0.1),
    "a unit": lambda card: card.update(unit="one ward"),
    "its quality": lambda card: card["utility"][0].update(value=0.99),
    "its curator": lambda card: card["about"].update(curator="Another"),
    "a field gone": lambda card: card.pop("timing"),
    "its charge": lambda card: card["ledger"].update(charge=2),
}


@pytest.mark.parametrize("what", CHANGES)
def test_an_altered_card_is_seen(what: str, asked: Any, folder: Path, tmp_path: Path) -> None:
    card, head = altered(folder, tmp_path / "card.json", CHANGES[what]), head_of(folder / "run")
    assert asked(card, head=head)["proof"] == "fails"
    assert asked(card)["verdict"] == "fails"
    found = asked(card, folder / "entries.json", head=head)
    assert found["card"] == found["verdict"] == "fails"
    assert (found["charge"] == "fails") == (what in ("epsilon", "its charge"))


def test_an_altered_card_with_a_head_of_its_own(asked: Any, folder: Path, tmp_path: Path) -> None:
    """A forger can make a chain that goes with it, and no head that was published before."""
    forger = new_ledger(tmp_path / "forged.ledger", epsilon=9.0)
    run(plan_of("untuned"), table(), forger, folder=tmp_path / "run")
    write_entries(forger, tmp_path / "entries.json")
    card, entries = tmp_path / "run" / "card.json", tmp_path / "entries.json"
    assert asked(card, entries)["verdict"] == "unknown"
    for files in ([card], [card, entries]):
        found = asked(*files, head=head_of(folder / "run"))
        assert (found["head"], found["verdict"]) == ("fails", "fails")
    found = asked(folder / "run" / "card.json", entries, head=head_of(folder / "run"))
    assert (found["head"], found["card"], found["verdict"]) == ("fails",) * 3


def test_altered_entries_and_models(asked: Any, folder: Path, tmp_path: Path) -> None:
    head, facts = head_of(folder / "run"), json.loads((folder / "entries.json").read_text())
    bodies = facts["entries"]
    cut, swapped = tmp_path / "cut.json", tmp_path / "swapped.json"
    cut.write_text(json.dumps({**facts, "entries": bodies[:-1]}))
    cheap = bodies[1].replace('"delta":1e-05', '"delta":1e-06')
    assert cheap != bodies[1]
    swapped.write_text(json.dumps({**facts, "entries": [bodies[0], cheap, *bodies[2:]]}))
    card = folder / "run" / "card.json"
    assert asked(card, cut, head=head)["chain"] == "fails"
    found = asked(card, swapped, head=head)
    assert found["chain"] == found["head"] == found["card"] == found["verdict"] == "fails"
    tensors, other = tmp_path / "model.safetensors", folder / "later" / "model.json"
    tensors.write_bytes((folder / "run" / "model.safetensors").read_bytes()[:-1] + b"x")
    assert asked(card, folder / "run" / "model.json", tensors)["tensors"] == "fails"
    assert asked(card, other)["model"] == "fails"


def test_old_cards_and_simulations(asked: Any, tmp_path: Path) -> None:
    for version in ("format-1", "format-2"):
        write_entries(Ledger.inspect(FORMATS / version / "visits.ledger"), tmp_path / "e.json")
        for place in sorted((FORMATS / version).glob("*/card.json"))[:3]:
            head = head_of(place.parent)
            found = asked(place, tmp_path / "e.json", head=head)
            assert set(found.values()) == {"holds"}, (place, found)
            found = asked(place, head=head)
            assert (found["head"], found["card"]) == ("holds", "unknown")
    write_entries(Ledger.inspect(FORMATS / "checked" / "visits.ledger"), tmp_path / "e.json")
    place = FORMATS / "checked" / "run" / "card.json"  # whose charge moved to another plan
    assert asked(place, tmp_path / "e.json", head=head_of(place.parent))["verdict"] == "holds"
    made = run(plan_of("untuned"), table(), seed=1).card
    (tmp_path / "card.json").write_bytes(made.to_json())
    assert asked(tmp_path / "card.json") == {"simulation": "fails", "verdict": "fails"}


def test_files_are_dropped_and_odd_ones_named(
    page: Page, folder: Path, tmp_path: Path, troubles: Any
) -> None:
    page.goto((folder / "verify.html").as_uri())
    odd = {"cut.json": b'{"a": 1', "twice.json": b'{"a": 1, "a": 2}', "list.json": b"[1]",
           "toy.ledger": (folder / "toy.ledger").read_bytes()}  # fmt: skip
    for name, content in odd.items():
        (tmp_path / name).write_bytes(content)
    page.set_input_files("#files", [str(tmp_path / name) for name in odd])
    page.locator("#given li").nth(3).wait_for()
    said = page.locator("#given li").all_inner_texts()
    assert said == [
        "cut.json: not whole: no JSON", "twice.json: not whole: no JSON",
        "list.json: none of what this page checks",
        "toy.ledger: a ledger's own file, which this page does not read: give its entries",
    ]  # fmt: skip
    card = (folder / "run" / "card.json").read_text()
    page.evaluate(
        """(text) => {
            const held = new DataTransfer();
            held.items.add(new File([text], "card.json"));
            const dropped = new DragEvent("drop", { dataTransfer: held, bubbles: true });
            document.getElementById("drop").dispatchEvent(dropped);
        }""",
        card,
    )
    page.fill("#head", head_of(folder / "run"))
    page.wait_for_selector("#verdict.holds")
    assert "A hospital" in page.locator("#facts").inner_text()
    assert troubles == []
