"""The report in a real browser: offline, without a complaint, on paper, on a phone, in the dark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from evaluated_cards import KINDS as EVALUATED
from evaluated_cards import evaluated
from releases import SCHEMA, new_ledger, plan_of, released, table

from honestdp import Card, Spec, make_plan
from honestdp.release.card_builder import build_card
from honestdp.report.page import report_html
from honestdp.runner.run import run
from honestdp.schema import Categorical, Numeric, Target
from honestdp.text import SIMULATION

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.slow

TABS = ("scores", "slices", "contour", "parallel")
GRID = {"rule": "dpsgd", "learning_rate": [0.1, 0.5, 2.5], "clip_norm": [0.5, 1.0]}
PLANTED = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
LINK = '<a href="javascript:alert(3)">x</a>'


def planted(facts: dict[str, Any]) -> dict[str, Any]:
    """The card with a hostile hyperparameter and hostile words."""
    for one in (facts["winner"], *facts["others"]):
        one["setting"] |= {f"module__{PLANTED}": f"{LINK}{one['setting']['learning_rate']}"}
    return {**facts, "model": PLANTED, "reason": LINK}


@pytest.fixture(scope="session")
def pages(tmp_path_factory) -> dict[str, str]:
    """Addresses of a report of each kind."""
    folder = tmp_path_factory.mktemp("pages")
    schema = SCHEMA.model_copy(update={
        "name": f"set{PLANTED}", "unit": f"one {LINK}",
        "columns": (Numeric(name=f"x{PLANTED}", bounds=(0.0, 10.0)),
                    Categorical(name="c", categories=(f"a{PLANTED}", f"b{LINK}"))),
        "target": Target(column=f"y{PLANTED}", classes=("no", "yes")),
    })  # fmt: skip
    facts: dict[str, Any] = {"rows": 60, "epsilon": 2.0, "delta": 1e-4, "steps": 4, "lot_size": 8,
                             "grid": GRID, "procedure": "composition"}  # fmt: skip
    plan = make_plan(Spec(schema=SCHEMA, **facts))
    ledger = new_ledger(folder / "toy.ledger", epsilon=9.0)
    run(plan_of("untuned"), table(), ledger)
    release = run(plan, table(), ledger)
    hostile = run(make_plan(Spec(schema=SCHEMA, **facts)), table(), seed=1).card
    odd = build_card(make_plan(Spec(schema=schema, **facts)), hostile.winner, hostile.others,
                  "0" * 64, simulated=True)  # fmt: skip
    best, bests = released("repeats")
    written = {
        "composition": report_html(release.card, ledger, {"accuracy": 0.84, "rows": 99}),
        "best": report_html(best.card, bests),
        "effects": report_html(best.card, bests, effects=best.effects()),
        "simulated": report_html(hostile),
        "planted": report_html(Card.from_json(json.dumps(planted(json.loads(odd.to_json()))))),
    }
    for name in EVALUATED:
        written[name] = report_html(evaluated(name, groups=("a", "b")))
    written["few"] = report_html(evaluated("binary", rows=30, groups=("a", "b")))
    for name, text in written.items():
        (folder / f"{name}.html").write_text(text, "utf-8")
    return {name: (folder / f"{name}.html").as_uri() for name in written}


@pytest.fixture
def asked(page: Page) -> list[str]:
    """Every address that the page asked for."""
    found: list[str] = []
    page.on("request", lambda request: found.append(request.url))
    return found


def drawn(page: Page) -> int:
    return page.locator(".js-plotly-plot .main-svg:first-child").count()


@pytest.mark.parametrize(
    "kind", ["composition", "best", "effects", "simulated", "planted", *EVALUATED, "few"]
)
def test_it_loads_offline_without_a_complaint(page, troubles, asked, pages, kind):
    page.on("dialog", lambda dialog: pytest.fail("a script ran"))
    page.goto(pages[kind])
    page.wait_for_selector("#plot-costs .main-svg")
    for tab in page.locator("[role=tab]").all():
        tab.click()
    assert asked == [pages[kind]]
    assert troubles == []


def test_the_plots_are_drawn(page, pages):
    page.goto(pages["composition"])
    page.wait_for_selector("#plot-costs .main-svg")
    assert drawn(page) == page.locator("[data-figure]").count() == 8
    assert page.locator("#plot-costs .scatterlayer .trace").count() == 13
    assert page.locator("#plot-budget .barlayer .point").count() == 2
    assert page.locator("#plot-scores .points .point").count() == 6
    assert page.locator("#plot-scores .errorbars .errorbar").count() == 6
    page.goto(pages["best"])
    page.wait_for_selector("#plot-costs .main-svg")
    assert drawn(page) == 2
    assert page.locator("[role=tab]").count() == 0


def shown(page: Page) -> list[str]:
    return [tab for tab in TABS if page.locator(f"#panel-{tab}").is_visible()]


def test_tabs_by_mouse_and_by_keyboard(page, troubles, pages):
    page.goto(pages["composition"])
    assert shown(page) == ["scores"]
    page.click("#tab-contour")
    assert shown(page) == ["contour"]
    assert page.get_attribute("#tab-contour", "aria-selected") == "true"
    assert page.get_attribute("#tab-scores", "aria-selected") == "false"
    for key, to in (("ArrowRight", "parallel"), ("ArrowRight", "scores"), ("ArrowLeft", "parallel"),
                    ("Home", "scores"), ("End", "parallel")):  # fmt: skip
        page.keyboard.press(key)
        assert shown(page) == [to]
        assert page.evaluate("document.activeElement.id") == f"tab-{to}"
    page.locator("details summary").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("details").first.get_attribute("open") is not None
    assert troubles == []


def hover(page: Page, place: str) -> str:
    page.locator(place).scroll_into_view_if_needed()
    box = page.locator(place).bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_selector(".hoverlayer .hovertext", timeout=5000)
    return page.locator(".hoverlayer .hovertext").first.text_content()


def test_hovers_tell(page, pages):
    page.goto(pages["composition"])
    assert "this run: 6 candidates" in hover(page, "#plot-costs .trace:last-child .point")
    page.reload()
    assert "learning_rate" in hover(page, "#plot-scores .points .point >> nth=0")


def test_what_is_planted_stays_text(page, troubles, pages):
    dialogs: list[str] = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.goto(pages["planted"])
    page.wait_for_selector("#plot-costs .main-svg")
    for tab in TABS:
        page.click(f"#tab-{tab}")
        assert page.locator("img").count() == 0
        assert page.locator("main script").count() == 0
        assert page.locator("[href^='javascript']").count() == 0
        assert page.locator(".js-plotly-plot a").count() == 0
    assert PLANTED in page.locator("#plot-parallel").text_content()  # in a label of plotly's
    assert LINK in page.locator("#plot-parallel").text_content()
    assert PLANTED in page.locator("h1").text_content()
    page.click("#tab-scores")
    assert f"module__{PLANTED} = {LINK}" in hover(page, "#plot-scores .points .point >> nth=0")
    assert dialogs == []
    assert troubles == []


PAPER = "getComputedStyle(document.body).backgroundColor"
INK = "getComputedStyle(document.querySelector('#plot-costs .xtitle')).fill"
OPEN = "document.querySelectorAll('details[open]').length"


def becomes(page: Page, expression: str, wanted: object) -> bool:
    """Asked again and again from outside: the page's policy lets no test evaluate texts in it."""
    for _ in range(50):
        if page.evaluate(expression) == wanted:
            return True
        page.wait_for_timeout(100)
    return False


