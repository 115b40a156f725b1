"""`honestdp tune`: a private model from a table, under one budget; and `honestdp resume`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from honestdp.cli.asked import KEPT, Asked
from honestdp.cli.options import Json, Quiet, number, whole
from honestdp.cli.say import Voice
from honestdp.errors import InputError, fail

if TYPE_CHECKING:
    from honestdp.ledger import Ledger
    from honestdp.planning.plan import Plan
    from honestdp.release.publish import Release

DEFAULT_OUT = Path("honestdp-run")
DEMO = "the census table Adult, which comes with honestdp"


def command(
    data: Annotated[
        Path | None, typer.Argument(help="CSV or Parquet file; none: the census table Adult.")
    ] = None,
    spec: Annotated[Path | None, typer.Option(help="TOML file with any of these settings.")] = None,
    schema: Annotated[Path | None, typer.Option(help="What is public about the table.")] = None,
    target: Annotated[str | None, typer.Option(help="The column to predict.")] = None,
    epsilon: Annotated[
        float | None, typer.Option(parser=number, metavar="X", help="Budget of the whole search.")
    ] = None,
    delta: Annotated[
        float | None, typer.Option(parser=number, metavar="X", help="By default from the rows.")
    ] = None,
    procedure: Annotated[str | None, typer.Option(help="How to choose; by default auto.")] = None,
    model: Annotated[str | None, typer.Option(help="logistic, mlp or linear.")] = None,
    grid: Annotated[str | None, typer.Option(help="A named grid, such as dpsgd-40.")] = None,
    steps: Annotated[
        int | None, typer.Option(parser=whole, metavar="N", help="By default from the rows.")
    ] = None,
    lot_size: Annotated[
        int | None, typer.Option(parser=whole, metavar="N", help="By default from the rows.")
    ] = None,
    rows: Annotated[
        int | None, typer.Option(parser=whole, metavar="N", help="By default counted.")
    ] = None,
    ledger: Annotated[Path | None, typer.Option(help="The data set's budget.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the run.")] = None,
    test: Annotated[Path | None, typer.Option(help="Public rows to try the model on.")] = None,
    seed: Annotated[
        int | None, typer.Option(parser=whole, metavar="N", help="Simulate; protects nobody.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Plan, and touch nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Create a ledger unasked.")] = False,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train and tune a private model under one (epsilon, delta) that covers all of it.

    Example: honestdp tune visits.csv --schema visits.toml --epsilon 1 --out run
    """
    flags = {
        "data": data, "schema": schema, "target": target, "epsilon": epsilon, "delta": delta,
        "procedure": procedure, "model": model, "grid": grid, "steps": steps, "lot_size": lot_size,
        "rows": rows, "ledger": ledger, "out": out, "test": test, "seed": seed,
    }  # fmt: skip
    tune(Asked.of(spec, flags), Voice(json_, quiet), dry_run=dry_run, yes=yes)


