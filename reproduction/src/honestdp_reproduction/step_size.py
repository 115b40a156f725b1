"""Theorem 3: DPAdam's effective step size against training time, on real data.

The effective step size (ESS) of a parameter is alpha / (sqrt(v) + xi), v its second moment with
its bias corrected. The theorem: as gradients go to zero it converges to
ESS* = alpha / (sigma C / L + xi). Here the ratio ESS / ESS* over all parameters, every 100 steps,
for LR; and once with zero gradients, the theorem's premise to the letter.

v holds all of the lot's mean gradient, not the noise alone. By size, as shares of the noise's
variance and on average over the parameters, what is left at the end is
    mean      ||g||^2 / (d s^2), g the mean clipped gradient of all rows, s = sigma C / L
    sampling  mean ||g_i||^2 (1 - q) / (L d s^2): lots differ, even where g is zero
and without them, v being a mean of about 2 / (1 - beta2) squares, ESS / ESS* is 1 + 3/8 Var(v).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from honestdp.errors import InputError, fail
from honestdp.report.picture import Line, Panel, Picture
from honestdp.text import columns
from honestdp_reproduction.experiment import (
    LOT_SIZE,
    WHAT,
    Choice,
    Job,
    ReportProgress,
    Result,
    in_order,
    rounded,
    seed,
)
from honestdp_reproduction.grids import CLIP_NORMS
from honestdp_reproduction.store import Store
from honestdp_reproduction.trainings import milliseconds

if TYPE_CHECKING:  # pictures of saved results need no torch
    from torch import Tensor

    from honestdp.engine import Candidate, Examples, Model

COLLECTION = "step-size"
# The paper's T (NOTES section 1) and the sigmas; "zero" has gradients of zero.
ZERO = "zero"
STEPS = {"adult": 10_000, "mnist": 10_000, "enron": 5_000, "gisette-standin": 5_000, ZERO: 10_000}
SIGMAS: dict[str, tuple[float, ...]] = {"adult": (2.0, 4.0, 8.0)}
ZERO_SHAPE = (1_000, 202)  # rows, columns: no value of it matters
EVERY = 100
CLOSE = 0.05
TITLE = "Theorem 3: DPAdam's effective step size over the constant it is to converge to"


@dataclass(frozen=True)
class Watched:
    """LR on one dataset, every clip norm of the paper."""

    dataset: str
    sigma: float
    steps: int

    @property
    def name(self) -> str:
        return f"{self.dataset}-lr-sigma{self.sigma:.12g}-T{self.steps}"


def _wanted(choice: Choice) -> list[Watched]:
    choice.check(list(STEPS))
    if choice.repetitions not in (None, 1):
        raise fail("repetitions", choice.repetitions, "each is watched once; leave it out")
    return [
        Watched(dataset, sigma, steps)
        for dataset, steps in STEPS.items()
        if choice.datasets is None or dataset in choice.datasets
        for sigma in choice.sigmas or SIGMAS.get(dataset, (4.0,))
    ]


def _read(store: Store, which: Watched) -> dict[str, Any] | None:
    known = store.read(COLLECTION, which.name, "clips")
    if known is not None and known.get("watched") != asdict(which):
        place = store.path(COLLECTION, which.name)
        raise InputError(f"{place}: holds something else; use another folder")
    return known


def run(choice: Choice, store: Store, tell: ReportProgress) -> None:
    jobs: list[Job] = []
    for which in _wanted(choice):
        known = _read(store, which)
        work = which.steps * milliseconds("adult" if which.dataset == ZERO else which.dataset, "lr")
        jobs += [
            (which.name, work, partial(_add, which, number, store))
            for number in range(len(known["clips"]) if known else 0, len(CLIP_NORMS))
        ]
    in_order(jobs, tell)


def _add(which: Watched, number: int, store: Store, tell: Callable[[float], None]) -> None:
    """Watches one clip norm and saves it."""
    known = _read(store, which) or {
        "what": WHAT,
        "lot_size": LOT_SIZE,
        "seed": seed(which.name),
        "watched": asdict(which),
        "seconds": 0.0,
        "clips": [],
    }
    if len(known["clips"]) != number:
        return  # another process was faster
    began = time.perf_counter()
    known["clips"].append(_watch(which, number, tell))
    known["seconds"] = round(known["seconds"] + time.perf_counter() - began, 2)
    store.save(COLLECTION, which.name, known, "clips")


def _watch(which: Watched, number: int, tell: Callable[[float], None]) -> dict[str, Any]:
    """Trains one candidate in stretches, and reads its second moments in between."""
    from honestdp.engine import Candidate, Schedule, Trained, train
    from honestdp.randomness import Randomness

    model, rows = _load(which.dataset)
    candidate = Candidate(noise_multiplier=which.sigma, clip_norm=CLIP_NORMS[number])
    # One step more than is wanted: a finished candidate's moments are gone.
    schedule = Schedule(which.steps + 1, LOT_SIZE)
    randomness = Randomness.simulation(seed(which.name))
    trained: Trained | None = None
    names = ("steps", "mean", "low", "high", "close", "variance")
    found: dict[str, list[float]] = {name: [] for name in names}
    for until in range(EVERY, which.steps + 1, EVERY):
        done = until - EVERY
        tell(done / which.steps)

        def progress(steps: int, _: int) -> None:
            nonlocal done
            done = steps

        def reached(until: int = until) -> bool:
            return done >= until  # noqa: B023

        trained = train(
            model,
            rows,
            [candidate],
            schedule,
            randomness,
            numbers=[number],
            progress=progress,
            stop=reached,
            resume=trained,
            workers=1,
        )
        state = trained.states[0]
        found["steps"].append(state.step)
        for name, value in ratios(state.tensors["second"], candidate, state.step).items():
            found[name].append(rounded(value))
    assert trained is not None
    left = _left(model, rows, trained.parameters(0), candidate)
    return {
        "clip": candidate.clip_norm,
        "parameters": trained.parameters(0).numel(),
        **found,
        **{name: rounded(value) for name, value in left.items()},
    }


def _load(dataset: str) -> tuple[Model, Examples]:
    import numpy as np

    from honestdp.engine import Linear, examples
    from honestdp_reproduction import data

    if dataset != ZERO:
        loaded = data.load(dataset, "lr")
        return loaded.model, loaded.train
    rows, width = ZERO_SHAPE  # rows that are not finite are null, and count as zero
    return Linear(width, 2), examples(np.full((rows, width), np.nan), np.zeros(rows, dtype=int))


def ratios(second: Tensor, candidate: Candidate, step: int) -> dict[str, float]:
    """ESS / ESS* over the parameters, from their second moments after so many steps: the mean, the
    5 % and 95 % quantiles, the share within 5 % of 1; and the mean second moment over the noise's
    variance."""
    import torch

    noise = candidate.noise_multiplier * candidate.clip_norm / LOT_SIZE
    moments = second.double() / (1 - candidate.beta2**step)
    ratio = (noise + candidate.stability) / (moments.sqrt() + candidate.stability)
    low, high = torch.quantile(ratio, torch.tensor([0.05, 0.95], dtype=torch.float64)).tolist()
    return {
        "mean": float(ratio.mean()),
        "low": low,
        "high": high,
        "close": float(((ratio - 1).abs() <= CLOSE).double().mean()),
        "variance": float(moments.mean()) / noise**2,
    }


def _left(model: Model, rows: Examples, params: Tensor, candidate: Candidate) -> dict[str, float]:
    """What gradients add to the noise's variance at these parameters (see above)."""
    import torch

    from honestdp.engine import clipped_sum

    clip, n = candidate.clip_norm, len(rows)
    mean = clipped_sum(model, params, rows, None, clip).values.double() / n
    squares = 0.0
    for part in torch.arange(n).split(1000):
        outputs = model.outputs(params.unsqueeze(0), rows.dense(part))
        errors = model.loss.gradient(outputs, rows.targets[part])[0].double()
        norms = errors.norm(dim=1) * rows.squares[part].double().sqrt() * rows.present[part]
        squares += float(norms.clamp(max=clip).square().sum())
    noise = params.numel() * (candidate.noise_multiplier * clip / LOT_SIZE) ** 2
    sampled = squares / n * (1 - LOT_SIZE / n) / LOT_SIZE
    return {
        "left_mean": float(mean.square().sum()) / noise,
        "left_sampling": sampled / noise,
    }


