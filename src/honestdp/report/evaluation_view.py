"""How good the model is, for the templates: sentence, table of figures, groups and plots."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from honestdp.evaluation import Evaluation
from honestdp.evaluation.base import Figure as Quantity
from honestdp.evaluation.base import GroupFigures
from honestdp.evaluation.curves import Matrix, percent
from honestdp.evaluation.drawn import curves_of
from honestdp.evaluation.words import (
    MEANINGS,
    UNKNOWN,
    baseline,
    estimate_of,
    hardly_known,
    interval,
)
from honestdp.release.card import Card
from honestdp.report.evaluation_figures import MOST_INTERVALS, matrix_figure, plot_figure
from honestdp.report.figures import Figure
from honestdp.report.inputs import Declared


@dataclass(frozen=True)
class Row:
    """A figure as texts. wide: Whether its interval is so wide that it says little."""

    name: str
    value: str
    interval: str
    baseline: str
    meaning: str
    wide: bool

    @classmethod
    def of(cls, one: Quantity, classes: Sequence[str] = ()) -> Row:
        meaning = MEANINGS.get(one.name, "")
        for number, name in zip(("first", "second"), classes, strict=False):
            meaning = meaning.replace(f"the {number} class", name)
        texts = estimate_of(one), interval(one), baseline(one)
        return cls(one.name, *texts, meaning, hardly_known(one))


@dataclass(frozen=True)
class Group:
    """The figures of a group. rows: About how many; empty if that cannot be told from noise, and
    then it has no figures."""

    name: str
    rows: str
    figures: tuple[Row, ...]

    @classmethod
    def of(cls, evaluation: Evaluation, group: GroupFigures) -> Group:
        if not evaluation.tells(group):
            return cls(group.group, "", ())
        rows = UNKNOWN if group.rows is None else f"{group.rows:,.0f}"
        return cls(group.group, rows, tuple(map(Row.of, group.figures)))


@dataclass(frozen=True)
class Drawn:
    """A plot in the page."""

    name: str
    title: str
    note: str
    figure: Figure


@dataclass(frozen=True)
class Quality:
    """The evaluation of a card, for the templates.

    Attributes:
        sentence: The main figure in words.
        rows: Number of test rows.
        noise: The standard deviation of the noise of each count.
        figures: All figures.
        column: What groups are the values of.
        groups: The figures by group.
        drawn: The plots.
        cells: The rows of the confusion matrix as texts; empty without one.
    """

    sentence: str
    rows: int
    noise: str
    figures: tuple[Row, ...]
    column: str
    groups: tuple[Group, ...]
    drawn: tuple[Drawn, ...]
    classes: tuple[str, ...]
    cells: tuple[tuple[str, tuple[str, ...]], ...]

    @classmethod
    def of(cls, card: Card, declared: Declared) -> Quality | None:
        """The evaluation of a card; None if it has none."""
        found = card.evaluation
        if found is None:
            return None
        target = declared.table.target
        classes = None if target.classes is None else tuple(target.classes)
        curves = curves_of(found, classes, target.bounds)
        matrix = curves.matrix()
        drawn = [] if matrix is None else [_matrix(matrix)]
        for plot in curves.plots():
            drawn.append(Drawn(plot.name, plot.title, plot.note, plot_figure(plot)))
        return cls(
            sentence=found.sentence,
            rows=found.rows,
            noise=f"{found.noise:.3g}",
            figures=tuple(Row.of(one, classes or ()) for one in found.figures),
            column=found.column,
            groups=tuple(Group.of(found, one) for one in found.groups),
            drawn=tuple(drawn),
            classes=() if matrix is None else matrix.classes,
            cells=() if matrix is None else tuple(_cells(matrix)),
        )

    @property
    def group_names(self) -> tuple[str, ...]:
        """The names of the figures that groups have."""
        return next((tuple(one.name for one in g.figures) for g in self.groups if g.figures), ())

    @property
    def has_unknown(self) -> bool:
        """Whether a figure could not be told."""
        rows = [*self.figures, *(one for group in self.groups for one in group.figures)]
        return any(one.wide for one in rows) or any(not group.figures for group in self.groups)


def _matrix(matrix: Matrix) -> Drawn:
    note = "Each line is a true class; the figures say how its rows were answered."
    if len(matrix.classes) > MOST_INTERVALS:
        note += " Cells that cannot be told from none are left empty; the hover has all."
    return Drawn("matrix", "Confusion matrix", note, matrix_figure(matrix))


def _cells(matrix: Matrix) -> Iterator[tuple[str, tuple[str, ...]]]:
    for name, row in zip(matrix.classes, matrix.shares, strict=True):
        unknown = (UNKNOWN,) * len(matrix.classes)
        yield name, unknown if row is None else tuple(map(percent, row))
