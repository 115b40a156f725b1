"""`honestdp tune`: a private model from a table, under one budget; and `honestdp resume`."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from honestdp.cli.about import merged, with_reason
from honestdp.cli.config import CHOSEN_ON, TuneConfig
from honestdp.cli.console import Console, Stopped
from honestdp.cli.options import (
    Decimal,
    Delimiter,
    Encoding,
    Json,
    NoCheck,
    Query,
    Quiet,
    Sheet,
    number,
    whole,
)
from honestdp.cli.tune_ledger import ledger_of, with_stopped_charge, would_fit
from honestdp.cli.tune_tables import count_rows, is_adult, tables_of
from honestdp.errors import (
    BudgetError,
    InputError,
    Interrupted,
    MisfitError,
    fail,
    seed_and_ledger,
)

if TYPE_CHECKING:
    from honestdp.ledger import Ledger
    from honestdp.planning.plan import Plan
    from honestdp.planning.spec import Spec
    from honestdp.release.released import Release
    from honestdp.schema import TableFile

FEW = 1000  # rows
NOTHING = 4  # exit code of a search that ended without a model


def _procedures() -> list[str]:
    from honestdp.planning.spec import AUTO
    from honestdp.procedures import procedures

    return [AUTO, *procedures.names()]


def _models() -> list[str]:
    from honestdp.models import model_names

    return list(model_names())


def _grids() -> list[str]:
    from honestdp.planning.named_grids import NAMED

    return list(NAMED)


def _metrics() -> list[str]:
    from honestdp.metrics import metrics

    return list(metrics.names())


def command(
    data: Annotated[
        list[str] | None,
        typer.Argument(
            help="CSV, Parquet or xlsx files, a folder or the URL of a database; none: the census "
            "table Adult, at epsilon 1."
        ),
    ] = None,
    spec: Annotated[Path | None, typer.Option(help="TOML file with any of these settings.")] = None,
    schema: Annotated[
        Path | None, typer.Option(help="What is public about the table; see `honestdp schema`.")
    ] = None,
    target: Annotated[
        str | None, typer.Option(help="The column to predict; must be the schema's.")
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option(parser=number, metavar="X", help="Budget of the whole search.")
    ] = None,
    delta: Annotated[
        float | None, typer.Option(parser=number, metavar="X", help="By default from the rows.")
    ] = None,
    procedure: Annotated[
        str | None,
        typer.Option(help="How to choose; by default auto.", autocompletion=_procedures),
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="logistic, linear or mlp.", autocompletion=_models)
    ] = None,
    grid: Annotated[
        str | None,
        typer.Option(
            help="Settings to choose among: a name such as dpsgd-40, or JSON such as "
            '{"rule": "dpsgd", "learning_rate": [0.1, 1]}; none: one that needs no tuning.',
            autocompletion=_grids,
        ),
    ] = None,
    test_share: Annotated[
        str | None,
        typer.Option(
            metavar="X",
            help="Share of rows held out to say, with noise, how good the model is; 0: none. By "
            "default a tenth where rows are many enough, and none with --test.",
        ),
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Say how good it is for each value of this column."),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(help="What settings are compared by, such as auc.", autocompletion=_metrics),
    ] = None,
    class_weight: Annotated[
        str | None,
        typer.Option(
            metavar="X", help='Public weights of classes, such as {"yes": 5}; or balanced.'
        ),
    ] = None,
    steps: Annotated[
        int | None, typer.Option(parser=whole, metavar="N", help="By default from the rows.")
    ] = None,
    lot_size: Annotated[
        int | None, typer.Option(parser=whole, metavar="N", help="By default from the rows.")
    ] = None,
    rows: Annotated[
        int | None, typer.Option(parser=whole, metavar="N", help="Checked; by default counted.")
    ] = None,
    executor: Annotated[
        str | None, typer.Option(help="Where to train; by default local, on this machine.")
    ] = None,
    further: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Any further setting or option of the procedure, such as mean_runs=20.",
        ),
    ] = None,
    ledger: Annotated[
        Path | None, typer.Option(help="The table's budget; by default beside it: visits.ledger.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for the run; by default NAME-run.")
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(
            metavar="TABLE",
            help="Public rows to try the model on, none of them in the table: they are not "
            "protected. A copy of the table is refused; a part of it would go unnoticed.",
        ),
    ] = None,
    public: Annotated[
        str | None,
        typer.Option(
            metavar="TABLE",
            help="Public rows to compare the settings of the grid on, free of charge; the table "
            "then pays for one training. They are not protected, nor is a row that is in both.",
        ),
    ] = None,
    curator: Annotated[
        str | None, typer.Option(metavar="TEXT", help="For the card: who publishes the model.")
    ] = None,
    intended_use: Annotated[
        str | None, typer.Option(metavar="TEXT", help="For the card: what it is meant for.")
    ] = None,
    justification: Annotated[
        str | None, typer.Option(metavar="TEXT", help="For the card: why this epsilon.")
    ] = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    query: Query = None,
    seed: Annotated[
        int | None,
        typer.Option(parser=whole, metavar="N", help="Simulate, without a ledger: not private."),
    ] = None,
    no_check: NoCheck = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Plan, and touch nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Make a new ledger unasked.")] = False,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train and tune a private model under one (epsilon, delta) that covers all of it.

    Example: honestdp tune visits.csv --schema visits.toml --epsilon 1 --out run
    """
    flags = {
        "data": data or None, "schema": schema, "target": target, "epsilon": epsilon,
        "delta": delta, "procedure": procedure, "model": model, "grid": grid, "steps": steps,
        "lot_size": lot_size, "rows": rows, "executor": executor, "ledger": ledger, "out": out,
        "test": test, "public": public, "seed": seed, "delimiter": delimiter, "decimal": decimal,
        "encoding": encoding, "sheet": sheet, "query": query, "groups": groups,
        "metric": metric, "class_weight": class_weight,
        "test_share": None if test_share in (None, "auto") else number(test_share or ""),
        "check": False if no_check else None,
    }  # fmt: skip
    console = Console(json_, quiet)
    config = TuneConfig.of(spec, flags, further or ())
    holds_out = "test" not in config.values and not is_adult(config)  # public rows say how good
    said = {"curator": curator, "intended_use": intended_use, "justification": justification}
    config = TuneConfig(
        {
            "check": True,
            **({"test_share": "auto"} if holds_out else {}),
            **config.values,
            **merged(config.values, **said),
        }
    )
    _tune(config, console, dry_run=dry_run, yes=yes)


