"""Whole searches on Adult at one total (epsilon, delta): which procedure ends with the best model?

    python benchmarks/search.py                         everything; what is saved is not run again
    python benchmarks/search.py --only auto,kappa-4/ --runs 2 --results /tmp/trial
    python benchmarks/search.py --markdown              the saved results, for README.md

All 48,842 rows (`?` is the schema's `other`), a public 80/20 split: a search gets 39,073 rows, out
of which `run` takes its own validation rows; the test rows are declared public for this benchmark.
Every row of the table is a plan at the same total epsilon and delta = 1e-6, carried out ten times
with seeds 0..9: SIMULATIONS, which protect nobody. Beside them two lines that are not private:
  non-private      scikit-learn's logistic regression on the same rows
  tuned for free   DPSGD with the whole epsilon for each of its 40 settings, the best by test
                   accuracy: what is often reported, and what honesty is measured against
Rows of one and the same plan are run once. Ends with 1 if a claim of search_report.py fails.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import sklearn
import torch
from saved import Row, Saved
from search_report import FREE, NON_PRIVATE, accuracies, claims, into_readme, markdown, show
from search_rows import DELTA, EPSILONS, PAPER, SPLIT_SEED, Adult, SearchRow, search_rows
from sklearn.linear_model import LogisticRegression

from honestdp.engine import Linear, Randomness, Schedule, correct, train
from honestdp.errors import InputError
from honestdp.ledger import fingerprint
from honestdp.planning.grid import Grid
from honestdp.planning.make import MOST_RUNS, make_plan
from honestdp.runner.run import run
from honestdp.text import SIMULATION
from honestdp_reproduction.machine import LOAD, commit

RUNS = 10
OVERHEAD = 10_000  # of a search beside its lots, in lots: reading, encoding, scoring; for the guess
# of how long the rest takes
RESULTS = Path(__file__).parent / "results"


class Job(NamedTuple):
    """A row of the table without its runs; what makes a run, from a seed; how long one is, in
    lots, on average. No `measure`: the row says why it is not run."""

    row: Row
    measure: Callable[[int], Row] | None
    lots: float = 0.0


def new_row(epsilon: float | None, name: str, grid: str, procedure: str, **more: Any) -> Row:
    """fingerprint: rows of one fingerprint have the same runs."""
    row = {"epsilon": epsilon, "name": name, "grid": grid, "procedure": procedure}
    return row | {"fingerprint": f"{name} {epsilon}", "not_run": None, **more, "runs": []}


def search(data: Adult, epsilon: float, what: SearchRow) -> Job:
    row = new_row(epsilon, what.name, what.grid, what.procedure)
    began = time.perf_counter()
    try:
        plan = make_plan(data.spec(epsilon, what.options))
    except InputError as error:
        return Job(row | {"not_run": str(error)}, None)
    public = plan.public()
    row |= {
        "plan_seconds": time.perf_counter() - began,
        "expected_runs": plan.procedure.expected_runs,
        "hit_probability": plan.procedure.hit_probability,
        "reason": public.pop("reason"),  # the one thing in which equal plans may differ
        "plan": public,
        "fingerprint": fingerprint(public),
    }
    expected = plan.procedure.expected_runs or 1.0
    if expected > MOST_RUNS:
        said = f"{expected:,.0f} expected runs, more than the {MOST_RUNS:,.0f} that auto allows"
        return Job(row | {"not_run": said}, None)

    def measure(seed: int) -> Row:
        began = time.perf_counter()
        winner = run(plan, data.table, seed=seed).winner
        seconds = time.perf_counter() - began
        if winner is None:
            return {"accuracy": None, "setting": None, "seconds": seconds}
        right = correct(winner.model, winner.parameters.unsqueeze(0), data.test_rows)
        accuracy = right.item() / len(data.test_rows)
        return {"accuracy": accuracy, "setting": dict(winner.setting), "seconds": seconds}

    return Job(row, measure, OVERHEAD + expected * plan.training.steps)


def tuned_for_free(data: Adult, epsilon: float) -> Job:
    """DPSGD's 40 settings, each at the whole epsilon on all rows; the test rows say which wins."""
    grid = Grid.of("dpsgd-40")
    one = {"grid": grid.settings[:1], "procedure": "untuned", **PAPER}
    noise = make_plan(data.spec(epsilon, one)).noise_multiplier

    def measure(seed: int) -> Row:
        began = time.perf_counter()
        model = Linear(data.schema.width, 2)
        candidates, schedule = grid.candidates(noise, None), Schedule(**PAPER)
        found = train(model, data.train_rows, candidates, schedule, Randomness.simulation(seed))
        right = correct(model, found.stacked, data.test_rows)
        best = int(torch.argmax(right))
        return {
            "accuracy": right[best].item() / len(data.test_rows),
            "setting": dict(grid.settings[best]),
            "seconds": time.perf_counter() - began,
        }

    row = new_row(epsilon, FREE, "dpsgd-40", FREE, noise_multiplier=noise)
    return Job(row, measure, len(grid) * PAPER["steps"])


def non_private(data: Adult) -> Job:
    """Almost without penalty (C = 10,000), the stricter comparison; scikit-learn's C = 1 beside."""

    def score(penalty: float) -> float:
        model = LogisticRegression(C=penalty, max_iter=5000)
        model.fit(data.train.inputs, data.train.targets)
        return float(model.score(data.test.inputs, data.test.targets))

    def measure(seed: int) -> Row:
        began = time.perf_counter()
        accuracy = score(1e4)
        seconds = time.perf_counter() - began
        setting = {"C": 1e4, "accuracy_at_C_1": score(1.0)}
        return {"accuracy": accuracy, "setting": setting, "seconds": seconds}

    return Job(new_row(None, NON_PRIVATE, "none", NON_PRIVATE), measure)


