"""The report of a run: one offline HTML file, from the card, the ledger's history and what was
released with the card: for a linear model also its effects.

The page uses no network. Its content security policy allows only the scripts and style sheets that
it contains, by their hashes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from honestdp.errors import InputError
from honestdp.files import replace_file
from honestdp.ledger import Charge, Ledger
from honestdp.release.card import Card
from honestdp.release.card_prose import said
from honestdp.release.verify import verify
from honestdp.report import view_model
from honestdp.report.candidate_figures import Candidates
from honestdp.report.effect_figures import EffectPanels
from honestdp.report.figures import Costs, Figure, budget_figure, plain
from honestdp.report.inputs import Declared, TestResults
from honestdp.report.offline import policy
from honestdp.run_files import CARD, REPORT, TESTED
from honestdp.text import small, up

if TYPE_CHECKING:
    from honestdp.release.effects import Effects


def write_report(folder: str | Path, ledger: Ledger | None = None) -> Path:
    """Write RUN/report.html for the card (and the public test results) in a run's folder.

    ledger: The ledger of the card, for its history; refused unless the card verifies against it.
    """
    place = Path(folder)
    if not (place / CARD).is_file():
        raise InputError(f"{place}: holds no {CARD}; give the folder of a finished run")
    card, tested = Card.load(place), _tested(place / TESTED)
    charge = None if ledger is None else verify(place, ledger)  # the model too
    page = _checked_page(card, ledger, charge, tested, _effects(place, card)).encode()
    try:
        replace_file(place / REPORT, page)
        (place / REPORT).chmod(0o644)  # public, like the card
    except OSError as error:
        why = error.strerror or "failed"
        raise InputError(f"{place / REPORT}: cannot be written ({why}); make room for it") from None
    return place / REPORT


def _tested(file: Path) -> dict[str, Any] | None:
    if not file.exists():
        return None
    try:
        found = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        raise InputError(f"{file}: is not JSON; write it again, or remove it") from None
    if not isinstance(found, dict):
        raise InputError(f'{file}: must be an object such as {{"accuracy": 0.84, "rows": 100}}')
    return found


def _effects(place: Path, card: Card) -> Effects | str | None:
    """The effects of the model in a run's folder; a reason if it has none, None without a model."""
    if card.winner is None:
        return None
    from honestdp.release.saved import read_effects, read_files  # which need torch

    try:
        files = read_files(place)
    except InputError:  # the card alone
        return None
    try:
        return read_effects(files)
    except InputError as error:
        return str(error)


def report_html(
    card: Card,
    ledger: Ledger | None = None,
    tested: Mapping[str, Any] | None = None,
    effects: Effects | str | None = None,
) -> str:
    """Render the report as one HTML page: the guarantee, the cost, the result.

    ledger: Refused unless the card verifies against it. tested: Results on public rows, such as
    {"accuracy": 0.84, "rows": 16281}. effects: Those of the released model, `release.effects()`, or
    why it has none.
    """
    charge = None if ledger is None else verify(card, ledger)
    return _checked_page(card, ledger, charge, tested, effects)


def _checked_page(
    card: Card,
    ledger: Ledger | None,
    charge: Charge | None,
    tested: Mapping[str, Any] | None,
    effects: Effects | str | None,
) -> str:
    """Render the page; a card that no run could have written is refused in one line."""
    if not card.mark and card.ledger is None:
        raise InputError(
            f"{CARD}: has neither a ledger nor the mark of a simulation; no run writes this"
        )
    figures = None if tested is None else TestResults.of(dict(tested))
    try:
        return _page(card, ledger, charge, figures, effects)
    except (ArithmeticError, LookupError) as error:  # from numbers that no run writes
        if charge is not None:
            raise
        raise InputError(
            f"{CARD}: cannot be drawn ({type(error).__name__}); it was altered"
        ) from None