def resume(
    run: Annotated[Path, typer.Argument(help="The folder of an interrupted or stopped run.")],
    no_check: NoCheck = False,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Resume a run that was interrupted, or stopped by the check of its table: the same charge, the
    same coins, fresh noise.

    Example: honestdp resume run
    """
    from honestdp.run_files import CARD, CONFIG, PRIVATE

    stored = run / PRIVATE / CONFIG
    if (run / CARD).exists() and not stored.exists():
        way = f"`honestdp card {shlex.quote(str(run))}` shows it"
        raise fail("run", str(run), f"is finished; {way}")
    if not stored.is_file():
        raise fail("run", str(run), "holds no interrupted run; give the folder of one")
    config = TuneConfig.of(stored, {"out": run}, base=run)
    config = TuneConfig({"check": False, **config.values})  # of a run before there were checks
    ledger = config.path("ledger")
    if ledger is not None and not ledger.exists():
        raise fail(
            "ledger", str(ledger), "does not exist; restore it: it holds the charge of this run"
        )
    _tune(config, Console(json_, quiet), dry_run=False, yes=False, ask=not no_check)


def _tune(
    config: TuneConfig, console: Console, *, dry_run: bool, yes: bool, ask: bool = True
) -> None:
    """Plan, charge, run, evaluate on public rows, show the result. ask: Whether the table is
    checked, where the plan has a check."""
    with console.busy("planning"):
        from honestdp.cli.result import public_rows, show
        from honestdp.planning.make import make_plan
        from honestdp.planning.spec import Spec

        if "seed" in config.values and "ledger" in config.values:
            raise seed_and_ledger("seed", config.values["seed"])
        executor = _executor(config)
        schema, table, test, public = tables_of(config)
        facts = {"epsilon": 1.0, **config.facts} if is_adult(config) else config.facts
        if "epsilon" not in facts:
            raise InputError("epsilon: none; give the budget, such as --epsilon 1")
        facts |= _stored_choice(config)
        spec = Spec(schema=schema, rows=count_rows(config, table, schema), **facts)
    if public is not None:
        spec = _chosen(spec, public, executor, console)
    with console.busy("planning"):
        plan = make_plan(spec)
    console.note("The plan", style="bold green")
    console.note(f"{plan}\n  (`honestdp words` explains each term)\n")
    if plan.spec.rows < FEW:
        console.note(f"Fewer than {FEW} rows: a small epsilon leaves little to learn from.\n")
    if dry_run:
        but = "" if public is None else ", but for what was trained on the public rows"
        done = f"a dry run: nothing was charged, trained or written{but}"
        console.note(f"The trainings take about {_duration(plan, console)} on this machine.\n")
        console.answer(f"{done}{would_fit(config, plan, table)}", plan.public())
        return
    out = config.path("out") or Path(f"{schema.name}-run")
    test = None if test is None else public_rows(schema, test)
    ledger = None if "seed" in config.values else ledger_of(config, plan, table, out, console, yes)
    plan, ask = with_stopped_charge(plan, ledger, ask, out, console)
    plan = with_reason(plan, ledger, console, yes)
    release = _carried_out(config, plan, table, ledger, executor, out, console, ask)
    show(release, ledger, out, test, console)
    if release.winner is None:
        raise typer.Exit(NOTHING)


def _duration(plan: Plan, console: Console) -> str:
    """How long the trainings will take, measured on made-up rows."""
    with console.busy("measuring on made-up rows"):
        from honestdp.runner.duration import expected_seconds, in_words

        return in_words(expected_seconds(plan))


def _stored_choice(config: TuneConfig) -> dict[str, Any]:
    """The choice on public rows that an interrupted run has stored, if it has."""
    from honestdp.planning.public_choice import PublicChoice

    stored = config.values.get(CHOSEN_ON)
    return {} if stored is None else {CHOSEN_ON: PublicChoice.from_json(stored)}


def _chosen(spec: Spec, public: TableFile, executor: str, console: Console) -> Spec:
    """The spec with the setting that is best on public rows."""
    with console.busy("comparing the settings on the public rows"):
        from honestdp.runner.choosing import choose_on_public

        return choose_on_public(spec, public, executor=executor)


def _executor(config: TuneConfig) -> str:
    """The name of the executor; raises InputError, before a ledger is made, if there is none."""
    name = config.values.get("executor", "local")
    if name != "local":
        from honestdp.executors import executors

        executors.get(name)
    return str(name)


def _carried_out(
    config: TuneConfig,
    plan: Plan,
    table: Any,
    ledger: Ledger | None,
    executor: str,
    out: Path,
    console: Console,
    ask: bool,
) -> Release:
    from contextlib import nullcontext

    with console.busy("getting ready"):
        from honestdp.progress import Bar
        from honestdp.runner.run import run

    stored = {**config.values, "out": out, "check": plan.spec.check}
    stored |= {"ledger": ledger.path} if ledger else {}
    stored |= merged({"about": plan.spec.about})
    stored_config = TuneConfig(stored).with_choice(plan.spec)
    bar = nullcontext() if console.silent else Bar(simulated=ledger is None)
    try:
        with bar as progress:
            return run(
                plan,
                table,
                ledger,
                seed=config.values.get("seed"),
                folder=out,
                progress=progress,
                executor=executor,
                config=stored_config.to_toml(out),
                check=ask,
            )
    except Interrupted as stop:
        raise Stopped(str(stop)) from None
    except MisfitError as stop:
        if console.json:
            console.answer("", stop.facts)
        raise
    except BudgetError as error:
        assert ledger is not None
        way = f"; Adult itself is public: to start over, remove {ledger.path}"
        way = way if is_adult(config) else ""
        raise BudgetError(f"{ledger.path}: {error}{way}") from None
