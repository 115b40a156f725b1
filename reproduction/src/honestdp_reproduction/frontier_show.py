"""honest-frontier in words and as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from honestdp.report.picture import Line, Panel, Picture
from honestdp.text import columns
from honestdp_reproduction.experiment import DATASETS, LOT_SIZE, Result
from honestdp_reproduction.frontier_lines import FREE, LINES, STEPS, FrontierLine
from honestdp_reproduction.grids import FRONTIER_GRIDS

# Greens: nothing is tuned. Blues: the profile bound. The dishonest one is black, dashed.
COLOURS = {
    "untuned, balanced": "#1b7837",
    "untuned, the library's default plan": "#00c853",
    "untuned, DPAdamWOSM": "#a6a61d",
    "composition, DPAdam 4": "#e08214",
    "Liu-Talwar, DPSGD 40": "#c62828",
    "profile bound, DPSGD 40": "#64b5f6",
    "profile bound, DPSGD 40, hit 0.9": "#0d47a1",
    "subset tuning, DPSGD 40": "#ce93d8",
    "subset tuning, DPSGD 40, hit 0.9": "#6a1b9a",
    "profile bound, DPMomentum 280": "#00838f",
    "DPSGD 40, tuned for free": "#000000",
}
NOTES = (
    "Every honest line costs the epsilon of its column in all: noise multipliers and score noise "
    "are those of make_plan. Lots of 250, 2500 steps; the library's default plan has its own.",
    "After +-: the standard error of the mean, from repeated trainings. For a search it is that of "
    "the means played in each repetition alone; with one repetition there is none.",
    "A played search takes its trainings from a pool of few, so its outcomes are no independent "
    "trainings. All lines share the test rows, whose own error (0.3 to 0.4 points) cancels between "
    "lines.",
    "Liu-Talwar and profile bound: two theorems on the paper's random stopping, whose K is "
    "geometric with as many runs on average as there are settings: the best is tried half of the "
    "time. Subset tuning likewise. Hit 0.9: so many runs that it is nine times in ten.",
    "Balanced steps are sized by the schema's guess of the row norm, not by a declared one.",
    "Tuned for free is not honest: each setting has the whole epsilon, the test rows choose.",
)


def text(result: Result) -> str:
    parts = [f"honest-frontier: test accuracy in % against total epsilon\n{result['what']}"]
    for dataset in result["datasets"]:
        parts += _tables(dataset, result["epsilons"])
    notes = [*NOTES, f"Every search was played {result['searches']} times."]
    return "\n\n".join([*parts, "\n".join(f"- {note}" for note in notes)])


def _tables(dataset: Mapping[str, Any], epsilons: Sequence[float]) -> list[str]:
    points = _by_line(dataset)
    head = ["", *(f"{epsilon:g}" for epsilon in epsilons)]
    plain = dataset["non_private"]["accuracy"]

    def table(title: str, rows: list[list[str]]) -> str:
        return "\n".join([title, "", *columns(head, rows, left=1)])

    def row(line: FrontierLine, cell: Any) -> list[str]:
        known = points[line.name]
        return [line.name, *(cell(known[e]) if e in known else "" for e in epsilons)]

    found = [
        table(
            f"{DATASETS[dataset['dataset']]}: {dataset['rows']} rows to search on, "
            f"{dataset['test_rows']} test rows; without privacy {100 * plain:.2f}",
            [row(line, _accuracy) for line in LINES] + [_winners(points, epsilons)],
        ),
        table("Noise multiplier of every training", [row(line, _noise) for line in LINES]),
        table(
            "What tuning costs, in points against the best setting tuned for free: "
            "by noise + by not finding the best",
            [row(line, _cost_of(points)) for line in _searches(FREE.grid)],
        ),
    ]
    found.append(_corner(points))
    return [*found, "\n".join(_absent(points))]


def _absent(points: Mapping[str, Mapping[float, Mapping[str, Any]]]) -> list[str]:
    """Which points are not there, and why; one line for each line and reason."""
    found: dict[tuple[str, str], list[str]] = {}
    for line, known in points.items():
        for epsilon, point in known.items():
            if point["absent"]:
                found.setdefault((line, point["absent"]), []).append(f"{epsilon:g}")
    said = [f"{line}, epsilon {', '.join(at)}: {why}" for (line, why), at in found.items()]
    return said or ["No point is absent."]


def _by_line(dataset: Mapping[str, Any]) -> dict[str, dict[float, Mapping[str, Any]]]:
    found: dict[str, dict[float, Mapping[str, Any]]] = {line.name: {} for line in LINES}
    for point in dataset["points"]:
        found[point["line"]][point["epsilon"]] = point
    return found


def _searches(grid: str) -> list[FrontierLine]:
    return [line for line in LINES if line.grid == grid and not line.free]


def _accuracy(point: Mapping[str, Any]) -> str:
    if point["absent"]:
        return "-"
    known = point["error"]
    return f"{100 * point['mean']:.2f}" + ("" if known is None else f" +-{100 * known:.2f}")


def _noise(point: Mapping[str, Any]) -> str:
    return "" if point["not_planned"] else f"{point['noise_multiplier']:.4g}"


def _cost_of(points: Mapping[str, Mapping[float, Mapping[str, Any]]]) -> Any:
    def cost(point: Mapping[str, Any]) -> str:
        free = points[FREE.name][point["epsilon"]]
        if point["absent"] or free["absent"]:
            return ""
        best = point["best"]["accuracy"]
        noise, missed = free["best"]["accuracy"] - best, best - point["mean"]
        return f"{100 * noise:.2f} + {100 * missed:.2f}"

    return cost


def _corner(points: Mapping[str, Mapping[float, Mapping[str, Any]]]) -> str:
    """Why other lines may pass the free one: where its grid ends."""
    best = [p["best"]["setting"] for p in points[FREE.name].values() if not p["absent"]]
    last = len(FRONTIER_GRIDS[FREE.grid]) - 1
    return (
        f"The best free setting is the grid's last corner (learning rate 1, clip norm 1) at "
        f"{best.count(last)} of {len(best)} epsilons. Balanced steps, and those of subset tuning's "
        "last training (whose rates are scaled with its lots), may be longer: they can pass it."
    )


def _winners(
    points: Mapping[str, Mapping[float, Mapping[str, Any]]], epsilons: Sequence[float]
) -> list[str]:
    """The best honest line of each epsilon, by its number in the table."""
    found = ["best honest line (from the top)"]
    for epsilon in epsilons:
        known = {
            i + 1: points[line.name][epsilon]
            for i, line in enumerate(LINES)
            if not line.free and epsilon in line.at
        }
        whole = all(point["absent"] is None or point["not_planned"] for point in known.values())
        means = {i: point["mean"] for i, point in known.items() if point["absent"] is None}
        found.append(f"no. {max(means, key=means.__getitem__)}" if whole and means else "-")
    return found


def picture(result: Result) -> Picture:
    datasets, epsilons = result["datasets"], result["epsilons"]
    return Picture(
        "The honest frontier: what a total epsilon buys",
        [
            *(_panel(dataset, epsilons, "mean") for dataset in datasets),
            *(_panel(dataset, epsilons, "low") for dataset in datasets),
        ],
        "All but the dashed and the dotted line pay for all they do, tuning included, with the "
        "epsilon below them. Shaded: two standard errors of the mean, where trainings were "
        f"repeated. Logistic regression; lots of {LOT_SIZE}, {STEPS} steps, but for the library's "
        f"default plan. Below: of {result['searches']:,} played searches, or of all trainings "
        "where nothing is tuned.",
        columns=len(datasets),
        shared_legend=True,
        simulation=True,
    )


def _panel(dataset: Mapping[str, Any], epsilons: Sequence[float], what: str) -> Panel:
    plain = dataset["non_private"]["accuracy"]
    ends = [epsilons[0], epsilons[-1]]
    lines = [Line("without privacy", ends, [plain, plain], "dot", color="#555555")]
    drawn = [line for line in LINES if not line.free]
    if what == "mean":  # the best of so few trainings has no twentieth
        drawn = [FREE, *drawn]
    for line in drawn:
        known = [p for p in _by_line(dataset)[line.name].values() if not p["absent"]]
        if known:
            lines.append(_line(line, known, what))
    said = "on average" if what == "mean" else "one run in 20 ends below"
    return Panel(
        f"{DATASETS[dataset['dataset']]}: {said}",
        "total epsilon",
        "test accuracy",
        lines,
        x_scale="log",
    )


Style = Literal["solid", "dash", "points"]


def _line(line: FrontierLine, known: Sequence[Mapping[str, Any]], what: str) -> Line:
    style: Style = "dash" if line.free else "points" if len(known) == 1 else "solid"
    values = [point[what] for point in known]
    errors = [2 * (point["error"] or 0.0) if what == "mean" else 0.0 for point in known]
    return Line(
        line.name,
        [point["epsilon"] for point in known],
        values,
        style,
        markers=not line.free,
        color=COLOURS[line.name],
        low=[value - error for value, error in zip(values, errors, strict=True)],
        high=[value + error for value, error in zip(values, errors, strict=True)],
    )