def test_dark_mode_changes_the_page_and_the_plots(page, troubles, pages):
    page.goto(pages["composition"])
    page.wait_for_selector("#plot-costs .xtitle")
    light = page.evaluate(PAPER), page.evaluate(INK)
    page.emulate_media(color_scheme="dark")
    assert becomes(page, INK, "rgb(231, 235, 241)")
    assert page.evaluate(PAPER) == "rgb(18, 22, 28)"
    page.emulate_media(color_scheme="light")
    assert becomes(page, INK, light[1])
    assert page.evaluate(PAPER) == light[0] == "rgb(255, 255, 255)"
    assert troubles == []


@pytest.mark.parametrize("width", [320, 360, 768])
@pytest.mark.parametrize("kind", ["composition", "best", "effects", "planted", *EVALUATED])
def test_nothing_is_wider_than_the_screen(page, pages, kind, width):
    page.set_viewport_size({"width": width, "height": 740})
    page.goto(pages[kind])
    page.wait_for_selector("#plot-costs .main-svg")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    for tab in page.locator("[role=tab]").all():
        tab.click()
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_on_paper_all_is_there(page, troubles, pages, tmp_path):
    page.emulate_media(color_scheme="dark")
    page.goto(pages["simulated"])
    page.wait_for_selector("#plot-costs .main-svg")
    page.emulate_media(media="print", color_scheme="dark")
    assert becomes(page, OPEN, page.locator("details").count())
    assert shown(page) == list(TABS)
    assert page.evaluate(PAPER) == "rgb(255, 255, 255)"
    for place in page.locator("section").all():
        assert place.is_visible()
        assert SIMULATION in place.text_content()
    assert page.locator("[role=tablist]").is_hidden()
    for place in page.locator("[data-figure]").all():
        assert 200 < place.locator(".main-svg").first.bounding_box()["width"] < 700
    page.pdf(path=tmp_path / "report.pdf", format="A4")
    assert (tmp_path / "report.pdf").stat().st_size > 20_000
    page.emulate_media(media="screen")
    assert becomes(page, OPEN, 0)
    assert shown(page) == ["scores"]
    assert troubles == []


