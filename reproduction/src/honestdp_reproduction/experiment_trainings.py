"""The trainings that an experiment needs, by default or as chosen, and their results by panel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from honestdp.errors import InputError
from honestdp.report.picture import Line, Panel
from honestdp_reproduction.experiment import DATASETS, MODELS, Choice, Result
from honestdp_reproduction.trainings import Curves, Results, Training

FOUR = ("adult", "enron", "gisette-standin", "mnist")
STEPS = dict.fromkeys(("enron", "enron-counts", "enron-unit", "gisette-standin"), 5000)
MOST_STEPS = 10_000  # of the others


def curve(dataset: str, model: str, grid: str, sigma: float, repetition: int) -> Training:
    """As long as the paper trains, scored every 100 steps."""
    return Training(dataset, model, grid, sigma, STEPS.get(dataset, MOST_STEPS), repetition)


@dataclass(frozen=True)
class Block:
    """All combinations of these; repetitions by grid."""

    datasets: tuple[str, ...]
    models: tuple[str, ...]
    sigmas: tuple[float, ...]
    repetitions: Mapping[str, int]


Make = Callable[[str, str, str, float, int], Training]


def selected_trainings(
    choice: Choice, blocks: Sequence[Block], make: Make = curve
) -> list[Training]:
    """The trainings of all blocks, or of the combinations that the user chose."""
    choice.check([name for name in DATASETS if name not in ("synthetic", "zero")], MODELS)
    if choice.given:
        grids = dict.fromkeys(grid for block in blocks for grid in block.repetitions)
        blocks = [
            Block(
                choice.datasets or FOUR,
                choice.models or ("lr",),
                choice.sigmas or (4.0,),
                dict.fromkeys(grids, choice.repetitions or 1),
            )
        ]
    made = [
        make(dataset, model, grid, sigma, repetition)
        for block in blocks
        for dataset in block.datasets
        for model in block.models
        for sigma in block.sigmas
        for grid, repetitions in block.repetitions.items()
        for repetition in range(1, repetitions + 1)
    ]
    return list(dict.fromkeys(made))


Key = tuple[str, str, float]  # dataset, model, sigma: a panel of a picture


@dataclass(frozen=True)
class Panels:
    """Finished trainings by panel and grid."""

    found: dict[Key, dict[str, list[Curves]]]
    missing: list[str]

    @classmethod
    def of(cls, trainings: Iterable[Training], results: Results) -> Panels:
        found: dict[Key, dict[str, list[Curves]]] = {}
        missing = []
        for training in trainings:
            curves = results.find(training)
            if curves is None:
                missing.append(training.name)
                continue
            panel = found.setdefault((training.dataset, training.model, training.sigma), {})
            panel.setdefault(training.grid, []).append(curves)
        if not found:
            raise InputError(f"{results.place}: nothing of it is there; run the experiment first")
        return cls(found, missing)

    @property
    def core_seconds(self) -> dict[str, float]:
        """What the trainings took, scoring included, by dataset and model."""
        took: dict[str, float] = {}
        for (dataset, model, _), grids in self.found.items():
            each = sum(curves.core_seconds for kept in grids.values() for curves in kept)
            took[f"{dataset}-{model}"] = round(took.get(f"{dataset}-{model}", 0) + each, 1)
        return took

    @property
    def candidate_steps(self) -> dict[str, int]:
        """How much was trained, by dataset and model."""
        done: dict[str, int] = {}
        for (dataset, model, _), grids in self.found.items():
            each = sum(
                len(curves.correct) * curves.training.steps
                for kept in grids.values()
                for curves in kept
            )
            done[f"{dataset}-{model}"] = done.get(f"{dataset}-{model}", 0) + each
        return done


def to_list(values: NDArray[np.float64]) -> list[float]:
    """Accuracies, as results hold them."""
    return [round(float(value), 5) for value in values]


def shown(values: Sequence[float] | None, early: bool = False) -> str:
    """An accuracy after the last step, or the mean of the first tenth; - where there is none."""
    if values is None:
        return "-"
    return f"{first_tenth(values) if early else values[-1]:.4f}"


def first_tenth(values: Sequence[float]) -> float:
    """The mean of the first tenth of the times: how a training begins."""
    return float(np.mean(values[: max(1, len(values) // 10)]))


def accuracy_panel(row: Result, lines: Sequence[Line]) -> Panel:
    """As the paper draws them: 15 points of accuracy, whatever the dataset."""
    top = max(max(line.y) for line in lines)
    return Panel(
        title((row["dataset"], row["model"], row["sigma"])),
        "steps",
        "accuracy",
        lines,
        y_range=(top - 0.14, top + 0.01),
    )


def title(key: Key) -> str:
    dataset, model, sigma = key
    return f"{DATASETS[dataset]} {model.upper()}, sigma {sigma:g}"
