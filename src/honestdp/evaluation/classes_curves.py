"""The plots of three or more classes: right answers by class, and the confusion matrix."""

from __future__ import annotations

import numpy as np

from honestdp.evaluation.classes import MOST_PAIRS
from honestdp.evaluation.counts import Block, Counted
from honestdp.evaluation.curves import (
    Curves,
    Interval,
    Matrix,
    Plot,
    Point,
    clear,
    matrix_of,
    percent,
    share,
)


class ClassesCurves(Curves):
    """From counts of right answers by class, and of class by answer where they were made."""

    kind = "classes"

    @property
    def _names(self) -> tuple[str, ...]:
        return self.goal.classes or ()

    def plots(self) -> list[Plot]:
        return [one for one in (self.recalls(), self.precisions()) if one is not None]

    def _pairs(self) -> list[Block] | None:
        """The counts of each class by answer; None if there are none."""
        k = len(self._names)
        if k > MOST_PAIRS:
            return None
        return [Counted(row, self.noise) for row in self.counts("class by answer", k, k)]

    def matrix(self) -> Matrix | None:
        pairs = self._pairs()
        if pairs is None:
            return None
        counts = np.stack([row.counts for row in pairs])
        return matrix_of(counts, self._names, pairs)

    def recalls(self) -> Plot | None:
        """The share of right answers among the rows of each class."""
        k = len(self._names)
        rows = [Counted(row, self.noise) for row in self.counts("right by class", k, 2)]
        return self._by_class(
            "recall", "Right answers by class", "share of the class found", rows, right=[1] * k
        )

    def precisions(self) -> Plot | None:
        """The share of right answers among the answers of each class."""
        pairs = self._pairs()
        if pairs is None:
            return None
        answers = [Counted(one, self.noise) for one in np.stack([p.counts for p in pairs]).T]
        return self._by_class(
            "precision", "How far to trust each answer", "share of such answers that are right",
            answers, right=list(range(len(answers))),
        )  # fmt: skip

    def _by_class(
        self, name: str, title: str, y_title: str, blocks: list[Counted], right: list[int]
    ) -> Plot | None:
        points = []
        for place, (block, hit) in enumerate(zip(blocks, right, strict=True)):
            whole = np.ones(len(block.counts))
            if not clear(block, whole):
                continue
            y = share(block, np.eye(len(whole))[hit], whole)
            label = self._names[place]
            points.append(Point(Interval(place, place, place), y, f"{label}: {percent(y)}"))
        if not points:
            return None
        left_out = len(blocks) - len(points)
        return Plot(
            name=name,
            title=title,
            x_title="class",
            y_title=y_title,
            points=tuple(points),
            form="points",
            note=f"Left out: {left_out} of {len(blocks)} with too few rows." if left_out else "",
            x_kind="category",
            names=self._names,
        )
