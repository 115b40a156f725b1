"""What a saved picture shows in a browser: plotly leaves out in silence what it cannot draw."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from honestdp.report.picture import (
    Boxes,
    Dots,
    Heat,
    Line,
    Panel,
    Picture,
    save,
)
from honestdp.text import SIMULATION

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.slow


def test_every_kind_is_drawn(page: Page, troubles: list[str], tmp_path: Path) -> None:
    wave = Line("mean", [1, 2, 3], [1, 2, 1], low=[0, 1, 0], high=[2, 3, 2])
    cells = Heat([0.1, 1.0], [1.0, 2.0], [[1, 2], [math.nan, 3]], [[True, False], [False, False]])
    boxes = Boxes(["a", "b"], [[1, 2, 3, 4, 20], [2, 3, 4]], [Dots("chosen", [[4], [4]], "gold")])
    panels = [
        Panel("lines", "x", "y", [wave, Line("printed", [1, 3], [2, 2], "points")]),
        Panel("heat", "x", "y", [Line("formula", [0.1, 1], [1, 2])], under=cells),
        Panel("boxes", "x", "y", under=boxes),
    ]
    picture = Picture("All kinds", panels, "Caption.", 2, shared_legend=True, simulation=True)
    save(picture, tmp_path / "all.html")
    page.goto((tmp_path / "all.html").as_uri())
    page.wait_for_selector(".legend .legendtext")
    assert page.locator("path.box").count() == 2
    assert page.locator(".heatmaplayer image").count() == 3  # cells, missing, marked
    assert page.locator("path.js-fill").count() == 1
    # Two printed points, one outlier, two chosen.
    assert page.locator(".scatterlayer .points path.point").count() == 5
    assert page.locator(".legendtext").all_text_contents() == [
        "mean", "printed", "formula", "chosen",
    ]  # fmt: skip
    title = page.locator(".gtitle").text_content() or ""
    assert SIMULATION in title
    assert "All kinds" in title
    assert not troubles