def result(choice: Choice, store: Store) -> Result:
    runs = []
    for which in _wanted(choice):
        known = _read(store, which)
        if known is None or len(known["clips"]) < len(CLIP_NORMS):
            place = store.path(COLLECTION, which.name)
            raise InputError(f"{place}: not trained yet; run the experiment first")
        clips = [row | {"first_close": _first_close(row)} for row in known["clips"]]
        runs.append(known["watched"] | {"clips": clips})
    return {
        "what": WHAT,
        "lot_size": LOT_SIZE,
        "beta2": 0.999,
        "fluctuation": fluctuation(0.999, math.inf),
        "runs": runs,
    }


def _first_close(row: Mapping[str, Any]) -> int | None:
    """The first step at which the mean is within 5 % of the constant."""
    for step, mean in zip(row["steps"], row["mean"], strict=True):
        if abs(mean - 1) <= CLOSE:
            return int(step)
    return None


def fluctuation(beta2: float, step: float) -> float:
    """E[ESS / ESS*] - 1 on noise alone, to first order: 3/8 of the relative variance of v, which
    is a weighted mean of squared normals, 2 (1-b)/(1+b) (1+b^t)/(1-b^t)."""
    power = beta2**step
    return 3 / 8 * 2 * (1 - beta2) / (1 + beta2) * (1 + power) / (1 - power)