BAND = "getComputedStyle(document.querySelector('#plot-effect-{} .fills path')).fill"


def test_effects_are_drawn_in_light_and_dark(page, troubles, pages):
    page.goto(pages["effects"])
    page.wait_for_selector("#plot-effect-1 .main-svg")
    assert drawn(page) == 4
    bars, line = page.locator("#effects .barlayer .point"), page.locator("#effects .js-line")
    assert bars.count() == 3
    assert line.count() >= 1
    assert page.locator("#effects .errorbar").count() == 3
    at = 0 if page.locator("#plot-effect-0 .fills path").count() else 1
    assert page.evaluate(BAND.format(at)) == "rgb(176, 205, 238)"
    page.emulate_media(color_scheme="dark")
    assert becomes(page, BAND.format(at), "rgb(37, 64, 95)")
    told = hover(page, "#effects .barlayer .point >> nth=0")
    assert any(told.startswith(f"{label}: ") for label in ("a", "b", "(other)"))
    page.locator("#effects summary").click()
    assert "lowest" in page.locator("#effects table").text_content()
    assert troubles == []


def test_a_changed_script_does_not_run(page, troubles, pages, tmp_path):
    """The policy is the page's own: a script that was put into the file stays still."""
    whole = Path(pages["best"].removeprefix("file://")).read_text("utf-8")
    (tmp_path / "odd.html").write_text(
        whole.replace("</body>", "<script>document.title = 'taken'</script></body>"), "utf-8"
    )
    page.goto((tmp_path / "odd.html").as_uri())
    page.wait_for_selector("#plot-costs .main-svg")
    assert page.title() != "taken"
    assert any("Content Security Policy" in one for one in troubles)


@pytest.mark.parametrize(("kind", "plots"), [
    ("binary", ["matrix", "roc", "precision-recall", "calibration"]),
    ("digits", ["matrix", "recall", "precision"]),
    ("numbers", ["by-predicted", "errors"]),
])  # fmt: skip
def test_the_evaluation_is_drawn_and_tells(page, troubles, pages, kind, plots):
    page.goto(pages[kind])
    page.wait_for_selector("#plot-costs .main-svg")
    assert page.locator("#quality [data-figure]").count() == len(plots)
    for name in plots:
        assert page.locator(f"#plot-{name} .main-svg").first.is_visible()
        assert "%" in hover(page, f"#plot-{name} .points .point >> nth=0") or kind == "numbers"
        page.mouse.move(0, 0)
    if "matrix" in plots:
        cells = page.locator("#plot-matrix .shapelayer path").count()
        assert cells == {"binary": 4, "digits": 100}[kind]
    place = page.locator("#quality")
    assert len(place.screenshot()) > 20_000
    page.emulate_media(color_scheme="dark")
    assert becomes(page, "getComputedStyle(document.querySelector('.xtitle')).fill",
                   "rgb(231, 235, 241)")  # fmt: skip
    assert troubles == []