def _page(
    card: Card,
    ledger: Ledger | None,
    charge: Charge | None,
    tested: TestResults | None,
    effects: Effects | str | None,
) -> str:
    declared = Declared.of(card)
    budget = None if ledger is None or charge is None else view_model.Budget.of(ledger, charge)
    costs, candidates = Costs(card, declared), Candidates.of(card, declared)
    figures: dict[str, Figure] = {"costs": costs.figure}
    if budget is not None and len(budget.points) > 1:
        figures["budget"] = budget_figure(budget)
    tabs = [] if candidates is None else _tabs(candidates, figures)
    drawn = effects if effects is None or isinstance(effects, str) else EffectPanels.of(effects)
    if isinstance(drawn, EffectPanels):
        figures |= {panel.name: panel.figure for panel in drawn.panels}
    library, style, script = _plotly(), _source("page.css"), _source("page.js")
    return _templates().get_template("page.html").render(
        card=card,
        said=said(card),
        declared=declared,
        promise=view_model.Promise.of(card),
        tiles=view_model.tiles(card, declared, tested, budget),
        budget=budget,
        costs=costs,
        candidates=candidates,
        tabs=tabs,
        effects=drawn,
        trained_on=view_model.trained_on(declared),
        scored_on=view_model.scored_on(declared),
        shows_all=card.releases_all,
        settings=[] if card.winner is None else view_model.settings(card.winner),
        columns=view_model.columns(declared),
        figures={name: _marked(card, figure) for name, figure in figures.items()},
        library=Markup(library),
        style=Markup(style),
        script=Markup(script),
        policy=policy([library, script], [style, _PLOTLY_STYLE]),
        plotly_style=Markup(_PLOTLY_STYLE),
        sheets=_own_sheets(library),
    )  # fmt: skip


def _tabs(candidates: Candidates, figures: dict[str, Figure]) -> list[dict[str, Any]]:
    """The views of all candidates, with the names of their figures."""
    views: list[tuple[str, str, dict[str, Figure]]] = []
    if candidates.scored:
        views.append(("scores", "Scores", {"scores": candidates.ranked()}))
        slices = {f"slice-{i}": one for i, (_, one) in enumerate(candidates.slices())}
        views.append(("slices", "One by one", slices))
        contour = candidates.contour()
        if contour is not None:
            views.append(("contour", "Learning rate and clip", {"contour": contour}))
    views.append(("parallel", "All together", {"parallel": candidates.parallel()}))
    for _, _, own in views:
        figures |= own
    return [{"id": id_, "title": title, "figures": list(own)} for id_, title, own in views if own]


def _marked(card: Card, figure: Figure) -> Figure:
    """Stamp every figure of a simulation, as figures are copied out of the page."""
    if not card.mark:
        return figure
    stamp = {
        "text": plain(card.mark), "xref": "paper", "yref": "paper", "x": 0.5, "y": 0.5,
        "showarrow": False, "textangle": -20, "opacity": 0.35,
        "font": {"size": 26, "color": "bad"},
    }  # fmt: skip
    parts = {
        name: {**figure[name], "annotations": [*figure[name].get("annotations", []), stamp]}
        for name in ("layout", "narrow")
    }
    return {**figure, **parts}


# Plotly adds its rules in a style element of this name, unless the page has it already, where the
# policy allows it.
_PLOTLY_STYLE = ".js-plotly-plot{position:relative}"


def _own_sheets(library: str) -> list[str]:
    """Ids of style sheets (for maps, unused) that plotly adds unless the page has them."""
    return re.findall(r'getElementById\("([0-9a-f]{64})"\)', library)


@cache
def _plotly() -> str:
    from plotly.offline import get_plotlyjs

    # Browsers normalise line ends, which would change the hash.
    return str(get_plotlyjs()).replace("\r\n", "\n").replace("\r", "\n")


@cache
def _templates() -> Environment:
    found = Environment(
        loader=PackageLoader("honestdp.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters |= {"up": up, "small": small, "shown": view_model.shown}
    return found


@cache
def _source(name: str) -> str:
    """The text of a style sheet or script."""
    loader = _templates().loader
    assert loader is not None
    return loader.get_source(_templates(), name)[0]
