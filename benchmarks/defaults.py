"""Where the default lot size, steps and kappa come from: accuracy over grids of all three.

    python benchmarks/defaults.py                                  everything, about 15 minutes
    python benchmarks/defaults.py --parts linear --data Adult --epsilon 1

Research, not private: the step size of `balanced` is given the data's own row norm, accuracy is
that on test rows, and all of it is SIMULATED. Nothing a search does reads it; what it
taught stands as rules of public facts in honestdp/planning/defaults.py. Parts:
  linear      logistic regression: lot sizes x steps x kappa
  two-layer   the same for 100 hidden units
  clip        logistic regression at the rules' lot size and steps: clip norm over row norm x kappa
  kappa       the same at the usual clip norm of 1, with enough draws to tell one kappa from another
Noise is calibrated by RDP to (epsilon, 1e-6), 1e-5 for fewer than 10,000 rows. Every figure is the
mean of two or three draws, of twenty in the last part. Saved after every line; a run that was
interrupted goes on.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from saved import Row, Saved

from datasets import LOADERS, split
from honestdp.engine import (
    Candidate,
    Examples,
    Linear,
    Randomness,
    Schedule,
    TwoLayer,
    correct,
    examples,
    train,
)
from honestdp.planning import defaults
from honestdp.privacy import guarantee
from honestdp.privacy.calibrate import noise_multiplier
from honestdp.privacy.events import training
from honestdp.text import SIMULATION

EPSILONS = (0.3, 1.0, 3.0)
STEPS = (100, 300, 1000, 3000)
SPLIT_SEED, SEED = 5, 1
MOST_CLIP_STEPS = 1000  # on MNIST, where the rules want up to 4200: for the time it takes
RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Part:
    """most: lots times steps, by data set, beyond which a point would take too long."""

    model: type[Linear] | type[TwoLayer]
    kappas: tuple[float, ...]
    draws: int
    most: dict[str, float]
    lots: tuple[int, ...] = ()  # none: lot size and steps by the rules
    clips: tuple[float, ...] = ()  # times the row norm; none: the usual clip norm of 1


PARTS = {
    "linear": Part(
        Linear,
        kappas=(1, 2, 4),
        draws=3,
        most={"Adult": 4.1e6, "ENRON": 4.1e6, "Gisette stand-in": 1.1e6, "MNIST": 1.1e6},
        lots=(64, 256, 1024, 4096),
    ),
    "two-layer": Part(
        TwoLayer,
        kappas=(0.5, 1, 2),
        draws=2,
        most={"Adult": 8e5, "MNIST": 8e5},
        lots=(256, 1024),
    ),
    "clip": Part(
        Linear,
        kappas=(1, 2, 3, 4, 6),
        draws=3,
        most=dict.fromkeys(LOADERS, float("inf")),
        clips=(0.03, 0.1, 0.3, 1.0),
    ),
    "kappa": Part(
        Linear,
        kappas=(2, 3, 4, 6),
        draws=20,
        most={"Adult": 4.1e6, "ENRON": 4.1e6, "Gisette stand-in": 1.1e6, "MNIST": 2e5},
    ),
}


class Loaded:
    """A data set, split. Its own row norm is read from its rows: research."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.data = LOADERS[name]()
        self._train, self._test = split(len(self.data.targets), SPLIT_SEED)

    @property
    def n(self) -> int:
        return len(self._train)

    @cached_property
    def train(self) -> Examples:
        return self._rows(self._train)

    @cached_property
    def test(self) -> Examples:
        return self._rows(self._test)

    @cached_property
    def row_norm(self) -> float:
        return float(torch.sqrt((self.train.squares - 1).mean()))  # without the bias's 1

    def _rows(self, numbers: Any) -> Examples:
        return examples(self.data.inputs[numbers], self.data.targets[numbers])


def points(part: Part, loaded: Loaded, epsilon: float) -> Iterator[tuple[int, int]]:
    """Lot sizes and steps to measure."""
    wanted = [(lot, steps) for lot in part.lots for steps in STEPS]
    for lot, steps in wanted or [by_the_rules(loaded, epsilon)]:
        if lot <= loaded.n / 2 and lot * steps <= part.most[loaded.name]:
            yield lot, steps


def by_the_rules(loaded: Loaded, epsilon: float) -> tuple[int, int]:
    # All that the rules read of a Spec.
    spec: Any = SimpleNamespace(
        epsilon=epsilon, model="logistic", grid="balanced", steps=None, lot_size=None
    )
    steps = defaults.steps(spec, loaded.n)
    lot = defaults.lot_size(spec, loaded.n, steps)
    return lot, min(steps, MOST_CLIP_STEPS) if loaded.name == "MNIST" else steps


