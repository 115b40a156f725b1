"""`Calibrator`: the contract of a recalibration on rows of its own; one file for each kind.

Clipping and noise bend a model's probabilities. Noisy counts of calibration rows, rows that had no
part in the training, say by how much; what follows from them is post-processing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from honestdp.evaluation.base import LevelCounts
from honestdp.evaluation.counts import Floats, Level
from honestdp.json_files import Part

# Standard deviation of slope and offset around 1 and 0 before anything is counted; chosen on
# Adult, see docs/calibration.md.
PRIOR = 0.5


class Calibration(Part):
    """How a released model's log-odds were corrected, by noisy counts of rows of their own.

    Attributes:
        kind: Name of the calibrator.
        rows: Number of calibration rows, which is public.
        noise: The standard deviation of the noise of every count.
        levels: The noisy counts, by level.
        slope: What every output is multiplied by; positive, so rows keep their order.
        offset: What is added to it then.
        share: The noisy share of the second of two classes; None for more classes.
    """

    kind: str
    rows: int = Field(gt=0)
    noise: float = Field(gt=0)
    levels: dict[str, LevelCounts]
    slope: float = Field(gt=0)
    offset: float
    share: float | None = None

    @property
    def words(self) -> str:
        """What was done, in words."""
        added = f" and {self.offset:+.3g} added" if self.offset else ""
        return f"log-odds multiplied by {self.slope:.3g}{added}"


class Calibrator(ABC):
    """What is counted on calibration rows, and the slope and offset that follow.

    Attributes:
        kind: Its name on cards.
        levels: What is counted; each row is in one cell of each at most.
        counted: What is counted, in words.
    """

    kind: ClassVar[str]
    levels: tuple[Level, ...]
    counted: ClassVar[str]

    @abstractmethod
    def fit(self, counts: Mapping[str, Floats], deviation: float) -> tuple[float, float]:
        """Slope, which is positive, and offset.

        Args:
            counts: The noisy counts, by the name of their level, in its shape.
            deviation: The standard deviation of the noise of each.
        """

    def share(self, counts: Mapping[str, Floats]) -> float | None:
        """The noisy share of the second of two classes; None for more."""
        return None

    def calibration(self, rows: int, deviation: float, counts: Mapping[str, Floats]) -> Calibration:
        """What the card holds.

        Args:
            rows: Number of calibration rows.
            deviation: The standard deviation of the noise of every count.
            counts: The noisy counts, by the name of their level, in its shape.
        """
        slope, offset = self.fit(counts, deviation)
        share = self.share(counts)
        return Calibration(
            kind=self.kind,
            rows=rows,
            noise=deviation,
            levels={
                name: LevelCounts(shape=found.shape, counts=tuple(found.ravel().tolist()))
                for name, found in counts.items()
            },
            slope=float(f"{slope:.6g}"),
            offset=float(f"{offset:.6g}"),
            share=None if share is None else float(f"{share:.6g}"),
        )
