"""The ledger of a `tune`: the one of its table, which all runs on the table share."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from honestdp.cli.config import TuneConfig
from honestdp.cli.console import Console, agrees
from honestdp.errors import InputError, fail

if TYPE_CHECKING:
    from honestdp.ledger import Ledger
    from honestdp.planning.plan import Plan


def ledger_of(
    config: TuneConfig, plan: Plan, table: Any, out: Path, console: Console, yes: bool
) -> Ledger:
    """Open the table's ledger; create it with this plan's total if the user agrees.

    By default it lies beside the table, not the run: all runs on a table share one budget.
    """
    from honestdp.ledger import Ledger

    schema, usual = plan.spec.schema, _usual_ledger(config, plan, table)
    path = config.path("ledger") or usual
    if path.exists():
        return Ledger.open(path, schema=schema)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise fail("out", str(out), "is not empty; choose another folder for this run")
    _check_no_other(path, usual, schema.name)
    total = f"epsilon {plan.spec.epsilon:g} and delta {plan.delta:.3g}"
    if not yes:
        console.note(
            f"There is no ledger {path} yet. It keeps the total that may ever be spent on "
            f"{schema.name!r},\nby this run and all later ones (`honestdp ledger create` makes one "
            "with another total)."
        )
        if console.silent or not agrees(f"Make it, with {total}?"):
            raise InputError(f"ledger: there is no {path}; --yes makes it, with {total}")
    made = Ledger.create(path, schema=schema, epsilon=plan.spec.epsilon, delta=plan.delta)
    console.note(
        f"A new ledger, {path}: {total} for everything ever computed from {schema.name!r}."
    )
    return made


def with_stopped_charge(
    plan: Plan, ledger: Ledger | None, ask: bool, out: Path, console: Console
) -> tuple[Plan, bool]:
    """The plan to carry out, and whether to check the table: where a charge in the ledger was
    stopped by a check and pays for the plan, it is used; with --no-check, without a further one."""
    from dataclasses import replace

    from honestdp.planning.make import make_plan
    from honestdp.run_files import PRIVATE, STATE

    if ledger is None or not any(charge.stopped for charge in ledger.history()):
        return plan, ask
    if (out / PRIVATE / STATE).exists():  # a run to resume, which has a charge
        return plan, ask
    checked = plan if plan.spec.check else make_plan(replace(plan.spec, check=True))
    found = ledger.stopped_charge(checked.spending, checked.public())
    if found is None:
        return plan, ask
    console.note(
        f"Charge {found.receipt.id} was stopped by the check of its table and pays for this run: "
        "nothing new is charged.\n"
    )
    return checked, ask and plan.spec.check


def would_fit(config: TuneConfig, plan: Plan, table: Any) -> str:
    """Whether the table's ledger, if there is one, covers the plan now."""
    from honestdp.ledger import Ledger

    path = config.path("ledger") or _usual_ledger(config, plan, table)
    if "seed" in config.values or not path.exists():
        return ""
    ledger = Ledger.open(path, schema=plan.spec.schema)
    found = ledger.stopped_charge(plan.spending, plan.public())
    if found is not None:
        return f"; charge {found.receipt.id} of {path}, which a check stopped, would pay for it"
    fits = ledger.fits(plan.spending)
    return f"; {path} {'would pay for it' if fits else 'has too little left for it'}"


def _check_no_other(path: Path, usual: Path, dataset: str) -> None:
    """Raise InputError if another ledger for this data set exists: their totals would add up."""
    from honestdp.ledger import Ledger

    for other in sorted({*path.parent.glob("*.ledger"), *usual.parent.glob("*.ledger")}):
        try:
            same = Ledger.inspect(other).opening.dataset == dataset
        except InputError:  # not a ledger, or damaged
            continue
        if same:
            raise fail(
                "ledger",
                str(path),
                f"{other} is a ledger for {dataset!r} already, and two would add up; use it "
                f"(--ledger {shlex.quote(str(other))}), or make one with `honestdp ledger create`",
            )


def _usual_ledger(config: TuneConfig, plan: Plan, table: Any) -> Path:
    """The ledger if none is given: visits.ledger beside visits.csv.gz or the folder visits; called
    as the schema beside the first of several files and beside a database file; so in the current
    folder for a database elsewhere and for the table that comes with honestdp."""
    data, named = config.places("data"), f"{plan.spec.schema.name}.ledger"
    home = None if data is None else table.path
    if data is None or home is None:
        return Path(named)
    if len(data) > 1 or table.source.queries:
        return Path(home.with_name(named))
    return Path(home.with_name(f"{home.name.split('.')[0] or home.name}.ledger"))
