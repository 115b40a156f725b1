"""The plots of two classes: ROC, precision and recall, calibration; and the confusion matrix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.special import expit

from honestdp.evaluation.binary import BINS, LOGITS, MIDDLES
from honestdp.evaluation.counts import Block, Counted, Floats, Refined, Z
from honestdp.evaluation.curves import (
    BOTH,
    Curves,
    Interval,
    Matrix,
    Plot,
    Point,
    clear,
    matrix_of,
    percent,
    rising,
    share,
)

EDGES = expit(np.array([-np.inf, *LOGITS, np.inf]))  # of the bins, as probabilities
JOINED = 8.0  # standard deviations of noise in a bin of the calibration, at least
_HALF = BINS // 2


class BinaryCurves(Curves):
    """From counts of class by bin of the score, which agree with those of class by answer."""

    kind = "binary"

    def _block(self) -> Block:
        parent = 2 * np.arange(2)[:, None] + (np.arange(BINS) >= _HALF)[None, :]
        coarse = self.counts("class by answer", 2, 2).ravel()
        return Refined(coarse, self.counts("class by score", 2, BINS), parent, self.noise)

    @property
    def _names(self) -> tuple[str, str]:
        first, second = self.goal.classes or ("the first class", "the second class")
        return first, second

    def plots(self) -> list[Plot]:
        block = self._block()
        found = [self.roc(block), self.precision_recall(block), self.calibration(block)]
        return [one for one in found if one is not None]

    def matrix(self) -> Matrix:
        counts = self._block().counts.reshape(2, 2, _HALF).sum(2)
        rows = [Counted(one, self.noise) for one in self.counts("class by answer", 2, 2)]
        return matrix_of(counts, self._names, rows)

    def roc(self, block: Block) -> Plot | None:
        """Right answers among the second class against false alarms among the first.

        A point is a threshold. Each of its two shares has an interval of 97.5 %, so that by
        Bonferroni's inequality the true point lies in their rectangle with 95 %; the band is
        between the rectangles' upper left and lower right corners.

        Args:
            block: The counts of class by score.
        """
        if not (clear(block, _cells([0])) and clear(block, _cells([1]))):
            return None
        first, second = self._names
        hits, alarms = (
            rising([_found(block, of, k, BOTH) for k in range(BINS, -1, -1)]) for of in (1, 0)
        )
        points = tuple(
            Point(x, y, f"{second} from {_chance(at)} on: {percent(y)} of {second} found, "
                        f"{percent(x)} of {first} taken for it")
            for x, y, at in zip(alarms, hits, EDGES[::-1], strict=True)
        )  # fmt: skip
        return Plot(
            name="roc",
            title="ROC curve",
            x_title=f"share of {first} taken for {second}",
            y_title=f"share of {second} found",
            points=points,
            form="line",
            reference=((0.0, 0.0), (1.0, 1.0)),
            reference_name="a coin",
            note="The further above the dashed line, the better; a coin is on it.",
        )

    def precision_recall(self, block: Block) -> Plot | None:
        """Precision against recall, at thresholds where the rows answered with the second class can
        be told from noise.

        Args:
            block: The counts of class by score.
        """
        _, second = self._names
        points = []
        for k in range(BINS - 1, -1, -1):
            if clear(block, _cells([0, 1], k)):
                x, y = _found(block, 1, k), _right(block, k)
                points.append(
                    Point(x, y, f"{second} from {_chance(EDGES[k])} on: {percent(x)} of {second} "
                                f"found, {percent(y)} of these answers right")
                )  # fmt: skip
        if not points:
            return None
        always = _right(block, 0).value
        return Plot(
            name="precision-recall",
            title="Precision and recall",
            x_title=f"share of {second} found",
            y_title=f"share of answers {second} that are right",
            points=tuple(points),
            form="points",
            reference=((0.0, always), (1.0, always)),
            reference_name=f"always {second}",
            note=f"The dashed line is always to answer {second}. Thresholds at which too few rows "
            "get that answer to tell it from noise are left out.",
        )

    def calibration(self, block: Block) -> Plot | None:
        """How often the second class occurs, by its predicted probability.

        Bins are joined with their neighbours until each has a count that is clear of noise; the
        joining depends on the released counts alone.

        Args:
            block: The counts of class by score.
        """
        _, second = self._names
        points = []
        for low, high in _joined(block):
            y, rows = _right(block, low, high), float(_cells([0, 1], low, high) @ block.counts)
            weight = np.maximum(block.counts.reshape(2, BINS).sum(0)[low:high], 1e-9)
            middle = float(weight @ expit(MIDDLES[low:high]) / weight.sum())
            x = Interval(middle, float(EDGES[low]), float(EDGES[high]))
            points.append(
                Point(x, y, f"predicted {_chance(EDGES[low])} to {_chance(EDGES[high])}, about "
                            f"{rows:.0f} rows: {second} in {percent(y)}")
            )  # fmt: skip
        if not points:
            return None
        return Plot(
            name="calibration",
            title="Do probabilities mean what they say?",
            x_title=f"predicted probability of {second}",
            y_title=f"how often it was {second}",
            points=tuple(points),
            form="points",
            reference=((0.0, 0.0), (1.0, 1.0)),
            reference_name="probabilities that mean what they say",
            note="Below the dashed line probabilities are too high, above it too low. Horizontal "
            "bars are the bins of probabilities.",
        )


def _cells(of: Sequence[int], start: int = 0, end: int = BINS) -> Floats:
    """1 for the cells of some classes whose scores are in bins from start to before end."""
    found = np.zeros((2, BINS))
    found[list(of), start:end] = 1.0
    return found.ravel()


def _found(block: Block, of: int, k: int, z: float = Z) -> Interval:
    """The share of a class whose scores are in bin k or above."""
    return share(block, _cells([of], k), _cells([of]), z)


def _right(block: Block, k: int, end: int = BINS) -> Interval:
    """The share of the second class among rows whose scores are in bins from k to before end."""
    return share(block, _cells([1], k, end), _cells([0, 1], k, end))


def _joined(block: Block) -> Iterator[tuple[int, int]]:
    """Ranges of bins, each with a count clear of noise; what remains goes to the last."""
    found: list[tuple[int, int]] = []
    start = 0
    for end in range(1, BINS + 1):
        if clear(block, _cells([0, 1], start, end), JOINED):
            found.append((start, end))
            start = end
    if found and start < BINS:
        found[-1] = (found[-1][0], BINS)
    yield from found


def _chance(p: float) -> str:
    return f"{100 * p:.3g} %"
