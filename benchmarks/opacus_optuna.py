"""The same job both ways: Optuna around Opacus, and honestdp. Adult, logistic regression.

    python benchmarks/opacus_optuna.py                    everything; what is saved is not run again
    python benchmarks/opacus_optuna.py --trials 3 --runs 1 --results /tmp/trial
    python benchmarks/opacus_optuna.py --markdown         the saved results, for docs/

Four ways to spend epsilon = 1 on the census' 32,561 training rows, forty settings of learning rate
and clip norm, lots of 250, 2,500 steps:
  optuna     TPE proposes, Opacus trains each trial at epsilon = 1 and validation rows score it
             without noise; the winner is reported with epsilon = 1, as is often done
  composed   the same made honest without honestdp's procedures: the noise at which forty trials
             together cost epsilon = 1, scores with noise too
  search     honestdp on its grid of forty, at a total of epsilon = 1, procedure "auto"
  untuned    honestdp without a grid
All see the same encoded columns and the same split; one thread each, and seconds are those of that
one core, so that what else the machine does counts less. Everything is seeded: these are
SIMULATIONS, which protect nobody. The census' own test rows, declared public, say how good a model
is.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import opacus
import optuna
import torch
from opacus.accountants.utils import get_noise_multiplier
from opacus_optuna_report import COMPOSED, NAME, OPTUNA, SEARCH, UNTUNED, into_pages, markdown, show
from saved import Row, Saved
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from honestdp.datasets import adult
from honestdp.engine import Randomness
from honestdp.planning.make import make_plan
from honestdp.planning.plan import Plan
from honestdp.planning.spec import Spec
from honestdp.privacy import guarantee
from honestdp.privacy.events import Repeated, training
from honestdp.runner.private_data import split
from honestdp.runner.run import run
from honestdp.runner.scoring import schedule
from honestdp.text import SIMULATION
from honestdp_reproduction.machine import LOAD

EPSILON, DELTA = 1.0, 1e-6
LOT, STEPS, TRIALS, RUNS = 250, 2500, 40, 5
RATES, CLIPS = (0.001, 1.0), (0.1, 1.0)  # the range of the grid dpsgd-40
RESULTS = Path(__file__).parent / "results"
# Without secure_mode Opacus draws its noise from torch's generator: faster, so it stays.
warnings.filterwarnings("ignore", "Secure RNG turned off")
warnings.filterwarnings("ignore", "Full backward hook is firing when gradients are computed")
warnings.filterwarnings("ignore", "Optimal order is the largest alpha")
optuna.logging.set_verbosity(optuna.logging.WARNING)


class Adult:
    """The table, and its parts as tensors; honestdp's own public split serves both."""

    def __init__(self) -> None:
        self.schema, self.table, self.public = adult()
        training, validation, _ = split(self.plan("composition", "dpsgd-40"))
        self.train, self.validation = self._tensors(training), self._tensors(validation)
        found = self.schema.encode(self.public, sparse=False)
        self.test = torch.from_numpy(found.inputs).float(), torch.from_numpy(found.targets)

    def plan(self, procedure: str, grid: str | None, trials: int | None = None) -> Plan:
        """Of a total of EPSILON; `trials`: of a grid of this many, where only their number counts.
        Without a grid lots and steps are honestdp's own."""
        fixed: dict[str, Any] = {} if grid is None else {"lot_size": LOT, "steps": STEPS}
        many: Any = grid if trials is None else [{"rule": "dpsgd", "learning_rate": 0.1}] * trials
        return make_plan(
            Spec(
                schema=self.schema, rows=len(self.table), epsilon=EPSILON, delta=DELTA,
                procedure=procedure, grid=many, **fixed,
            )
        )  # fmt: skip

    def _tensors(self, rows: Any) -> tuple[torch.Tensor, torch.Tensor]:
        found = self.schema.encode(self.table.take(rows), sparse=False)
        return torch.from_numpy(found.inputs).float(), torch.from_numpy(found.targets)


@dataclass(frozen=True)
class Study:
    """Optuna's forty trials. noise_multiplier: of each training; score_noise: of each count."""

    way: str
    noise_multiplier: float
    score_noise: float
    facts: Row