def resume(
    run: Annotated[Path, typer.Argument(help="The folder of an interrupted run.")],
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Go on with a run that was interrupted: the same charge, the same coins, fresh noise.

    Example: honestdp resume run
    """
    if not (run / KEPT).is_file():
        raise fail("run", str(run), f"holds no {KEPT}; give the folder of an interrupted tune")
    tune(Asked.of(run / KEPT, {"out": run}), Voice(json_, quiet), dry_run=False, yes=False)


def tune(asked: Asked, voice: Voice, *, dry_run: bool, yes: bool) -> None:
    """Plan, pay, run, show."""
    from honestdp.planning.make import make_plan
    from honestdp.planning.spec import Spec

    schema, table, test = _table(asked)
    wanted = asked.values.get("target")
    if wanted not in (None, schema.target.column):
        raise fail("target", wanted, f"the schema's target is {schema.target.column!r}")
    facts = {"epsilon": 1.0, **asked.facts} if asked.path("data") is None else asked.facts
    if "epsilon" not in facts:
        raise InputError("epsilon: none; say how much privacy to spend, such as --epsilon 1")
    plan = make_plan(Spec(schema=schema, rows=_rows(asked, table), **facts))
    voice.heading("The plan")
    voice.note(f"{plan}\n")
    if dry_run:
        voice.answer("a dry run: nothing was read, charged or written", plan.public())
        return
    out = asked.path("out") or DEFAULT_OUT
    ledger = None if "seed" in asked.values else _ledger(asked, plan, voice, yes)
    release = _carried_out(asked, plan, table, ledger, out, voice)
    accuracy = None if test is None else _accuracy(release, test)
    _show(release, ledger, out, accuracy, voice)


def _table(asked: Asked) -> tuple[Any, Any, Any]:
    """The schema, the table (a path is not opened), and public rows to test on."""
    from honestdp.schema import Schema

    data, schema = asked.path("data"), asked.path("schema")
    if data is None:
        if schema is not None:
            raise InputError("data: none, but a schema; name the CSV or Parquet file it is of")
        from honestdp.datasets import adult

        return adult()
    if schema is None:
        raise InputError(
            f"schema: none; `honestdp schema {data} > schema.toml` writes one to fill in"
        )
    return Schema.load(schema), data, asked.path("test")


def _rows(asked: Asked, table: Any) -> int:
    if "rows" in asked.values:
        return int(asked.values["rows"])
    if isinstance(table, Path):
        from honestdp.schema.files import count_rows

        return count_rows(table)
    return len(table)


def _ledger(asked: Asked, plan: Plan, voice: Voice, yes: bool) -> Ledger:
    """The data set's ledger; made with this plan's total if there is none and the user agrees."""
    from honestdp.ledger import Ledger

    schema = plan.spec.schema
    path = asked.path("ledger") or (asked.path("out") or DEFAULT_OUT).with_suffix(".ledger")
    if path.exists():
        return Ledger.open(path, schema=schema)
    total = f"epsilon {plan.spec.epsilon:g} and delta {plan.delta:.3g}"
    if not yes:
        question = f"There is no ledger {path} yet. Make one for {schema.name!r}, with {total}?"
        if voice.json or not typer.confirm(question, err=True):
            raise InputError(f"ledger: there is no {path}; --yes makes it, with {total}")
    voice.note(f"A new ledger, {path}: {total} for all that will ever be asked of {schema.name!r}.")
    return Ledger.create(path, schema=schema, epsilon=plan.spec.epsilon, delta=plan.delta)


def _carried_out(
    asked: Asked, plan: Plan, table: Any, ledger: Ledger | None, out: Path, voice: Voice
) -> Release:
    from contextlib import nullcontext

    from honestdp.errors import Interrupted
    from honestdp.progress import Bar
    from honestdp.run import run

    silent = voice.json or voice.quiet
    bar = nullcontext() if silent else Bar(simulated=ledger is None)
    kept = Asked({**asked.values, "out": out}).to_toml()
    try:
        with bar as progress:
            return run(
                plan, table, ledger, seed=asked.values.get("seed"), folder=out, progress=progress,
                asked=kept,
            )  # fmt: skip
    except Interrupted as stop:
        said = str(stop).split(". ")[0]
        raise Interrupted(f"{said}. Go on with: honestdp resume {out}") from None


def _accuracy(release: Release, test: Any) -> float:
    """On public rows; R^2 would be for numbers: their mean absolute error."""
    import numpy as np

    from honestdp.schema import open_rows

    column = release.schema.target.column
    opened = open_rows(release.schema, test)
    opened.check([column])
    answers = release.schema.encode(opened, sparse=None)
    found = release.schema.encode(opened, release.predict(opened), sparse=None)
    return float(np.mean(found.targets == answers.targets))


def _show(
    release: Release, ledger: Ledger | None, out: Path, accuracy: float | None, voice: Voice
) -> None:
    from honestdp.text import down

    winner, left = release.winner, None if ledger is None else ledger.remaining()
    facts: dict[str, Any] = {
        "epsilon": release.epsilon,
        "delta": release.delta,
        "procedure": release.card.procedure,
        "best_params": None if winner is None else dict(winner.setting),
        "score": None if winner is None else winner.noisy_score,
        "out": str(out),
        "remaining": None if left is None else {"epsilon": left.epsilon, "delta": left.delta},
    }
    lines = [repr(release)]
    if accuracy is not None:
        facts["test_accuracy"] = accuracy
        lines.append(f"accuracy on the public test rows: {accuracy:.4f}")
    if left is not None:
        lines.append(f"left in {ledger.path if ledger else ''}: epsilon {down(left.epsilon)}")
    lines.append(f"written: {out} (model, card); honestdp card {out} shows the promise")
    voice.answer("\n".join(lines), facts)
