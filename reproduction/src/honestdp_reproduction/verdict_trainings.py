"""Claims about optimizers, held to trainings on real data (experiments 3 to 6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from honestdp_reproduction import adaptive
from honestdp_reproduction.adaptive import ADADP, WOSM
from honestdp_reproduction.advantage import ADAM, CATASTROPHE, GOOD, MOMENTUM, SGD, good_momentum
from honestdp_reproduction.experiment_trainings import first_tenth
from honestdp_reproduction.verdict import (
    AHEAD,
    SIMILAR,
    Claim,
    Measured,
    judged,
    listed,
    panel_name,
    points,
    shown,
    verdict,
)

POINT = f"{100 * SIMILAR:g} point"
MARGIN = f"{100 * AHEAD:g} points"
MOSTLY = 0.9  # of the times
LESS = 1 / 3  # of the other's range
CHEAPER = 0.98


def claims(measured: Measured) -> Iterator[Claim]:
    yield from _defaults(measured.of("defaults"))
    yield from _advantage(measured.of("advantage"))
    yield from _pruning(measured.of("pruning"))
    yield from _adaptive(measured.of("adaptive"))


def _all(gaps: dict[str, float], passes: Callable[[float], bool]) -> list[bool]:
    return [passes(gap) for name, gap in gaps.items() if judged(name)]


def _claim(
    experiment: str, place: str, says: str, rule: str, measured: str, passed: list[bool]
) -> Claim:
    command = f"honestdp paper {experiment}"
    return Claim(place, says, rule, measured, verdict(passed), command, experiment)


def _defaults(found: dict[str, Any]) -> Iterator[Claim]:
    rows = found["panels"]
    rate = {panel_name(row): row["best_by_rate"]["0.001"] - row["best"] for row in rows}
    wins = sum(gap > -1e-5 for name, gap in rate.items() if judged(name))
    yield Claim(
        "Section 5, Figure 6",
        "At learning rate 0.001 all are close to the best of DPAdam's 180 settings, and most are "
        "the best",
        f"the best at 0.001 within {POINT} of the best of all, and the best on most panels",
        f"best at 0.001 less best of all, in points: {shown(rate)}; the best "
        f"of all is there {wins} times of {sum(map(judged, rate))}",
        verdict([*_all(rate, lambda gap: gap >= -SIMILAR), 2 * wins > sum(map(judged, rate))]),
        "honestdp paper defaults",
        "defaults",
    )
    gold = {panel_name(row): row["default"] - row["best"] for row in rows}
    yield Claim(
        "Section 5, Figure 6",
        "Adam's own defaults (0.001, 0.9, 0.999) are a good choice under privacy",
        f"within {POINT} of the best of 180",
        f"default less best, in points: {shown(gold)}",
        verdict(_all(gold, lambda gap: gap >= -SIMILAR)),
        "honestdp paper defaults",
        "defaults",
    )


def _advantage(found: dict[str, Any]) -> Iterator[Claim]:
    rows, pair = found["panels"], (SGD, ADAM)
    claim = partial(_claim, "advantage")
    last = {
        panel_name(row): {g: row["best"][g][-1] for g in (SGD, MOMENTUM, ADAM) if g in row["best"]}
        for row in rows
    }
    behind = {
        name: best[ADAM] - max(value for grid, value in best.items() if grid != ADAM)
        for name, best in last.items()
    }
    spread = {name: max(best.values()) - min(best.values()) for name, best in last.items()}
    yield claim(
        "Section 6, Figure 7",
        "Tuned at any price, the maxima of DPSGD, DPMomentum and DPAdam are extremely similar",
        f"all within {POINT} of each other after the last step",
        f"DPAdam less the better of the others, in points: {shown(behind)}",
        _all(spread, lambda gap: gap <= SIMILAR),
    )
    ahead = _ahead(rows, "held")
    yield claim(
        "Section 6, Figure 7 (dotted)",
        "Held to the privacy of four candidates, DPAdam is ahead of DPSGD and DPMomentum although "
        "their grids are pruned",
        f"ahead by {MARGIN} after the last step of the best of four at random, pruned grid",
        f"DPAdam less their mean, in points: {shown(ahead)}",
        _all(ahead, lambda gap: gap >= AHEAD),
    )
    whole = _ahead(rows, "held_unpruned")
    yield claim(
        "Section 6 (implied)",
        "The same without pruning, where DPAdam's advantage should be the greater",
        f"ahead by {MARGIN} after the last step of the best of four at random, whole grid",
        f"DPAdam less their mean, in points: {shown(whole)}",
        _all(whole, lambda gap: gap >= AHEAD),
    )
    yield claim(
        "Section 1, contributions",
        "Where tuning counts, DPAdam is much more likely to give non-catastrophic results",
        f"less often than four of DPSGD's whole grid at random all {100 * CATASTROPHE:g} points "
        "below the best of its forty",
        "how often, DPSGD / DPAdam: "
        + listed(
            _bracketed(panel_name(row), " / ".join(f"{row['catastrophes'][g]:.2g}" for g in pair))
            for row in rows
        ),
        [
            row["catastrophes"][ADAM] < row["catastrophes"][SGD]
            for row in rows
            if judged(panel_name(row))
        ],
    )
    yield claim(
        "Sections 7 and 8",
        "DPAdam's results have less variance: more consistent over its settings than DPSGD's",
        "from the worst to the best setting of its grid a third of DPSGD's way, after the last "
        "step",
        "points from worst to best, DPSGD / DPAdam: "
        + listed(
            _bracketed(panel_name(row), " / ".join(f"{100 * row['range'][g]:.1f}" for g in pair))
            for row in rows
        ),
        [row["range"][ADAM] <= LESS * row["range"][SGD] for row in rows if judged(panel_name(row))],
    )
    momenta = found["momentum"]
    best = {panel_name(row): max(row["best"], key=row["best"].get) for row in momenta}
    loss = {
        name: max(max(row["best"].values()) - row["best"][name] for row in momenta)
        for name in momenta[0]["best"]
    }
    yield claim(
        "Section 6",
        "No value of the momentum is a good default",
        f"each loses more than {100 * GOOD:g} points somewhere, learning rate and clip norm tuned",
        "best: "
        + listed(f"{name} {value}" for name, value in best.items())
        + "; the most each loses anywhere, in points: "
        + listed(f"{name}: {100 * each:.2f}" for name, each in loss.items()),
        [not good_momentum(found)],
    )


def _ahead(rows: list[dict[str, Any]], part: str) -> dict[str, float]:
    """DPAdam against each of the others, by panel."""
    names = {SGD: "DPSGD", MOMENTUM: "DPMomentum"}
    return {
        f"{panel_name(row)} ({names[grid]})": row["best"][ADAM][-1] - row[part][grid]["exact"][-1]
        for row in rows
        for grid in names
        if grid in row[part]
    }


def _pruning(found: dict[str, Any]) -> Iterator[Claim]:
    won = {(row["learning_rate"], row["clip_norm"]): row["wins"] for row in found["wins"]}
    rates = sorted({rate for rate, _ in won})
    dropped = [rate for rate in rates if rate not in found["kept_rates"]]
    corner = won[max(rates), max(clip for _, clip in won)]
    yield Claim(
        "Appendix C",
        "Some learning rates of DPSGD's grid are never the best and can be pruned",
        "at least one of ten without a win",
        f"{len(dropped)} of 10 never win ({listed(f'{rate:g}' for rate in dropped) or 'none'}); "
        f"{100 * corner / found['times']:.0f} % of all wins are at the grid's corner, rate 1 and "
        "C = 1: it may stop short of the best",
        verdict([bool(dropped)]),
        "honestdp paper pruning",
        "pruning",
    )


def _adaptive(found: dict[str, Any]) -> Iterator[Claim]:
    rows = found["panels"]

    claim = partial(_claim, "adaptive")

    def over_time(part: str) -> dict[str, NDArray[np.float64]]:
        """DPAdamWOSM less DPAdam, at each time."""
        return {
            panel_name(row): np.array(row[part][WOSM]) - np.array(row[part][adaptive.ADAM])
            for row in rows
        }

    best = over_time("best")
    near = {name: float((np.abs(gap) <= SIMILAR).mean()) for name, gap in best.items()}
    yield claim(
        "Section 7, Figure 8",
        "DPAdamWOSM's maximum runs alongside DPAdam's throughout training",
        f"within {POINT} at {100 * MOSTLY:g} % of the times",
        "DPAdamWOSM less DPAdam at the end, in points, and how often they are so near: "
        + listed(
            _bracketed(name, f"{points(float(gap[-1]))}, {100 * near[name]:.0f} %")
            for name, gap in best.items()
        ),
        _all(near, lambda share: share >= MOSTLY),
    )
    median = over_time("median")
    within = {name: float((gap >= -SIMILAR).mean()) for name, gap in median.items()}
    above = {name: float((gap > 0).mean()) for name, gap in median.items()}
    yield claim(
        "Section 7, Figure 8",
        "Its median does too, and lies above DPAdam's on MNIST, LR and TLNN",
        f"no more than {POINT} beneath at {100 * MOSTLY:g} % of the times, and on MNIST above "
        "DPAdam's at most of them",
        "DPAdamWOSM less DPAdam, medians over C, at the end in points; how often it is no more "
        "beneath, and how often above: "
        + listed(
            _bracketed(
                name,
                f"{points(float(gap[-1]))}, {100 * within[name]:.0f} %, {100 * above[name]:.0f} %",
            )
            for name, gap in median.items()
        ),
        [
            share >= MOSTLY and (not name.startswith("MNIST") or above[name] > 0.5)
            for name, share in within.items()
            if judged(name)
        ],
    )
    early = {name: first_tenth(gap.tolist()) for name, gap in best.items()}
    yield claim(
        "Section 8",
        "DPAdamWOSM has better accuracy especially at early steps",
        f"ahead by {MARGIN} on the mean of the first tenth of the steps",
        f"DPAdamWOSM less DPAdam, in points: {shown(early)}",
        _all(early, lambda gap: gap >= AHEAD),
    )
    ratio = {
        f"{row['dataset']}-{row['model']}": row["milliseconds"][WOSM]
        / row["milliseconds"][adaptive.ADAM]
        for row in found["milliseconds"]
    }
    yield claim(
        "Section 7",
        "DPAdamWOSM needs less computation a step than DPAdam",
        f"a step takes at most {CHEAPER:g} of its time",
        "time of a step over DPAdam's, 40 candidates at once: "
        + listed(f"{name} {value:.3f}" for name, value in ratio.items()),
        [value <= CHEAPER for value in ratio.values()],
    )
    beneath = {
        panel_name(row): row["best"][ADADP][-1]
        - min(row["best"][grid][-1] for grid in (WOSM, adaptive.ADAM))
        for row in rows
    }
    yield claim(
        "Section 7, Figure 8",
        "ADADP's maximum lies beneath both, except on Adult",
        f"by {MARGIN} beneath both after the last step; on Adult not",
        f"ADADP less the lower of the two, in points: {shown(beneath)}",
        [
            (gap <= -AHEAD) != name.startswith("Adult")
            for name, gap in beneath.items()
            if judged(name)
        ],
    )


def _bracketed(name: str, said: str) -> str:
    return f"{name} {said}" if judged(name) else f"({name} {said})"