def text(result: Result) -> str:
    rows = [
        [
            run["dataset"],
            f"{run['sigma']:g}",
            f"{row['clip']:g}",
            row["parameters"],
            row["steps"][-1],
            f"{row['mean'][-1]:.3f}",
            f"{row['low'][-1]:.3f}",
            f"{row['high'][-1]:.3f}",
            f"{row['close'][-1]:.2f}",
            row["first_close"] or "never",
            f"{row['variance'][-1]:.3f}",
            f"{1 + row['left_mean'] + row['left_sampling']:.3f}",
            f"{row['left_mean']:.3f}",
            f"{row['left_sampling']:.3f}",
        ]
        for run in result["runs"]
        for row in run["clips"]
    ]
    heads = ["dataset", "sigma", "C", "parameters", "T", "ESS/ESS*", "5 %", "95 %", "close", "from"]
    return "\n".join(
        [
            TITLE,
            result["what"],
            f"LR, L = {result['lot_size']}. zero: gradients of zero. ESS/ESS*: mean and quantiles "
            "over the parameters after T steps; close: share of them within 5 % of 1; from: the "
            "first step at which the mean is.",
            "v/s^2: second moments over the noise's variance; expected: 1 + mean + sampling, what "
            "gradients add at the last parameters.",
            "",
            *columns([*heads, "v/s^2", "expected", "mean", "sampling"], rows, left=1),
            "",
            f"On noise alone the mean is {1 + result['fluctuation']:.5f}, as v fluctuates "
            f"(beta2 = {result['beta2']:g}).",
        ]
    )


def picture(result: Result) -> Picture:
    colors = ("blue", "green", "orange", "red")
    return Picture(
        TITLE,
        [_panel(run, colors) for run in result["runs"]],
        "Mean over the parameters; shaded for the least C, from the 5 % to the 95 % quantile; LR. "
        "zero: gradients of zero, the theorem's premise.",
        columns=min(4, len(result["runs"])),
        shared_legend=True,
        simulation=True,
    )


def _panel(run: Mapping[str, Any], colors: Sequence[str]) -> Panel:
    lines = [
        Line(
            f"C = {row['clip']:g}",
            row["steps"],
            row["mean"],
            color=color,
            # One is enough: they lie over each other.
            low=row["low"] if row is run["clips"][0] else None,
            high=row["high"] if row is run["clips"][0] else None,
        )
        for row, color in zip(run["clips"], colors, strict=True)
    ]
    ends = [run["clips"][0]["steps"][0], run["clips"][0]["steps"][-1]]
    lines.append(Line("Theorem 3", ends, [1.0, 1.0], "dash", color="black"))
    title = f"{run['dataset']}, sigma = {run['sigma']:g}"
    return Panel(title, "step", "ESS / ESS*", lines, y_range=(0.0, 1.2))
