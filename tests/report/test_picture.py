"""Pictures of every kind, in both formats."""

from __future__ import annotations

import math
import struct
from functools import cache, partial
from pathlib import Path

import pytest
from matplotlib.colors import to_hex
from pictures import BOXES, CELLS, HEAT, NORMS, PICTURES, RATES

from honestdp import InputError
from honestdp.report import draw_html, draw_png, drawing
from honestdp.report.picture import (
    Boxes,
    Heat,
    Line,
    Panel,
    Picture,
    save,
)
from honestdp.text import SIMULATION

NAMES = {
    "lines": ("DPAdam", "as printed"),
    "grid": ("DPAdam", "panel 7", "What it shows."),
    "heat": ("formula", "clipping norm", "0.0001"),
    "boxes": ("four candidates", "chosen", "DPSGD"),
}

# Drawn once for all the tests.
PNG = {kind: cache(partial(draw_png.figure, picture)) for kind, picture in PICTURES.items()}
HTML = {kind: cache(partial(draw_html.figure, picture)) for kind, picture in PICTURES.items()}


def own(path: Path) -> str:
    """The page without plotly's own source."""
    from plotly.offline import get_plotlyjs

    text = path.read_text(encoding="utf-8")
    assert get_plotlyjs() in text  # opens offline
    return text.replace(get_plotlyjs(), "")