def jobs(data: Adult, chosen: argparse.Namespace) -> Iterator[Job]:
    def wanted(name: str) -> bool:
        return chosen.only is None or any(part in name for part in chosen.only)

    if wanted(NON_PRIVATE):
        yield non_private(data)
    for epsilon in chosen.epsilon:
        yield from (search(data, epsilon, what) for what in search_rows() if wanted(what.name))
        if wanted(FREE):
            yield tuned_for_free(data, epsilon)


def measured(todo: list[Job], runs: int, saved: Saved) -> None:
    progress = Progress(runs * sum(job.lots for job in todo))
    for job in todo:
        row = placed(saved, job.row)
        count = min(runs, 1) if row["name"] == NON_PRIVATE else runs  # it draws nothing
        for seed in range(count if job.measure else 0):
            if not known(saved, row, seed):
                stamp = {"seed": seed, "commit": commit(), "date": date.today().isoformat()}
                found = job.measure(seed)  # type: ignore[misc]
                row["runs"].append(stamp | found)
                saved.write()
                progress.ran(row, job.lots, found["seconds"])
            progress.left -= job.lots
        saved.write()
        progress.line(row)


def placed(saved: Saved, row: Row) -> Row:
    """The saved row of this name, if it is of the same plan; else the new one in its place."""
    old = saved.find(epsilon=row["epsilon"], name=row["name"])
    if old is not None and old["fingerprint"] == row["fingerprint"]:
        return old
    saved.rows = [*(other for other in saved.rows if other is not old), row]
    return row


def known(saved: Saved, row: Row, seed: int) -> bool:
    """Whether the row has this run, its own or that of another row of the same plan."""
    for other in (row, *saved.rows):
        if other["fingerprint"] != row["fingerprint"]:
            continue
        for made in other["runs"]:
            if made["seed"] == seed:
                if other is not row:
                    row["same_as"] = other["name"]
                    row["runs"].append(made)
                return True
    return False


class Progress:
    """What was measured last, and how long the rest may take: K is random, so that is a guess."""

    def __init__(self, lots: float) -> None:
        self.left, self._lots, self._seconds = lots, 0.0, 0.0

    def ran(self, row: Row, lots: float, seconds: float) -> None:
        self._lots, self._seconds = self._lots + lots, self._seconds + seconds
        if sys.stderr.isatty():
            print(f"\r\033[K{self._said(row)}", end="", file=sys.stderr, flush=True)

    def line(self, row: Row) -> None:
        start = "\r\033[K" if sys.stderr.isatty() else ""
        print(f"{start}{self._said(row)}", file=sys.stderr, flush=True)

    def _said(self, row: Row) -> str:
        found = accuracies(row)
        mean = f"{np.mean(found):.4f}" if found else row["not_run"] or "nothing came out"
        taken = sum(made["seconds"] for made in row["runs"])
        at = "" if row["epsilon"] is None else f"epsilon {row['epsilon']:g}, "
        text = f"{at}{row['name']}: {mean} ({len(row['runs'])} runs, {taken:.0f} s)"
        if self._lots and self.left > 0:
            text += f"; {self.left * self._seconds / self._lots / 60:.0f} minutes to go"
        return text


def warm_up(data: Adult) -> None:
    """Compiles, so that no search is charged for it."""
    for grid in ("dpsgd-40", "dpadam-4", "kappa-4", "dpadamwosm"):
        options = {"grid": grid, "lot_size": 250, "steps": 4}
        name = "untuned" if grid == "dpadamwosm" else "composition"
        run(make_plan(data.spec(1.0, options | {"procedure": name})), data.table, seed=0)


def options() -> argparse.Namespace:
    def floats(text: str) -> list[float]:
        return [float(part) for part in text.split(",")]

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--runs", type=int, default=RUNS, help=f"of every row (default {RUNS})")
    add("--epsilon", type=floats, default=list(EPSILONS), metavar="A,B")
    add(
        "--only",
        type=lambda text: text.split(","),
        metavar="A,B",
        help="rows whose grid/procedure has one of these in it: auto, kappa-4/, dpsgd-40/auto",
    )
    add("--fresh", action="store_true", help="forget what is saved")
    add("--results", type=Path, default=RESULTS, help="where results go")
    add(
        "--markdown",
        action="store_true",
        help="measure nothing; print the saved table, and put it into README.md if it is whole",
    )
    return parser.parse_args()


def main() -> None:
    chosen = options()
    facts = {
        "what": f"{SIMULATION}: searches on Adult by benchmarks/search.py",
        "delta": DELTA,
        "split_seed": SPLIT_SEED,
        "versions": {"scikit-learn": sklearn.__version__, "numpy": np.__version__},
    }
    saved = Saved(chosen.results / "search.json", chosen.fresh and not chosen.markdown, facts)
    expected = [(epsilon, what.name) for epsilon in EPSILONS for what in search_rows()]
    if chosen.markdown:
        print(text := markdown(saved.rows, expected))
        into_readme(text, saved.rows, expected)
        return
    data = Adult()
    if LOAD > 0.5:
        print(f"load is {LOAD:.1f}: do not quote the seconds", file=sys.stderr)
    print("planning ...", file=sys.stderr, flush=True)
    todo = list(jobs(data, chosen))
    warm_up(data)
    measured(todo, chosen.runs, saved)
    show(saved.rows, expected)
    print(f"\nwritten: {saved.path}")
    if any(claim.holds is False for claim in claims(saved.rows, expected)):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
