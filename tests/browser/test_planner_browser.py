"""The planner in a real browser: what a person moves, and what then stands on the page."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from honestdp.planner.answers import PlannerInputs
from honestdp.planner.serve import Server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow
LONG = 30_000  # milliseconds: a machine may be busy
SMALL = {"n": "2000", "lot_size": "50", "steps": "100", "candidates": "5", "epsilon": "1"}


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(PlannerInputs()) as opened:
        thread = threading.Thread(target=opened.serve_forever)
        thread.start()
        yield opened
        opened.shutdown()
        thread.join()


@pytest.fixture
def opened(browser: Browser, server: Server, troubles: Any, request: Any) -> Iterator[Page]:
    """The planner on a page that can reach nothing but the planner."""
    options = {"viewport": {"width": 1200, "height": 900}, **getattr(request, "param", {})}
    context = browser.new_context(**options)
    page = context.new_page()
    context.route(
        lambda url: not url.startswith((server.address, "data:")), lambda route: route.abort()
    )
    troubles.watch(page)
    go(page, server, SMALL)
    yield page
    context.close()


def go(page: Page, server: Server, values: dict[str, str]) -> None:
    page.goto("about:blank")
    page.goto(server.address + "#" + "&".join(f"{k}={v}" for k, v in values.items()))
    page.wait_for_selector("body[data-drawn]", state="attached", timeout=LONG)


def answered(page: Page) -> int:
    return int(page.get_attribute("body", "data-answered") or 0)


def until_answered(page: Page, before: int) -> None:
    page.wait_for_selector(f"body:not([data-answered='{before}'])", state="attached", timeout=LONG)


def move(page: Page, name: str, key: str = "PageUp") -> float:
    """Move a slider by the keyboard; the seconds until table and candidates are new, which the
    page measures itself."""
    before = answered(page)
    page.focus(f"#slide-{name}")
    page.keyboard.press(key)
    until_answered(page, before)
    page.wait_for_function(
        "!document.getElementById('status').textContent.startsWith('Computing')", timeout=LONG
    )
    return float(page.inner_text("#status").rpartition(" in ")[2].split()[0])


def figures(page: Page) -> list[str]:
    return page.locator("#rows td.noise").all_text_contents()


def most(page: Page) -> list[str]:
    return page.locator("#most b").all_text_contents()


def test_it_loads_without_trouble_and_asks_nobody_else(opened, server, troubles) -> None:
    assert len(figures(opened)) == 21
    assert len(most(opened)) == 6
    assert "This page reads no data" in opened.inner_text("header")
    assert opened.locator("#plot .legendtext").count() == 11
    assert opened.locator("#part-plot.stale").count() == 0
    assert list(troubles) == []


@pytest.mark.parametrize("name", ["n", "epsilon", "candidates", "steps", "lot_size"])
def test_every_slider_changes_the_table(opened, name, troubles) -> None:
    opened.evaluate("() => { document.getElementById('more').open = true; }")
    before, value = figures(opened), opened.input_value(f"#{name}")
    seconds = move(opened, name)
    assert opened.input_value(f"#{name}") != value
    assert figures(opened) != before
    print(f"{name}: {seconds} s")
    assert list(troubles) == []


def test_the_noise_slider_changes_what_can_be_afforded(opened) -> None:
    opened.evaluate("() => { document.getElementById('more').open = true; }")
    count = answered(opened)
    opened.check("#use-noise_multiplier")
    until_answered(opened, count)
    before = most(opened)
    for _ in range(3):
        move(opened, "noise_multiplier")
    assert most(opened) != before
    assert f"at noise multiplier {opened.input_value('#noise_multiplier')} (as chosen)" in (
        opened.inner_text("#said-noise")
    )


def test_searches_are_compared_at_one_hit_probability(opened) -> None:
    assert opened.input_value("#hit_probability") == "0.9"
    before = figures(opened)
    move(opened, "hit_probability", "PageDown")
    assert figures(opened) != before


def test_rows_and_epsilon_are_enough(opened, server, troubles) -> None:
    go(opened, server, {"n": "10000"})
    assert not opened.is_visible("#steps")
    assert opened.get_attribute("#steps", "placeholder") == "300"
    assert "a guess" in opened.inner_text("#likely").lower()
    assert "--steps 300" in opened.inner_text("#command")
    assert list(troubles) == []


def test_the_numbers_are_those_of_the_command(opened) -> None:
    words = opened.inner_text("#command").split()[1:]
    code = "import sys; from honestdp.cli import main; sys.argv[0] = 'honestdp'; main()"

    def told(*more: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", code, *words, *more], capture_output=True, text=True, timeout=60
        )
        return done.stdout

    rows = json.loads(told("--json"))["rows"]
    assert [float(text) for text in figures(opened)] == [row["noise_multiplier"] for row in rows]
    shown = [
        line.split()[-2:] for line in told().splitlines() if line.startswith("random-repeats ")
    ]
    page_rows = opened.locator("#rows tr").filter(has_text="random-repeats").all()
    assert [row.locator("td.figure").all_text_contents() for row in page_rows] == shown


def test_an_error_is_shown_beside_its_input_and_goes_away(opened, troubles) -> None:
    opened.evaluate("() => { document.getElementById('more').open = true; }")
    before = figures(opened)
    opened.fill("#lot_size", "5000")
    opened.wait_for_selector("#error-lot_size:not(:empty)", timeout=LONG)
    assert "a lot cannot exceed the n=2000 records" in opened.inner_text("#error-lot_size")
    assert opened.get_attribute("#lot_size", "aria-invalid") == "true"
    assert figures(opened) == before  # the previous answer stays, dimmed
    assert opened.locator("#part-table.stale").count() == 1
    count = answered(opened)
    opened.fill("#lot_size", "50")
    until_answered(opened, count)
    assert opened.inner_text("#control-lot_size .error") == ""
    assert opened.get_attribute("#lot_size", "aria-invalid") is None
    assert opened.locator("#part-table.stale").count() == 0
    assert list(troubles) == []


def test_an_older_answer_never_overwrites_a_newer_one(opened, server) -> None:
    """Many moves at once; what stands at the end is the answer to the last."""
    for text in ("6", "7", "8", "9"):
        opened.fill("#candidates", text)
        opened.wait_for_timeout(80)
    opened.wait_for_selector("#command:text('--candidates 9')", timeout=LONG)
    opened.wait_for_selector("#part-plot:not(.stale)", timeout=LONG)
    seen = figures(opened)
    go(opened, server, SMALL | {"candidates": "9"})
    assert figures(opened) == seen


def test_the_address_keeps_the_choice(opened, server) -> None:
    count = answered(opened)
    opened.fill("#hit_probability", "0.8")
    until_answered(opened, count)
    move(opened, "epsilon")
    link, seen = opened.url, figures(opened)
    assert "hit_probability=0.8" in link
    opened.goto("about:blank")
    opened.goto(link)
    opened.wait_for_selector("body[data-drawn]", state="attached", timeout=LONG)
    assert opened.input_value("#hit_probability") == "0.8"
    assert figures(opened) == seen


def test_by_keyboard_alone(opened) -> None:
    """Tab reaches every control in order; arrows move a slider a little, Page a lot."""
    opened.focus("#n")
    order = []
    for _ in range(6):
        order.append(opened.evaluate("() => document.activeElement.id"))
        opened.keyboard.press("Tab")
    assert order == ["n", "slide-n", "epsilon", "slide-epsilon", "candidates", "slide-candidates"]
    opened.evaluate("() => { document.getElementById('more').open = true; }")
    move(opened, "steps", "ArrowRight")
    assert opened.get_attribute("#slide-steps", "aria-valuetext") == opened.input_value("#steps")


def test_every_bound_is_one_tick_away(opened) -> None:
    assert opened.locator("#rows tr:visible").count() == 11
    opened.check("#all")
    assert opened.locator("#rows tr:visible").count() == 21


@pytest.mark.parametrize(
    "opened", [{"viewport": {"width": 360, "height": 740}}], indirect=True, ids=["phone"]
)
def test_a_phone_has_nothing_off_the_side(opened, troubles) -> None:
    opened.check("#all")
    opened.evaluate("() => document.querySelectorAll('details').forEach(d => { d.open = true; })")
    opened.wait_for_selector("#part-plot:not(.stale)", timeout=LONG)
    assert opened.evaluate("() => document.documentElement.scrollWidth") == 360
    assert opened.locator("#status").bounding_box()["y"] < 740  # in sight beside the sliders
    assert list(troubles) == []


@pytest.mark.parametrize(
    "opened",
    [{"color_scheme": "dark", "reduced_motion": "reduce"}],
    indirect=True,
    ids=["dark"],
)
def test_dark_and_without_motion(opened, troubles) -> None:
    colours = opened.evaluate(
        "() => ['backgroundColor', 'color'].map(c => getComputedStyle(document.body)[c])"
    )
    dark, light = (sum(map(int, text[4:-1].split(","))) for text in colours)
    assert dark < 120
    assert light > 600
    moved = "() => getComputedStyle(document.querySelector('section')).transitionProperty"
    assert opened.evaluate(moved) == "none"
    assert (
        opened.evaluate("() => getComputedStyle(document.querySelector('#plot text')).fill")
        == (colours[1])
    )
    assert list(troubles) == []
