"""Claims about learning rate and clip norm, and Theorems 2 and 3."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import Any

from honestdp.paper.verdict import Claim, Measured, Verdict, listed, panel_name, verdict

SLOPE = 0.25  # about -1
FACTOR = 3.0


def claims(measured: Measured) -> Iterator[Claim]:
    synthetic, enron = measured.of("heatmap-synthetic"), measured.of("heatmap-enron")
    made_up = {f"synthetic, T {one['steps']}": one for one in synthetic["maps"]}
    mails = {f"ENRON, T {one['steps']}": one for one in enron["maps"]}
    yield _inverse(made_up | mails)
    yield _formula(made_up, synthetic["grid"][0])
    yield _diagonal(made_up)
    yield _without(made_up)
    yield _width(made_up)
    yield _similar(mails)
    yield _step_size(measured.of("step-size"))


Maps = dict[str, dict[str, Any]]


def _clipped(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Where clipping is at work: stretches of C along which DPSGD's best rate moves evenly."""
    return [branch for branch in found["best"]["dpsgd"]["branches"] if branch["clipped"]]


def _inverse(maps: Maps) -> Claim:
    slopes = {name: [branch["slope"] for branch in _clipped(found)] for name, found in maps.items()}
    return Claim(
        "Section 5, Theorem 2",
        "DPSGD's best learning rate is inversely proportional to the clip norm",
        f"slope of log rate over log C within {SLOPE} of -1 where a tenth of the rows is clipped",
        "slopes: "
        + listed(
            f"{name} {' and '.join(f'{slope:.2f}' for slope in found)}"
            for name, found in slopes.items()
        ),
        verdict(abs(slope + 1) <= SLOPE for found in slopes.values() for slope in found),
        "honestdp paper heatmap-synthetic",
        "heatmap-synthetic",
    )


def _formula(maps: Maps, clip: float) -> Claim:
    parts, passed = [], []
    for name, found in maps.items():
        corrected, printed = (found[kind][0] * clip for kind in ("corrected", "printed"))
        ratios = [
            (branch["product"] / printed, branch["product"] / corrected)
            for branch in _clipped(found)
        ]
        passed += [1 / FACTOR <= ratio <= FACTOR for ratio, _ in ratios]
        parts.append(f"{name} {' and '.join(f'{a:.2g} / {b:.2g}' for a, b in ratios)}")
    return Claim(
        "Section 5, Theorem 2",
        "The best learning rate is R / (C T sqrt(1 + σ²))",
        f"within a factor of {FACTOR:g} of it where gradients are clipped, and R is known",
        "measured over the printed formula / over the corrected R / (C sqrt(T (1 + d σ²/L²))): "
        + listed(parts),
        verdict(passed),
        "honestdp paper heatmap-synthetic",
        "heatmap-synthetic",
    )


def _diagonal(maps: Maps) -> Claim:
    near = {
        name: [(one["dpsgd"]["line"]["cells"], one["dpsgd"]["cells"]) for one in found["claims"]]
        for name, found in maps.items()
    }
    return Claim(
        "Section 5, Figure 2",
        "The best pairs of learning rate and clip norm all lie on one diagonal",
        "all of DPSGD's white cells within a factor of 2 of one line rate x C",
        "white cells near one line: "
        + listed(
            f"{name} {' and '.join(f'{on} of {all_}' for on, all_ in found)}"
            for name, found in near.items()
        ),
        verdict(on == all_ for found in near.values() for on, all_ in found),
        "honestdp paper heatmap-synthetic",
        "heatmap-synthetic",
    )


def _without(maps: Maps) -> Claim:
    usual = (0.1, 0.2)
    found = {
        name: [one["dpsgd"]["clips_without"] for one in one_map["claims"]]
        for name, one_map in maps.items()
    }
    return Claim(
        "Section 5, Figure 2",
        "No clip norm can be fixed beforehand: usual ones such as 0.1 or 0.2 have no best cell",
        "no white cell at C = 0.1 or at C = 0.2, in any repetition",
        "clip norms of 30 without a white cell: "
        + listed(
            f"{name} {' and '.join(str(len(clips)) for clips in each)}"
            f" (0.1 or 0.2 among them: {sum(any(c in clips for c in usual) for clips in each)} of "
            f"{len(each)})"
            for name, each in found.items()
        ),
        verdict(any(c in clips for c in usual) for each in found.values() for clips in each),
        "honestdp paper heatmap-synthetic",
        "heatmap-synthetic",
    )


def _wide(maps: Maps) -> tuple[str, list[bool]]:
    """At its best learning rate, over how many clip norms each optimizer is as good as that."""
    parts, passed = [], []
    for name, found in maps.items():
        clips = {
            rule: [one[rule]["clips_at_best_rate"] for one in found["claims"]]
            for rule in ("dpsgd", "dpadam")
        }
        decades = {
            rule: median(one[rule]["clip_decades_at_best_rate"] for one in found["claims"])
            for rule in clips
        }
        passed += [b >= 2 * a for a, b in zip(clips["dpsgd"], clips["dpadam"], strict=True)]
        parts.append(
            f"{name} DPSGD {_span(clips['dpsgd'])} ({decades['dpsgd']:.1f} decades), DPAdam "
            f"{_span(clips['dpadam'])} ({decades['dpadam']:.1f})"
        )
    return "white clip norms at the best rate: " + listed(parts), passed


def _span(counts: list[int]) -> str:
    low, high = min(counts), max(counts)
    return str(low) if low == high else f"{low} to {high}"


def _width(maps: Maps) -> Claim:
    said, passed = _wide(maps)
    return Claim(
        "Section 5, Figure 3",
        "At a good learning rate DPAdam is robust to the clip norm, over a wide range of it",
        "at least twice as many white clip norms at its best rate as DPSGD has at its own",
        said,
        verdict(passed),
        "honestdp paper heatmap-synthetic",
        "heatmap-synthetic",
    )


def _similar(maps: Maps) -> Claim:
    said, passed = _wide(maps)
    near = [
        one["dpsgd"]["line"]["cells"] == one["dpsgd"]["cells"]
        for found in maps.values()
        for one in found["claims"]
    ]
    return Claim(
        "Section 5, Figures 4 and 5",
        "ENRON shows the same: one diagonal for DPSGD, a wide range of clip norms for DPAdam",
        "the last three rules but the middle one, on ENRON",
        f"white cells near one line: {sum(near)} of {len(near)} maps; {said}",
        verdict([*near, *passed]),
        "honestdp paper heatmap-enron",
        "heatmap-enron",
    )


def _step_size(found: dict[str, Any]) -> Claim:
    runs = [run for run in found["runs"] if run["dataset"] != "zero"]
    ends = {
        panel_name(run | {"model": "lr"}): (
            min(one["mean"][-1] for one in run["clips"]),
            max(one["mean"][-1] for one in run["clips"]),
            max(one["first_close"] or run["steps"] for one in run["clips"]),
        )
        for run in runs
    }
    good: Verdict = verdict(
        abs(value - 1) <= 0.05 for low, high, _ in ends.values() for value in (low, high)
    )
    return Claim(
        "Section 7, Theorem 3",
        "DPAdam's effective step size converges to α / (σC/L + ξ)",
        "mean over the parameters within 5 % of it after the last step, for every C",
        "over the constant (by C), and the step from which it stays within 5 %: "
        + listed(
            f"{name} {low:.3f} to {high:.3f} from {first:,}"
            for name, (low, high, first) in ends.items()
        ),
        good,
        "honestdp paper step-size",
        "step-size",
    )
