"""Training 40 candidates beside Opacus, plain torch and the floor: ms per candidate-step.

    python benchmarks/engine.py                                    everything, under 20 minutes
    python benchmarks/engine.py --workloads adult-lr --quick       a smoke test
    python benchmarks/engine.py --workloads conv,scaling --update  measures parts of it again
    python benchmarks/engine.py --against ../before --systems honestdp   two checkouts side by side

DPAdam at an expected lot of 250, noise multiplier 4, clip norm 1, on all cores. A candidate-step
is one lot of one candidate. Systems:
  honestdp            engine.train on all candidates at once, from the first step on (set-up apart)
  honestdp-csr        the same on CSR rows, where `honestdp` reads dense ones (MNIST)
  honestdp:<rule>     the same with another rule (mnist-tlnn only)
  opacus-<mode>       Opacus' three modes with its own Poisson loader, one candidate (peers.py)
  plain-torch         the same loop without privacy (peers.py)
  floor               what no step can avoid (floor.py)
  before              the honestdp of another checkout (--against), in processes of its own
The peers run with torch's default threads and with one thread, and the faster counts. A user who
trains 40 candidates with a one-thread Opacus could run one process a core. That is not
measured, but bounded: "if every core ran its own" divides Opacus' one-thread time by the
cores, as if the processes did not slow each other down.
Every number is the median of three repetitions, in which the systems take turns, so that a slow
spell of the machine hits all of them. Results go to benchmarks/results/engine.json and .png
after a full run, or with --update.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import opacus
import torch
from engine_report import draw, ratios, show
from floor import Floor
from peers import OPACUS_MODES, opacus_steps, plain_steps
from workloads import WORKLOADS, Workload

from honestdp.engine import Candidate, Examples, Model, Randomness, Schedule, size, train
from honestdp_reproduction.machine import LOAD, machine

LOT_SIZE, NOISE, CLIP, CANDIDATES = 250, 4.0, 1.0, 40
MANY = 1000  # candidates, to see how time and memory grow
WARM_UP = 3  # steps of a peer before the clock starts, in every repetition
SYSTEMS = (
    "honestdp",
    "honestdp-csr",
    *(f"opacus-{mode}" for mode in OPACUS_MODES),
    "plain-torch",
    "floor",
    "rules",
)
RULES = ("dpsgd", "dpmomentum", "dpadam", "dpadamwosm", "adadp", "dpadambc", "balanced")
RESULTS = Path(__file__).parent / "results"

Row = dict[str, Any]


@dataclass(frozen=True)
class Effort:
    """How long to measure: a repetition ends after `seconds`, a peer's also after `steps`."""

    repetitions: int = 3
    seconds: float = 2.5
    steps: int = 300


QUICK = Effort(repetitions=1, seconds=0.3, steps=20)


@dataclass(eq=False)
class Entry:
    """One system in one of its variants. `measure` runs one repetition: ms per candidate-step."""

    system: str
    variant: str
    measure: Callable[[Effort], float]
    times: list[float] = field(default_factory=list)


class Ours:
    """honestdp on the same candidates again and again."""

    def __init__(self, model: Model, rows: Examples, candidates: Sequence[Candidate]) -> None:
        self.model, self.rows, self.candidates = model, rows, candidates
        self._seed = 0
        self._run(2)  # compiles
        self._guess = self._run(2)

    def measure(self, effort: Effort) -> float:
        steps = effort.seconds * 1000 / (self._guess * len(self.candidates))
        self._guess = self._run(2 * max(1, round(steps / 2)))  # even: ADADP's steps read two lots
        return self._guess

    def _run(self, steps: int) -> float:
        """From the first step's beginning, when `stop` is first asked, to the last one's end."""
        began: list[float] = []
        ended: list[float] = []
        self._seed += 1

        def stop() -> bool:
            began.append(time.perf_counter())
            return False

        train(
            self.model,
            self.rows,
            self.candidates,
            Schedule(steps=steps, lot_size=LOT_SIZE),
            Randomness.simulation(self._seed),
            progress=lambda done, total: ended.append(time.perf_counter()),
            stop=stop,
        )
        return (ended[-1] - began[0]) * 1000 / (steps * len(self.candidates))


def candidates(workload: Workload, rule: str = "dpadam", count: int = CANDIDATES) -> Any:
    more: dict[str, float] = {}
    if rule == "balanced":
        more["row_norm"] = math.sqrt(workload.shape.nonzeros / 3)  # of uniform values
    elif rule in ("dpsgd", "dpmomentum"):
        more["learning_rate"] = 0.1
    return [Candidate(noise_multiplier=NOISE, clip_norm=CLIP, rule=rule, **more)] * count