def accuracies(part: Part, loaded: Loaded, lot: int, steps: int, noise: float) -> list[list[float]]:
    """[clip norm, kappa], means over the draws."""
    clips = [clip * loaded.row_norm for clip in part.clips] or [1.0]
    candidates = [
        Candidate(
            rule="balanced",
            noise_multiplier=noise,
            row_norm=loaded.row_norm,
            kappa=kappa,
            clip_norm=clip,
            average=True,
        )
        for clip in clips
        for kappa in part.kappas
        for _ in range(part.draws)
    ]
    model = part.model(loaded.data.inputs.shape[1], loaded.data.classes)
    schedule = Schedule(steps, lot)
    found = train(model, loaded.train, candidates, schedule, Randomness.simulation(SEED))
    share = correct(model, found.stacked, loaded.test).double() / len(loaded.test)
    each = share.view(len(clips), len(part.kappas), part.draws)
    return each.mean(2).tolist(), (each.std(2) / part.draws**0.5).tolist()


def measured(name: str, loaded: Loaded, epsilon: float, saved: Saved) -> None:
    part = PARTS[name]
    delta = 1e-6 if loaded.n > 10_000 else 1e-5
    for lot, steps in points(part, loaded, epsilon):
        key = {"part": name, "data": loaded.name, "epsilon": epsilon, "lot": lot, "steps": steps}
        if saved.find(**key):
            continue
        began = time.perf_counter()
        noise = noise_multiplier(
            lambda sigma, q=lot / loaded.n, steps=steps: guarantee.epsilon(
                training(q, sigma, steps), delta, "rdp"
            ),
            epsilon,
        )
        means, errors = accuracies(part, loaded, lot, steps, noise)
        row = key | {
            "delta": delta,
            "rows": loaded.n,
            "row_norm": loaded.row_norm,
            "noise_multiplier": noise,
            "kappas": part.kappas,
            "clips": part.clips,
            "draws": part.draws,
            "accuracies": means,
            "standard_errors": errors,
            "seconds": time.perf_counter() - began,
        }
        saved.rows.append(row)
        saved.write()
        show([row])


def show(rows: Sequence[Row]) -> None:
    for row in rows:
        head = f"{row['part']}, {row['data']}, epsilon {row['epsilon']:g}: lot {row['lot']}"
        print(f"{head}, {row['steps']} steps, noise {row['noise_multiplier']:.3g}")
        for clip, line in zip(row["clips"] or [None], row["accuracies"], strict=True):
            start = "" if clip is None else f"clip norm {clip:g} x row norm: "
            pairs = zip(row["kappas"], line, strict=True)
            print(f"    {start}" + ", ".join(f"kappa {k:g} {a:.4f}" for k, a in pairs), flush=True)


def options() -> argparse.Namespace:
    def words(text: str) -> list[str]:
        return text.split(",")

    def floats(text: str) -> list[float]:
        return [float(part) for part in words(text)]

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--parts", type=words, default=list(PARTS), metavar="A,B", help=", ".join(PARTS))
    add("--data", type=words, default=list(LOADERS), metavar="A,B", help=", ".join(LOADERS))
    add("--epsilon", type=floats, default=list(EPSILONS), metavar="A,B")
    add("--fresh", action="store_true", help="forget what is saved")
    add("--results", type=Path, default=RESULTS, help="where results go")
    chosen = parser.parse_args()
    for name, known in (("parts", PARTS), ("data", LOADERS)):
        for value in getattr(chosen, name):
            if value not in known:
                parser.error(f"--{name} {value}: must be among {', '.join(known)}")
    return chosen


def main() -> None:
    chosen = options()
    facts = {
        "what": f"{SIMULATION}: benchmarks/defaults.py, with the data's own row norms",
        "split_seed": SPLIT_SEED,
        "seed": SEED,
    }
    saved = Saved(chosen.results / "defaults.json", chosen.fresh, facts)
    if saved.rows:
        print(f"{len(saved.rows)} lines are saved and not measured again", file=sys.stderr)
    for name in chosen.data:
        loaded = Loaded(name)
        for part in chosen.parts:
            for epsilon in chosen.epsilon if name in PARTS[part].most else ():
                measured(part, loaded, epsilon, saved)
    print(f"written: {saved.path}")


if __name__ == "__main__":
    main()
