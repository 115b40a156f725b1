"""The plots of a number: how large errors are, and which way they go by predicted value."""

from __future__ import annotations

import numpy as np

from honestdp.evaluation.counts import Counted
from honestdp.evaluation.curves import (
    Curves,
    Interval,
    Plot,
    Point,
    clear,
    mean,
    percent,
    rising,
    share,
)
from honestdp.evaluation.numbers import ERRORS, PREDICTED


class NumbersCurves(Curves):
    """From counts of sizes of errors, and of predicted by true values."""

    kind = "numbers"

    @property
    def _unit(self) -> float:
        low, high = self.goal.bounds or (-1.0, 1.0)
        return (high - low) / 2

    def plots(self) -> list[Plot]:
        return [one for one in (self.by_predicted(), self.errors()) if one is not None]

    def errors(self) -> Plot | None:
        """The share of rows whose error is at most so large."""
        block = Counted(self.counts("error", len(ERRORS) + 1), self.noise)
        if not clear(block, np.ones(len(block.counts))):
            return None
        cells = len(block.counts)
        within = np.tri(len(ERRORS), cells)  # those of errors up to each edge
        shares = rising([share(block, part, np.ones(cells)) for part in within])
        points = tuple(
            Point(Interval(edge, edge, edge), y, f"off by {edge:.3g} at most: {percent(y)} of rows")
            for edge, y in zip((one * self._unit for one in ERRORS), shares, strict=True)
        )
        return Plot(
            name="errors",
            title="How far off it is",
            x_title="error, at most",
            y_title="share of rows",
            points=points,
            form="line",
            note="For each size of error, the share of rows that are off by no more.",
            x_kind="log",
        )

    def by_predicted(self) -> Plot | None:
        """The mean of true minus predicted values, by predicted value.

        Values are known by bins of width w alone, and a bin's middle stands for them. *Theorem.* If
        predicted values are spread evenly over their bin, and errors do not depend on the place in
        it, the mean of true minus predicted middles is the mean error. *Proof.* Let P be uniform
        over a bin of middle m, and T = P + e. Write e = (j + f) w with whole j, 0 <= f < 1: T lies
        in the bin j places on with probability 1 - f, and j + 1 places on with f, so that its
        middle is on average m + (j + f) w = m + e. QED. At the ends of the range, where values are
        cut off, it is the mean of what is left of them.
        """
        low, _ = self.goal.bounds or (-1.0, 1.0)
        width = 2 * self._unit / PREDICTED
        middles = np.arange(PREDICTED) * width
        points = []
        for place, row in enumerate(self.counts("predicted by value", PREDICTED, PREDICTED)):
            block = Counted(row, self.noise)
            if not clear(block, np.ones(PREDICTED)):
                continue
            y = mean(block, middles - middles[place])
            start = low + place * width
            x = Interval(start + width / 2, start, start + width)
            points.append(
                Point(x, y, f"predicted {x.low:.3g} to {x.high:.3g}, about {row.sum():.0f} rows: "
                            f"the truth is {y.value:+.3g} away on average "
                            f"({y.low:+.3g} to {y.high:+.3g})")
            )  # fmt: skip
        if not points:
            return None
        return Plot(
            name="by-predicted",
            title="Error by predicted value",
            x_title="predicted value",
            y_title="mean of true minus predicted",
            points=tuple(points),
            form="points",
            reference=((points[0].x.low, 0.0), (points[-1].x.high, 0.0)),
            reference_name="right on average",
            note="Above the dashed line the truth is larger than predicted. Horizontal bars are "
            "the bins of predicted values; those with too few rows are left out.",
            shares=False,
        )