def ours(workload: Workload, sparse: bool, rule: str = "dpadam") -> Callable[[Effort], float]:
    rows = workload.sparse_examples if sparse else workload.dense_examples
    return Ours(workload.model(), rows, candidates(workload, rule)).measure


def with_threads(steps: Iterator[None], threads: int) -> Callable[[Effort], float]:
    def measure(effort: Effort) -> float:
        default = torch.get_num_threads()
        torch.set_num_threads(threads)
        try:
            for _ in range(WARM_UP):
                next(steps)
            start, count = time.perf_counter(), 0
            while count < effort.steps and time.perf_counter() - start < effort.seconds:
                next(steps)
                count += 1
            return (time.perf_counter() - start) * 1000 / count
        finally:
            torch.set_num_threads(default)

    return measure


def entries(workload: Workload, systems: Sequence[str]) -> Iterator[Entry]:
    """The systems that take part in a workload, set up and warm."""
    rows = "csr" if workload.sparse else "dense"
    if "honestdp" in systems:
        yield Entry("honestdp", rows, ours(workload, workload.sparse))
    if "honestdp-csr" in systems and workload.name in ("mnist-lr", "mnist-tlnn"):
        yield Entry("honestdp-csr", "csr", ours(workload, sparse=True))
    for system in [f"opacus-{mode}" for mode in OPACUS_MODES] + ["plain-torch"]:
        if system in systems:
            yield from peer_entries(workload, system)
    if "floor" in systems:
        for rows in ("dense", "csr") if workload.sparse else ("dense",):
            made = Floor(workload, rows, LOT_SIZE)
            made.measure(0.1)  # compiles
            yield Entry("floor", rows, lambda effort, m=made: m.measure(effort.seconds))
    if "rules" in systems and workload.name == "mnist-tlnn":
        for rule in RULES:
            yield Entry(f"honestdp:{rule}", "dense", ours(workload, False, rule))


class Before:
    """The honestdp of another checkout, by the benchmark of this one."""

    def __init__(self, checkout: Path, workload: str) -> None:
        self.words = [sys.executable, __file__, "--one", workload]
        self.environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}

    def measure(self, effort: Effort) -> float:
        words = [*self.words, str(effort.seconds)]
        done = subprocess.run(words, check=True, stdout=subprocess.PIPE, env=self.environment)
        return float(json.loads(done.stdout))


def one(name: str, seconds: float) -> float:
    """What `Before` asks for: a workload of whatever honestdp is imported, once."""
    workload = Workload(name)
    return ours(workload, workload.sparse)(Effort(seconds=seconds))


def peer_entries(workload: Workload, system: str) -> Iterator[Entry]:
    if system == "plain-torch":
        steps = plain_steps(workload, LOT_SIZE)
    else:
        mode = system.removeprefix("opacus-")
        steps = opacus_steps(workload, mode, LOT_SIZE, NOISE, CLIP)
    for threads in sorted({1, torch.get_num_threads()}):
        name = "1 thread" if threads == 1 else f"{threads} threads"
        yield Entry(system, name, with_threads(steps, threads))


def take_turns(entered: Sequence[Entry], effort: Effort) -> None:
    for _ in range(effort.repetitions):
        for entry in entered:
            entry.times.append(entry.measure(effort))


def workload_rows(
    name: str, systems: Sequence[str], effort: Effort, against: Path | None
) -> list[Row]:
    begun = {"date": date.today().isoformat(), "load_before": LOAD}
    entered = list(entries(Workload(name), systems))
    if against is not None:
        entered.append(Entry("before", "csr/dense", Before(against, name).measure))
    take_turns(entered, effort)
    rows = []
    for system in dict.fromkeys(entry.system for entry in entered):
        variants = {e.variant: statistics.median(e.times) for e in entered if e.system == system}
        best = min(variants, key=variants.__getitem__)
        rows.append(
            {
                "workload": name,
                "system": system,
                "ms_per_candidate_step": variants[best],
                "variant": best,
                "variants": variants,
                **begun,
            }
        )
    return rows


def more_rows(name: str, effort: Effort) -> Row:
    """The same lots from ten times the rows."""
    once, often = Workload(name), Workload(name, times=10)
    entered = [Entry(w.name, str(w.times), ours(w, w.sparse)) for w in (once, often)]
    take_turns(entered, effort)
    small, large = (statistics.median(entry.times) for entry in entered)
    return {
        "workload": name,
        "what": "ten times the rows",
        "ms_per_candidate_step": [small, large],
        "ratio": large / small,
        "allowed": 1.15,
    }


