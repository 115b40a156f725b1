"""`honestdp paper NAME` for the experiments that train: what is saved is not trained again."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from honestdp.cli.console import Console, Stopped
from honestdp.cli.options import Json, Quiet, number, whole
from honestdp.errors import fail

if TYPE_CHECKING:
    from honestdp_reproduction.store import Store

_LR, _NETS = "lr", "lr,tlnn,tlnn-linear"
_ALL = "adult,adult-104,enron,enron-counts,enron-unit,gisette-standin,mnist"


@dataclass(frozen=True)
class Experiment:
    """What it shows, and what can be chosen: words for --help, checked by its module."""

    about: str
    datasets: str = _ALL
    models: str = _NETS


# By name, which is also that of its module.
EXPERIMENTS = {
    "heatmap-synthetic": Experiment(
        "Figures 2 and 3: loss over learning rate and clip norm, made-up data.", "synthetic", _LR
    ),
    "heatmap-enron": Experiment(
        "Figures 4 and 5: loss over learning rate and clip norm, ENRON.", "enron", _LR
    ),
    "defaults": Experiment("Figure 6: 180 settings of DPAdam."),
    "advantage": Experiment("Figure 7: DPSGD, DPMomentum and DPAdam over their grids."),
    "pruning": Experiment("Appendix: how often each setting of DPSGD is best."),
    "adaptive": Experiment("Figure 8: DPAdam, ADADP and DPAdamWOSM."),
    "threshold": Experiment(
        "Ours: where accuracy is lost, in the ranking or in the bias.",
        "adult,adult-104,enron,enron-counts,enron-unit,gisette-standin",
    ),
    "step-size": Experiment(
        "Theorem 3: DPAdam's effective step size over time.",
        "adult,mnist,enron,gisette-standin,zero",
        _LR,
    ),
    "honest-frontier": Experiment(
        "Ours: accuracy against total epsilon, every procedure.", "adult,mnist", _LR
    ),
    "balanced": Experiment(
        "Ours: a step size from public facts, and where it fails.",
        "adult-104,mnist,enron,enron-counts,enron-unit,gisette-standin",
        _LR,
    ),
}
SAY_EVERY = 30.0  # seconds, where no bar can be shown

Sigmas = Annotated[str | None, typer.Option(help="Noise multipliers, with commas: 2,4,8.")]
Repetitions = Annotated[
    int | None, typer.Option(parser=whole, metavar="INTEGER", help="Trainings of each.")
]
Folder = Annotated[
    Path | None,
    typer.Option(
        help="Where results are kept, and looked for; by default ./results, and beneath it those "
        "that come with this package."
    ),
]
Show = Annotated[bool, typer.Option("--show", help="Train nothing: show what is there.")]
Plot = Annotated[Path | None, typer.Option(help="Draw it: FILE.html or FILE.png.")]


def add_to(app: typer.Typer) -> None:
    """Add these commands to `honestdp paper`."""
    for name, one in EXPERIMENTS.items():
        said = f"{one.about}\n\nExample: honestdp paper {name} --show"
        app.command(name, help=said)(_command(name, one))
    app.command("verdict")(_verdict)


def _command(name: str, one: Experiment) -> Callable[..., None]:
    def command(
        datasets: str | None = None,
        models: str | None = None,
        sigmas: Sigmas = None,
        repetitions: Repetitions = None,
        results: Folder = None,
        show: Show = False,
        plot: Plot = None,
        json_: Json = False,
        quiet: Quiet = False,
    ) -> None:
        if plot is not None:
            from honestdp.report.picture import check_target

            check_target(plot)
        from honestdp_reproduction.experiment import Choice

        chosen = tuple(number(sigma) for sigma in _listed(sigmas) or ()) or None
        choice = Choice(_listed(datasets), _listed(models), chosen, repetitions)
        experiment = import_module(f"honestdp_reproduction.{name.replace('-', '_')}")
        console, store = Console(json_, quiet), _store(results)
        if not show:
            _train(experiment, choice, store, console)
        found = experiment.result(choice, store)
        console.answer("" if console.json else experiment.text(found), found)
        if found.get("not_run"):
            console.note(f"not there yet: {len(found['not_run'])} parts; leave --show out")
        if plot is not None:
            from honestdp.report.picture import save

            save(experiment.picture(found), plot)
            console.note(f"drawn: {plot}")

    for option, words in (("datasets", one.datasets), ("models", one.models)):
        about = typer.Option(help=f"Which, with commas: {words}.")
        command.__annotations__[option] = Annotated[str | None, about]
    return command


def _verdict(results: Folder = None, json_: Json = False, quiet: Quiet = False) -> None:
    """The paper's claims, one by one, beside what was measured.

    Example: honestdp paper verdict
    """
    from dataclasses import asdict

    from honestdp_reproduction import verdict
    from honestdp_reproduction.experiment import WHAT

    console = Console(json_, quiet)
    with console.busy("reading results"):
        found = verdict.claims(_store(results))
    facts = {"what": WHAT, "claims": [*map(asdict, found)]}
    console.answer("" if console.json else verdict.text(found), facts)


def _listed(words: str | None) -> tuple[str, ...] | None:
    if words is None:
        return None
    found = tuple(word.strip() for word in words.split(","))
    if not all(found):
        raise typer.BadParameter(f"{words!r} has an empty word; write words like a,b")
    return found


def _store(results: Path | None) -> Store:
    """A folder that was named stands for itself: an empty one is a reproduction from nothing."""
    from honestdp_reproduction.store import SHIPPED, Store

    return Store(Path("results"), base=Store(SHIPPED)) if results is None else Store(results)


def _train(experiment: Any, choice: Any, store: Store, console: Console) -> None:
    from honestdp.progress import Bar

    _writable(store.folder)
    bar = Bar(simulated=True)
    teller = _Teller(console)
    try:
        with store.running(), bar:

            def tell(stage: str, share: float) -> None:
                if not console.silent:
                    bar((stage, share))
                    if not bar.shown:
                        teller(stage, share)

            experiment.run(choice, store, tell)
    except KeyboardInterrupt:
        raise Stopped(
            f"interrupted; what is finished is in {store.folder}, "
            "and the same command goes on with it"
        ) from None


def _writable(folder: Path) -> None:
    """Now, not after the first hour."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        usable = os.access(folder, os.W_OK)
    except OSError:
        usable = False
    if not usable:
        raise fail("results", str(folder), "is no folder to write to; name another")


class _Teller:
    """A line now and then, for a log: what is going on, and the time left by the share done."""

    def __init__(self, console: Console, clock: Callable[[], float] = time.monotonic) -> None:
        self._voice, self._clock = console, clock
        self._start = clock()
        self._last = self._start - SAY_EVERY

    def __call__(self, stage: str, share: float) -> None:
        now = self._clock()
        if now - self._last < SAY_EVERY:
            return
        self._last = now
        # What was compiled and loaded at first says nothing of the rest.
        left = (now - self._start) * (1 - share) / share if share > 0.01 else None
        words = f"; about {left / 60:.0f} min left" if left is not None else ""
        self._voice.note(f"{stage}: {100 * share:.0f} % of what was missing{words}")
