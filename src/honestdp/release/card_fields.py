"""The structured fields of a card: what programs read, where the rest of the card is sentences."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from pydantic import Field

from honestdp.json_files import Part

Variant: TypeAlias = Literal[
    "pure-dp", "approximate-dp", "zero-concentrated-dp", "renyi-dp", "gaussian-dp"
]
NeighbourRelation: TypeAlias = Literal["replace-by-null", "add-or-remove", "replace-one"]
ReleaseType: TypeAlias = Literal["model", "model-with-all-candidates", "no-model"]

CONFIDENCE: Final = 0.95  # of the intervals of an evaluation


class Utility(Part):
    """How good the released model is: one figure, on rows that had no part in making it.

    Attributes:
        figure: Its name, such as "accuracy".
        value: Its estimate.
        low, high: Its interval, which covers the sampling of the test rows and the noise.
        confidence: How often such an interval holds the true value.
        baseline: The same figure of a model that always gives the same answer; None if it has none.
        unit: "share", "number" (without a unit) or "target" (in the target's own unit).
        rows: Number of test rows; None for a group, whose size is not public.
        column, group: The column and its value, for the figure of a group.
    """

    figure: str
    value: float
    low: float
    high: float
    confidence: float = Field(gt=0, lt=1)
    baseline: float | None = None
    unit: str = "share"
    rows: int | None = Field(default=None, gt=0)
    column: str | None = None
    group: str | None = None

    @property
    def words(self) -> str:
        """It in words."""
        where = f" of rows with {self.column} {self.group}" if self.column else ""
        found = (
            f"{self.figure}{where}: {self.value:.4g} ({100 * self.confidence:g} % interval "
            f"{self.low:.4g} to {self.high:.4g}"
        )
        plain = "" if self.baseline is None else f"; always the same answer: {self.baseline:.4g}"
        return f"{found}{plain})" + ("" if self.rows is None else f", on {self.rows} test rows")


class Audit(Part):
    """How the lower bound on epsilon was found, if this very run was attacked.

    Attributes:
        method: What was done, such as "one-run audit with canaries".
        confidence: With which probability the bound is right.
        threat_model: What the attacker of the audit sees and may do.
        canaries: Number of records that were made up for it; None if there were none.
    """

    method: str
    confidence: float = Field(gt=0, lt=1)
    threat_model: str
    canaries: int | None = Field(default=None, gt=0)

    @property
    def words(self) -> str:
        """It in words."""
        made = "" if self.canaries is None else f", {self.canaries} canaries"
        return (
            f"{self.method}{made}, confidence {self.confidence:g}; the attacker: "
            f"{self.threat_model}"
        )


class Timing(Part):
    """What the time that a run takes may show. A limit of the guarantee, for programs to read.

    Attributes:
        covered: Whether the guarantee covers it.
        shows: What it may show to somebody who sees when the run begins and ends.
        remedy: What to do about it.
    """

    covered: bool
    shows: tuple[str, ...]
    remedy: str

    @property
    def words(self) -> str:
        """It in words."""
        if self.covered:
            return "covered by the guarantee."
        return f"NOT covered: it may show {' and '.join(self.shows)}. {self.remedy}"


class Code(Part):
    """The code that made the release.

    Attributes:
        version: Version of honestdp.
        commit: Its commit; None where that is not known.
        modified: Whether files of it differed from that commit; None where that is not known.
    """

    version: str
    commit: str | None = None
    modified: bool | None = None

    @property
    def words(self) -> str:
        """It in words."""
        if self.commit is None:
            return f"honestdp {self.version}, of a commit that is not known"
        changed = {True: ", with changes", False: "", None: ""}[self.modified]
        return f"honestdp {self.version}, commit {self.commit}{changed}"
