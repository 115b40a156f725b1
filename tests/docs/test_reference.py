"""Reference pages say all there is to say, and nothing that is not there."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from statistics import mean

import pytest
from blocks import ROOT

import honestdp
from honestdp.ledger.chain import Opening
from honestdp.planning.named_grids import NAMED
from honestdp.planning.spec import AUTO
from honestdp.procedures import procedures
from honestdp.release import card
from honestdp.schema import (
    Boolean,
    Categorical,
    Counts,
    Cross,
    Date,
    Hashed,
    Image,
    Numeric,
    Ordinal,
    Schema,
    Target,
    Text,
)

DOCS = ROOT / "docs"


def page(name: str) -> str:
    return (DOCS / name).read_text()


def rows(text: str) -> set[str]:
    """The names in the first column of tables."""
    return set(re.findall(r"^\| `([^`]+)` +\|", text, re.MULTILINE))


def section(text: str, heading: str) -> str:
    return text.split(f"## {heading}\n")[1].split("\n## ")[0]


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("The table", Schema),
        ("A numeric column", Numeric),
        ("A categorical column", Categorical),
        ("Categories with an order", Ordinal),
        ("Yes or no", Boolean),
        ("A date or a time", Date),
        ("Thousands of categories", Hashed),
        ("Two columns together", Cross),
        ("Counts", Counts),
        ("A column of text", Text),
        ("An image", Image),
        ("The target", Target),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_schemas_fields(heading: str, kind: type) -> None:
    fields = {field.alias or name for name, field in kind.model_fields.items()}
    assert rows(section(page("schema.md"), heading)) == fields


def test_the_cards_fields() -> None:
    text = page("card.md")
    assert rows(text) == set(card.Card.model_fields)
    parts = (card.Guarantee, card.Access, card.Assumption, card.Accounting, card.Preprocessing)
    for part in (*parts, card.LedgerEntry, card.Chosen):
        for name in part.model_fields:
            assert f"`{name}`" in text, (part.__name__, name)


def test_what_opens_a_ledger() -> None:
    for name in Opening.__dataclass_fields__:
        assert f"`{name}`" in page("ledger.md"), name


def test_the_procedures() -> None:
    assert rows(page("procedures.md")) == {AUTO, *procedures.names()}


def test_the_named_grids() -> None:
    for grid in NAMED.values():
        assert f"| `{grid.name}` | {len(grid)} | {grid.summary} |" in page("planning.md")


def test_pages_that_repeat_the_code_say_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import reference_pages

    for name, made in reference_pages.PAGES.items():
        assert page(name) == made(), f"docs/{name} is old: run `python tools/reference_pages.py`"


def test_the_comparison_is_what_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import opacus_optuna_report as report

    saved = ROOT / "benchmarks" / "results" / "opacus_optuna.json"
    for path in report.PAGES:
        shown = path.read_text().split(report.BEGIN)[1].split(report.END)[0].strip()
        same = shown == report.markdown(saved)
        assert same, f"{path.name} is old: run `python benchmarks/opacus_optuna.py --markdown`"
    assert len(report.table(saved)) == len(report.NAME), "not all was measured"


def test_what_the_comparison_says_of_its_table() -> None:
    """Its sentences, held to the figures."""
    whole = json.loads((ROOT / "benchmarks" / "results" / "opacus_optuna.json").read_text())
    ways = whole["ways"]
    assert ways["optuna"]["epsilon_of_all_trainings"] > 3 * whole["epsilon"]  # several times
    assert ways["composed"]["epsilon_of_all_trainings"] <= whole["epsilon"]
    assert ways["search"]["epsilon"] <= whole["epsilon"] >= ways["untuned"]["epsilon"]
    assert ways["search"]["noise_multiplier"] < 0.5 * ways["composed"]["noise_multiplier"]
    assert ways["search"]["procedure"] == "random-repeats"
    made = [row["trainings"] for row in whole["rows"] if row["way"] == "search"]
    assert sum(made) / len(made) > 2 * whole["trials"]  # many more trainings

    def of(way: str) -> list[dict[str, float]]:
        return [row for row in whole["rows"] if row["way"] == way]

    best = {
        way: max(of(way), key=lambda row: row["score"])["accuracy"]
        for way in ("optuna", "composed")
    }
    best |= {way: mean(row["accuracy"] for row in of(way)) for way in ("search", "untuned")}
    assert abs(best["search"] - best["optuna"]) < 0.005
    assert best["untuned"] > best["optuna"]  # a little above
    assert best["composed"] < min(best["optuna"], best["search"], best["untuned"]) - 0.005


def test_what_is_said_of_searches_on_adult() -> None:
    """docs/procedures.md: no search beats the untuned default."""
    saved = json.loads((ROOT / "benchmarks" / "results" / "search.json").read_text())
    for epsilon in (1.0, 0.3):
        means = {}
        for row in saved["rows"]:
            found = [run["accuracy"] for run in row["runs"] if run["accuracy"] is not None]
            if row["epsilon"] == epsilon and len(found) > 1 and "free" not in row["name"]:
                means[row["name"]] = sum(found) / len(found)
        assert means["none/auto"] == max(means.values())


def test_what_is_said_of_the_smallest_portfolio() -> None:
    """docs/searches.md: one of the two, given everything, is ahead of the choice between them."""
    saved = json.loads((ROOT / "benchmarks" / "results" / "searches.json").read_text())
    means = {
        (row["data"], row["epsilon"], row["line"]): mean(
            run["accuracy"] if "accuracy" in run else run["r2"] for run in row["runs"]
        )
        for row in saved["rows"]
        if len(row["runs"]) > 1
    }
    pair = "default or mlp 32/random-subset"
    measured = [key[:2] for key in means if key[2] == pair]
    assert measured
    for data, epsilon in measured:
        alone = max(means[data, epsilon, line] for line in ("default", "mlp 32"))
        assert means[data, epsilon, pair] < alone, (data, epsilon)


def test_the_figures_under_the_picture() -> None:
    found = honestdp.cost_table(
        n=36177, lot_size=250, steps=2500, candidates=40, noise_multiplier=4.0
    )
    cost = {  # rounded up, as bounds are
        (row.procedure, row.bound, row.shape): math.ceil(100 * row.epsilon) / 100
        for row in found.rows
    }
    text = page("index.md")
    assert f"costs ε = {cost['untuned', 'pld', None]:.2f} here" in text
    assert f"costs {cost['composition', 'pld', None]:.2f} if" in text
    assert f"and {cost['random-repeats', 'profile', 1.0]:.2f} with" in text


def test_every_page_is_in_the_navigation() -> None:
    listed = set(re.findall(r": (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))
    assert listed == {path.name for path in DOCS.glob("*.md")}


LINK = re.compile(r"\]\((?!https?://)([^)#]*)(?:#([^)]*))?\)")


def anchors(text: str) -> set[str]:
    """As the site makes them: lower case, words joined by hyphens; or as they are given."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        own = re.search(r"\{#([^}]+)\}", heading)
        plain = re.sub(r"[^\w\s-]", "", heading.lower())
        found.add(own[1] if own else re.sub(r"[-\s]+", "-", plain).strip("-"))
    return found


@pytest.mark.parametrize(
    "place", [ROOT / "README.md", *sorted(DOCS.glob("*.md"))], ids=lambda place: place.name
)
def test_links_and_pictures_are_there(place: Path) -> None:
    text = place.read_text()
    for path, anchor in LINK.findall(text):
        target = place.parent / path if path else place
        assert target.exists(), f"{place.name}: {path}"
        if anchor:
            assert anchor in anchors(target.read_text()), f"{place.name}: {path}#{anchor}"


def test_files_named_in_the_pages_are_there() -> None:
    """`tests/laws`, `src/honestdp/...`, `benchmarks/README.md`, `examples/3_a_conv_net.py`."""
    for place in (ROOT / "README.md", *DOCS.glob("*.md")):
        named = r"`((?:src|tests|benchmarks|examples|reproduction|tools|docs)/[\w./-]*)`"
        for path in re.findall(named, place.read_text()):
            assert (ROOT / path).exists(), f"{place.name}: {path}"


def test_make_targets_named_in_the_pages_are_there() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for place in (ROOT / "README.md", *DOCS.glob("*.md")):
        for target in re.findall(r"`make ([a-z-]+)`", place.read_text()):
            assert target in targets, f"{place.name}: make {target}"


def test_commands_named_in_the_pages_are_there() -> None:
    """`honestdp X` in running text, too."""
    import typer

    from honestdp.cli import app

    known = set(typer.main.get_command(app).commands)
    for place in (ROOT / "README.md", *DOCS.glob("*.md")):
        for name in re.findall(r"`honestdp ([a-z][a-z0-9-]*)", place.read_text()):
            assert name in known, f"{place.name}: honestdp {name}"