def more_candidates(effort: Effort) -> Row:
    """40 and 1,000 candidates, each in a process of its own, for its peak of memory."""
    seen: dict[int, list[Row]] = {CANDIDATES: [], MANY: []}
    for _ in range(effort.repetitions):
        for count, probes in seen.items():
            words = [sys.executable, __file__, "--probe", str(count), str(effort.seconds)]
            done = subprocess.run(words, check=True, stdout=subprocess.PIPE)
            probes.append(json.loads(done.stdout))
    (few, many), (before, after) = (
        [statistics.median(p[key] for p in probes) for probes in seen.values()]
        for key in ("ms", "peak_mb")
    )
    # Parameters and two moments; the work space of a cohort does not grow.
    own = (MANY - CANDIDATES) * size(Workload("adult-lr").model()) * 3 * 4 / 2**20
    return {
        "workload": "adult-lr",
        "what": f"{CANDIDATES} -> {MANY} candidates",
        "ms_per_candidate_step": [few, many],
        "ratio": many / few,
        "peak_mb": [before, after],
        "state_mb": own,
    }


def probe(count: int, seconds: float) -> Row:
    workload = Workload("adult-lr")
    chosen = candidates(workload, count=count)
    timed = Ours(workload.model(), workload.sparse_examples, chosen)
    ms = timed.measure(Effort(seconds=seconds))
    return {"ms": ms, "peak_mb": peak_mb()}


def peak_mb() -> float:
    """Of this process alone: ru_maxrss would begin at the peak of the process that started it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def options() -> argparse.Namespace:
    parts = (*WORKLOADS, "scaling")

    def among(known: Sequence[str]) -> Callable[[str], list[str]]:
        def parse(text: str) -> list[str]:
            chosen = text.split(",")
            for name in chosen:
                if name not in known:
                    message = f"{name}: must be among {', '.join(known)}"
                    raise argparse.ArgumentTypeError(message)
            return chosen

        return parse

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--workloads", type=among(parts), default=list(parts), metavar="A,B")
    parser.add_argument("--systems", type=among(SYSTEMS), default=list(SYSTEMS), metavar="A,B")
    parser.add_argument("--quick", action="store_true", help="one short repetition")
    parser.add_argument("--update", action="store_true", help="merge into the written results")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where results go")
    parser.add_argument("--against", type=Path, help="a checkout to measure beside this one")
    parser.add_argument("--probe", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    everything = set(chosen.workloads) == set(parts) and set(chosen.systems) == set(SYSTEMS)
    chosen.write = chosen.update or (everything and not chosen.quick)
    return chosen


def merged(old: Row, new: Row) -> Row:
    """New rows in the place of old ones of the same name."""

    def union(key: str, *name: str) -> list[Row]:
        rows = [*old.get(key, []), *new[key]]
        order = list(WORKLOADS).index
        latest = {tuple(row[part] for part in name): row for row in rows}
        return sorted(latest.values(), key=lambda row: order(row["workload"]))

    return new | {
        "rows": union("rows", "workload", "system"),
        "scaling": union("scaling", "workload", "what"),
    }


def measured(chosen: argparse.Namespace) -> Row:
    effort = QUICK if chosen.quick else Effort()
    rows, scaling = [], []
    for name in chosen.workloads:
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        if name == "scaling":
            scaling = [more_rows("adult-lr", effort), more_candidates(effort)]
            scaling.append(more_rows("mnist-lr", effort))
        else:
            rows += workload_rows(name, chosen.systems, effort, chosen.against)
    return {"machine": machine() | {"opacus": opacus.__version__}, "rows": rows, "scaling": scaling}


def main() -> None:
    chosen = options()
    if chosen.probe:
        print(json.dumps(probe(int(chosen.probe[0]), float(chosen.probe[1]))))
        return
    if chosen.one:
        print(json.dumps(one(chosen.one[0], float(chosen.one[1]))))
        return
    if LOAD > 0.5:  # honestdp uses every core, so it suffers more than who uses one
        print(f"load is {LOAD:.1f}: the machine is not quiet, do not quote this", file=sys.stderr)
    results = measured(chosen)
    path = chosen.results / "engine.json"
    if chosen.update and path.exists():
        results = merged(json.loads(path.read_text()), results)
    results["ratios"] = ratios(results["rows"])
    show(results)
    if chosen.write:
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(results, indent=2) + "\n")
        draw(results, path.with_suffix(".png"))
        print(f"\nwritten: {path} and {path.with_suffix('.png').name}")


if __name__ == "__main__":
    main()
