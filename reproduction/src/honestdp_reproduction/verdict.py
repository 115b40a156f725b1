"""The paper's claims, one by one, beside what was measured here.

Each claim names its place in the paper, a rule (what "similar", "close" and "ahead" mean in points
of accuracy: the paper gives no figures, so the rules are ours), what came out, and the command
behind it. Verdicts follow from the rules and the committed results alone; the reasons are in
`docs/paper.md`. What is not the paper's own setting (ENRON unscaled) is shown, and not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any, Literal, get_args

from honestdp.errors import InputError
from honestdp_reproduction.experiment import DATASETS, Choice, Result
from honestdp_reproduction.store import Store

Verdict = Literal["holds", "holds in part", "does not hold"]

SIMILAR = 0.01  # of accuracy: what the paper's pictures, 0.15 high, show as one line
AHEAD = 0.002  # less is the luck of the draw


@dataclass(frozen=True)
class Claim:
    """says: what the paper claims, at `place`. rule: when it holds."""

    place: str
    says: str
    rule: str
    measured: str
    verdict: Verdict
    command: str
    picture: str = ""


def verdict(passed: Iterable[bool]) -> Verdict:
    """All: holds. None: does not. Else in part."""
    found = list(passed)
    assert found, "a claim without a figure"
    if all(found):
        return "holds"
    return "holds in part" if any(found) else "does not hold"


def panel_name(row: Result) -> str:
    sigma = "" if row["sigma"] == 4 else f", σ {row['sigma']:g}"
    return f"{DATASETS[row['dataset']]} {row['model'].upper()}{sigma}"


def listed(parts: Iterable[str]) -> str:
    return "; ".join(parts)  # names of panels have commas


def judged(panel: str) -> bool:
    """Whether a panel is one of the paper's."""
    return not any(odd in panel for odd in ("raw counts", "norm 1"))


def shown(gaps: Mapping[str, float]) -> str:
    """Differences by panel; what is not judged in brackets."""
    return listed(
        f"{name} {points(gap)}" if judged(name) else f"({name} {points(gap)})"
        for name, gap in gaps.items()
    )


def points(value: float) -> str:
    """A difference of accuracy, in points with a sign."""
    return f"{round(100 * value, 2) + 0.0:+.2f}"  # no -0.0


@dataclass(frozen=True, eq=False)
class Measured:
    """The results of every experiment, read on first use."""

    store: Store

    def of(self, name: str) -> dict[str, Any]:
        from importlib import import_module

        module: Any = import_module(f"honestdp_reproduction.{name.replace('-', '_')}")
        found = dict(module.result(Choice(), self.store))
        if found.get("not_run"):
            raise InputError(
                f"{self.store.folder}: {len(found['not_run'])} parts of {name} are missing; "
                f"run honestdp paper {name} first"
            )
        return found


def text(found: Sequence[Claim]) -> str:
    """The claims as numbered paragraphs."""
    lines = ["The paper's claims, held to what was measured here (SIMULATION, NOT PRIVATE)"]
    for number, claim in enumerate(found, start=1):
        parts = (
            (f"{number}. {claim.verdict.upper()}", f"{claim.says} ({claim.place})"),
            ("rule", claim.rule),
            ("measured", claim.measured),
            ("command", claim.command),
        )
        lines += [
            "",
            *(fill(f"{name}: {said}", 98, subsequent_indent="   ") for name, said in parts),
        ]
    count = {kind: sum(claim.verdict == kind for claim in found) for kind in get_args(Verdict)}
    lines += ["", "; ".join(f"{kind}: {each}" for kind, each in count.items())]
    return "\n".join(lines)


def claims(store: Store) -> list[Claim]:
    """All of them: accounting, learning rate and clip norm, optimizers, the whole."""
    from honestdp_reproduction import (
        verdict_accounting,
        verdict_frontier,
        verdict_heatmaps,
        verdict_trainings,
    )

    measured = Measured(store)
    groups: Sequence[Callable[[Measured], Iterator[Claim]]] = (
        verdict_accounting.claims,
        verdict_heatmaps.claims,
        verdict_trainings.claims,
        verdict_frontier.claims,
    )
    return [claim for group in groups for claim in group(measured)]