def sample_rate(data: Adult) -> float:
    """Opacus': one over the number of lots in an epoch."""
    return 1 / -(-len(data.train[1]) // LOT)


def as_usual(data: Adult, trials: int) -> Study:
    """Each trial at the whole epsilon, by Opacus' own accounting; its price by honestdp's."""
    rate = sample_rate(data)
    noise = get_noise_multiplier(
        target_epsilon=EPSILON, target_delta=DELTA, sample_rate=rate, steps=STEPS, accountant="prv"
    )
    spent = guarantee.epsilon(Repeated(training(rate, float(noise), STEPS), trials), DELTA)
    return Study(OPTUNA, float(noise), 0.0, {"epsilon_of_all_trainings": spent})


def made_honest(data: Adult, trials: int) -> Study:
    """All trials together at the whole epsilon; Opacus' lots are a little smaller than planned."""
    plan = data.plan("composition", "any", trials)
    rate = sample_rate(data)
    assert rate <= plan.training.sampling_probability
    assert plan.role_costs.scoring is not None
    noise = plan.noise_multiplier
    spent = guarantee.epsilon(Repeated(training(rate, noise, STEPS), trials), DELTA)
    facts = {"epsilon_of_all_trainings": spent}
    return Study(COMPOSED, noise, plan.role_costs.scoring.noise, facts)


def trained(data: Adult, study: Study, rate: float, clip: float, seed: int) -> tuple[Any, float]:
    """One trial as an Opacus user writes it, and the epsilon that Opacus reports for it."""
    torch.manual_seed(seed)
    inputs, targets = data.train
    module: Any = nn.Linear(inputs.shape[1], 1)
    nn.init.zeros_(module.weight)
    engine = opacus.PrivacyEngine(accountant="prv")
    module, optimizer, loader = engine.make_private(
        module=module,
        optimizer=torch.optim.SGD(module.parameters(), lr=rate),
        data_loader=DataLoader(TensorDataset(inputs, targets.float().unsqueeze(1)), batch_size=LOT),
        noise_multiplier=study.noise_multiplier,
        max_grad_norm=clip,
        poisson_sampling=True,
    )
    criterion, done = nn.BCEWithLogitsLoss(), 0
    while done < STEPS:
        for x, y in loader:
            optimizer.zero_grad()
            criterion(module(x), y).backward()
            optimizer.step()
            done += 1
            if done == STEPS:
                break
    return module, float(engine.get_epsilon(DELTA))


def right(module: Any, rows: tuple[torch.Tensor, torch.Tensor]) -> int:
    with torch.no_grad():
        said = (module(rows[0]).squeeze(1) > 0).to(rows[1].dtype)
    return int((said == rows[1]).sum())


def trial(data: Adult, study: Study, known: list[Row]) -> Row:
    """The next trial. Its draws follow from its number, so an interrupted study comes out the
    same."""
    number = len(known)
    sampler = optuna.samplers.TPESampler(seed=number)
    proposer = optuna.create_study(direction="maximize", sampler=sampler)
    space = {
        "learning_rate": optuna.distributions.FloatDistribution(*RATES, log=True),
        "clip_norm": optuna.distributions.FloatDistribution(*CLIPS, log=True),
    }
    for row in known:
        params = {name: row[name] for name in space}
        proposer.add_trial(
            optuna.trial.create_trial(params=params, distributions=space, value=row["score"])
        )
    asked = proposer.ask(space).params
    began = time.process_time()
    rate, clip = asked["learning_rate"], asked["clip_norm"]
    module, epsilon = trained(data, study, rate, clip, number)
    noise = np.random.default_rng(number).normal(0, study.score_noise)
    score = (right(module, data.validation) + noise) / len(data.validation[1])
    return asked | {
        "way": study.way,
        "run": number,
        "seconds": time.process_time() - began,
        "score": score,
        "epsilon": epsilon,
        "accuracy": right(module, data.test) / len(data.test[1]),
    }


def searched(data: Adult, way: str, plan: Plan, seed: int) -> Row:
    """One whole search of honestdp's. How many trainings it made is told of a simulation alone."""
    began = time.process_time()
    winner = run(plan, data.table, seed=seed, workers=1)
    seconds = time.process_time() - began
    drawn = schedule(plan, Randomness.simulation(seed), 1)
    said = np.asarray(winner.predict(data.public))
    truth = np.asarray(data.public[data.schema.target.column].to_pylist())
    return {
        "way": way,
        "run": seed,
        "seconds": seconds,
        "trainings": sum(len(draws) for draws in drawn),
        "epsilon": winner.epsilon,
        "accuracy": float(np.mean(said == truth)),
        "setting": dict(winner.winner.setting) if winner.winner else None,
    }


def measured(saved: Saved, way: str, count: int, one: Callable[[list[Row]], Row]) -> None:
    """Runs of one way until there are `count`, each saved at once."""
    for number in range(count):
        known = [row for row in saved.rows if row["way"] == way]
        if number < len(known):
            continue
        row = one(known)
        saved.rows.append(row)
        saved.write()
        left = (count - number - 1) * row["seconds"]
        said = f"{NAME[way]}, {number + 1} of {count}: test accuracy {row['accuracy']:.4f}"
        print(f"{said}, {row['seconds']:.1f} s; about {left / 60:.0f} minutes to go for this way",
              file=sys.stderr, flush=True)  # fmt: skip


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--trials", type=int, default=TRIALS, help=f"of Optuna's (default {TRIALS})")
    add("--runs", type=int, default=RUNS, help=f"of honestdp's (default {RUNS})")
    add("--fresh", action="store_true", help="forget what is saved")
    add("--results", type=Path, default=RESULTS, help="where results go")
    add("--markdown", action="store_true", help="measure nothing; write the saved table into docs/")
    return parser.parse_args()


def main() -> None:
    chosen = options()
    path = chosen.results / "opacus_optuna.json"
    if chosen.markdown:
        print(text := markdown(path))
        into_pages(text)
        return
    torch.set_num_threads(1)
    if LOAD > 0.5:
        print(f"load is {LOAD:.1f}: do not quote the seconds", file=sys.stderr)
    data = Adult()
    studies = [as_usual(data, chosen.trials), made_honest(data, chosen.trials)]
    plans = {SEARCH: data.plan("auto", "dpsgd-40"), UNTUNED: data.plan("auto", None)}
    facts = {
        "what": f"{SIMULATION}: Adult by benchmarks/opacus_optuna.py",
        "versions": {"opacus": opacus.__version__, "optuna": optuna.__version__},
        "epsilon": EPSILON,
        "delta": DELTA,
        "trials": chosen.trials,
        "lot_size": LOT,
        "steps": STEPS,
        "threads": 1,
        "rows": {"train": len(data.train[1]), "validation": len(data.validation[1]),
                 "test": len(data.test[1])},
        "ways": {s.way: {"noise_multiplier": s.noise_multiplier, **s.facts} for s in studies}
        | {way: {"noise_multiplier": plan.noise_multiplier, "epsilon": plan.epsilon,
                 "procedure": plan.procedure.name, "steps": plan.training.steps}
           for way, plan in plans.items()},
    }  # fmt: skip
    facts["table"] = facts.pop("rows")  # `rows` are the runs
    saved = Saved(path, chosen.fresh, facts)
    for plan in plans.values():  # compiles, so that no search is timed with it
        short = {"lot_size": LOT, "steps": 4, "procedure": "auto"}
        run(make_plan(Spec(schema=data.schema, rows=len(data.table), epsilon=EPSILON, delta=DELTA,
                           grid=plan.grid.settings[:1], **short)), data.table, seed=0)  # fmt: skip
    for way, plan in plans.items():
        measured(saved, way, chosen.runs,
                 lambda known, w=way, p=plan: searched(data, w, p, len(known)))  # fmt: skip
    for study in studies:
        measured(saved, study.way, chosen.trials, lambda known, s=study: trial(data, s, known))
    saved.write()
    show(path)
    print(f"\nwritten: {saved.path}")


if __name__ == "__main__":
    main()