@pytest.mark.parametrize("kind", PICTURES)
def test_each_kind_saves_in_both_formats(kind: str, tmp_path: Path) -> None:
    png, html = tmp_path / "a.png", tmp_path / "a.HTML"
    save(PICTURES[kind], png)
    save(PICTURES[kind], html)
    start = png.read_bytes()[:24]
    assert start[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(png.read_bytes()) < 200_000
    width, height = struct.unpack(">II", start[16:])
    assert 600 <= width <= 1760
    assert 300 <= height <= 1100
    text = own(html)
    assert 'src="http' not in text
    assert all(name in text for name in NAMES[kind])
    assert (SIMULATION in text) == PICTURES[kind].simulation
    shown = [each.get_text() for each in PNG[kind]().texts]
    assert (SIMULATION in shown) == PICTURES[kind].simulation


def test_a_grid_of_eight_is_two_by_four_with_one_legend() -> None:
    made = PNG["grid"]()
    spots = [axis.get_subplotspec() for axis in made.axes]
    assert [(s.rowspan.start, s.colspan.start) for s in spots if s] == [
        (row, column) for row in range(2) for column in range(4)
    ]
    (legend,) = made.legends
    assert [t.get_text() for t in legend.get_texts()] == ["DPAdam", "DPSGD < DPAdam", "as printed"]
    assert all(axis.get_legend() is None for axis in made.axes)
    assert all(text.get_fontsize() >= 7 for text in legend.get_texts())
    page = HTML["grid"]()
    entries = [trace.name for trace in page.data if trace.showlegend]
    assert entries == ["DPAdam", "DPSGD &lt; DPAdam", "as printed"]  # plotly reads tags in them


def test_a_name_has_one_colour_in_both_formats() -> None:
    shy = Line("b", [1], [1])
    panels = [Panel("", "", "", [shy, Line("a", [1], [1])]), Panel("", "", "", [shy])]
    chosen = Panel("", "", "", [Line("b", [1], [1], color="gold"), Line("", [1], [1])])
    picture = Picture("", [*panels, chosen], shared_legend=True)
    lines = [line for panel in drawing.colored(picture).panels for line in panel.lines]
    assert [line.color for line in lines if line.name == "b"] == ["gold"] * 3
    assert len({line.color for line in lines}) == 3
    drawn = [line.get_color() for axis in draw_png.figure(picture).axes for line in axis.lines]
    page = [trace.line.color for trace in draw_html.figure(picture).data]
    assert [to_hex(color) for color in drawn] == page


def test_points_are_not_joined_and_an_interval_is_shaded_where_it_is_finite() -> None:
    (axis,) = PNG["lines"]().axes
    styles = [line.get_linestyle() for line in axis.lines]
    assert styles == ["-", "--", "None"]
    assert [line.get_alpha() for line in axis.lines] == [1, drawing.LIGHT, 1]
    assert (axis.get_xlim(), axis.get_ylim()) == ((1, 10), (0, 3))
    assert len(axis.collections) == 1
    page = HTML["lines"]()
    assert [trace.mode for trace in page.data] == ["none", "lines", "lines", "markers"]
    assert page.data[0].x == (1, 2, 2, 1, None, 4, 4, None)
    assert page.data[0].y == (0.5, 1.5, 2.5, 1.5, None, 0.5, 1.5, None)
    assert page.layout.xaxis.range == (0, 1)  # powers of ten


def test_cells_of_a_heat_map() -> None:
    made = PNG["heat"]()
    cells, marked = made.axes[0].images
    assert cells.get_array().mask.tolist() == [[not math.isfinite(z) for z in row] for row in CELLS]
    assert to_hex(cells.get_cmap().get_bad()) == drawing.MISSING
    assert (~marked.get_array().mask).nonzero() == ([1], [2])
    assert to_hex(marked.get_cmap()(0)) == drawing.MARKED
    assert cells.get_clim() == (0, 1)
    page = {trace.type: trace for trace in HTML["heat"]().data}
    assert set(page) == {"heatmap", "scatter"}
    cells, missing, marked, _ = HTML["heat"]().data
    assert cells.z[0][4] is cells.z[1][4] is None
    assert [(i, j) for i in range(3) for j in range(5) if missing.z[i][j]] == [(0, 4), (1, 4)]
    assert [(i, j) for i in range(3) for j in range(5) if marked.z[i][j]] == [(1, 2)]
    assert (missing.colorscale[0][1], marked.colorscale[0][1]) == (drawing.MISSING, drawing.MARKED)
    assert cells.text[0][4] == "1.0, 0.1: nan"


def test_lines_over_a_heat_map_are_placed_by_logarithm() -> None:
    line = drawing.placed(HEAT.lines[0], HEAT.under)
    assert line.x == pytest.approx([0, 2, 4])
    assert line.y == pytest.approx([2, 1, 0])
    assert drawing.places([10**-3.5, 1e-5, 10], RATES) == pytest.approx([0.5, -1, 5])
    assert math.isnan(drawing.places([0.0], NORMS)[0])
    assert drawing.places([0.25, 5], [0, 1, 2]) == pytest.approx([0.25, 5])  # 0 has no logarithm
    assert drawing.places([10.0, 0.1], NORMS[::-1]) == pytest.approx([0, 2])
    assert drawing.places([1.5], ["a", "b", "c"]) == [1.5]
    drawn = PNG["heat"]().axes[0].lines[0]
    assert list(drawn.get_xdata()) == list(line.x)
    assert HTML["heat"]().data[-1].x == tuple(line.x)


def test_ticks_are_thinned_to_short_ones() -> None:
    assert drawing.ticks([10 ** (-4 + i / 4) for i in range(17)], 8) == (
        [0, 4, 8, 12, 16],
        ["0.0001", "0.001", "0.01", "0.1", "1"],
    )
    assert drawing.ticks(["a", "long"], 5) == ([0, 1], ["a", "long"])


def test_boxes_are_the_same_in_both_formats() -> None:
    panel = HTML["boxes"]().data[:4]
    box, outliers, black, gold = panel
    assert box.x == (0, 1)  # the third group has no values
    assert (box.q1[1], box.median[1], box.q3[1]) == pytest.approx((0.75, 0.8, 0.85))
    assert (outliers.x, outliers.y) == ((0,), (2.0,))
    assert black.x == pytest.approx((-0.08, 0, 0.08, 1))
    assert gold.marker.color == to_hex("gold")
    axis = PNG["boxes"]().axes[0]
    assert [t.get_text() for t in axis.get_xticklabels()] == ["DPSGD", "DPAdam", "none"]
    medians = [line.get_ydata()[0] for line in axis.lines if line.get_color() == "#1f4e79"]
    assert medians == list(box.median)


def test_texts_are_shown_as_they_are(tmp_path: Path) -> None:
    """No tags, and no formulas: neither $ nor < means anything."""
    odd = Picture("5 $ and 6 $", [Panel("<b>x</b>", "$a_", "b$", [Line("$x$ <i>", [1], [1])])])
    save(odd, tmp_path / "a.png")
    page = draw_html.figure(odd)
    assert page.data[0].name == "$x$ &lt;i&gt;"
    assert page.layout.annotations[0].text == "&lt;b&gt;x&lt;/b&gt;"


def test_a_heat_map_without_a_number_is_drawn(tmp_path: Path) -> None:
    for axis in ([1.0], [1.0, 2.0]):
        empty = Heat(axis, ["a"], [[math.nan] * len(axis)])
        for suffix in ("png", "html"):
            save(Picture("", [Panel("", "", "", under=empty)]), tmp_path / f"a.{suffix}")


@pytest.mark.parametrize(("make", "words"), [
    (lambda: Line("a", [1, 2], [1]), r"y=1: .* the line's x: 2"),
    (lambda: Line("a", [1], [1], low=[1]), "line='a': give both low and high"),
    (lambda: Line("a", [1], [1], low=[1], high=[]), r"high=0: .* the line's x: 1"),
    (lambda: Heat([1], [1, 2], [[1]]), r"z=1: .* the heat map's y: 2"),
    (lambda: Heat([1], [1], [[1]], [[True, False]]), r"a row of marked=2: .* heat map's x: 1"),
    (lambda: Panel("p", "", "", x_scale="log", under=HEAT.under), "panel='p': a heat map has"),
    (lambda: Boxes(["a"], []), "values=0"),
    (lambda: Boxes(["a"], [[math.nan]]), "group='a': a box needs finite values"),
])  # fmt: skip
def test_what_does_not_fit_together_is_refused(make, words) -> None:
    with pytest.raises(InputError, match=words):
        make()


def test_a_wrong_target_is_refused(tmp_path: Path) -> None:
    picture = Picture("", [BOXES])
    with pytest.raises(InputError, match=r"give a file that ends in \.html or \.png"):
        save(picture, tmp_path / "a.pdf")
    with pytest.raises(InputError, match="its folder does not exist"):
        save(picture, tmp_path / "no" / "a.png")
