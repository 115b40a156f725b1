"""`honestdp tune`: a private model from a table, under one budget; and `honestdp resume`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from honestdp.cli.config import CHOSEN_ON, READING, TuneConfig
from honestdp.cli.console import Console, Stopped, agrees
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
    from honestdp.schema import Schema, TableFile

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
    calibration_share: Annotated[
        str | None,
        typer.Option(
            metavar="X",
            help="Share of rows held out to correct the model's probabilities by; 0: none. By "
            "default a twentieth where rows are many enough.",
        ),
    ] = None,
    decision_threshold: Annotated[
        str | None,
        typer.Option(
            metavar="P",
            help="Probability above which the answer is the second of two classes; balanced: its "
            "share; cost:5: where missing it costs 5 times a false alarm. By default 0.5.",
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
        "test_share": None if test_share in (None, "auto") else number(test_share or ""),
        "calibration_share": _number_or_text(calibration_share),
        "decision_threshold": _number_or_text(decision_threshold),
        "check": False if no_check else None,
    }  # fmt: skip
    console = Console(json_, quiet)
    config = TuneConfig.of(spec, flags, further or ())
    holds_out = "test" not in config.values and not _is_adult(config)  # public rows say how good
    by_default = {"check": True, "calibration_share": "auto"}
    by_default |= {"test_share": "auto"} if holds_out else {}
    config = TuneConfig({**by_default, **config.values})
    _tune(config, console, dry_run=dry_run, yes=yes)


def _number_or_text(text: str | None) -> float | str | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return text  # for the spec to judge


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
        schema, table, test, public = _tables(config)
        facts = {"epsilon": 1.0, **config.facts} if _is_adult(config) else config.facts
        if "epsilon" not in facts:
            raise InputError("epsilon: none; give the budget, such as --epsilon 1")
        facts |= _stored_choice(config)
        spec = Spec(schema=schema, rows=_rows(config, table, schema), **facts)
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
        console.answer(f"{done}{_would_fit(config, plan, table)}", plan.public())
        return
    out = config.path("out") or Path(f"{schema.name}-run")
    test = None if test is None else public_rows(schema, test)
    ledger = None if "seed" in config.values else _ledger(config, plan, table, out, console, yes)
    plan, ask = _with_stopped_charge(plan, ledger, ask, out, console)
    release = _carried_out(config, plan, table, ledger, executor, out, console, ask)
    show(release, ledger, out, test, console)
    if release.winner is None:
        raise typer.Exit(NOTHING)


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


def _tables(config: TuneConfig) -> tuple[Schema, Any, Any, TableFile | None]:
    """The schema, the table (only the header of a file is read), public rows to test on, and public
    rows to choose on."""
    from honestdp.schema import Schema, TableFile
    from honestdp.schema.files import same_table

    data, place, test = config.places("data"), config.path("schema"), config.places("test")
    open_ = config.places("public")
    reading = {name: config.values[name] for name in READING if name in config.values}
    if data is None:
        if place is not None:
            raise InputError("data: none, but a schema; give the CSV or Parquet file too")
        from honestdp.datasets import adult

        schema, table, rows = adult()
        chosen = None if open_ is None else _public_rows(open_, reading)
        return schema, table, rows if test is None else _public_rows(test, reading), chosen
    table = TableFile(data, **reading)
    if place is None:
        way = f"honestdp schema {' '.join(map(_quoted, data))} --out schema.toml"
        raise InputError(f"schema: none; `{way}` writes one to fill in; give it as --schema")
    schema = Schema.load(place, table.names)
    goal = schema.target.column
    if config.values.get("target") not in (None, goal):
        raise fail("target", config.values["target"], f"the schema's target is {goal!r}")
    tested = None if test is None else _public_rows(test, reading)
    chosen = None if open_ is None else _public_rows(open_, reading)
    for file in (table, tested, chosen):  # before anything is charged
        if file is not None:
            file.check([goal])  # first: without a header, a wildcard's names would be cells
            file.check([*schema.input_names, goal])
    for name, file, what in (("test", tested, "accuracy"), ("public", chosen, "best setting")):
        if file is not None and same_table(table, file):
            why = f"is the protected table or a copy of it, whose {what} is not paid for"
            raise fail(name, str(file), f"{why}; give public rows, or leave --{name} out")
    return schema, table, tested, chosen


def _public_rows(places: list[str], reading: Mapping[str, str]) -> TableFile:
    """Public rows: written like the table, as far as that fits them; a query is in their URL."""
    from honestdp.schema import TableFile
    from honestdp.schema.sources.opening import options_of

    fitting = options_of(places) - {"query"}
    return TableFile(places, **{name: v for name, v in reading.items() if name in fitting})


def _quoted(place: str) -> str:
    """A path or a URL as the shell reads it; without its password."""
    from honestdp.schema.sources.urls import without_secrets

    return shlex.quote(without_secrets(place))


def _rows(config: TuneConfig, table: Any, schema: Schema) -> int:
    """Count the rows; raises InputError, before anything is charged, if the user gave another
    number."""
    from honestdp.schema import TableFile

    wanted = [*schema.input_names, schema.target.column]
    found = table.count_rows(wanted) if isinstance(table, TableFile) else len(table)
    if not found:
        raise InputError(f"{table}: holds a header and no rows; give a table")
    if config.values.get("rows", found) != found:
        raise fail("rows", config.values["rows"], f"the table has {found}; leave it out")
    return found


def _ledger(
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


def _with_stopped_charge(
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


def _would_fit(config: TuneConfig, plan: Plan, table: Any) -> str:
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


def _is_adult(config: TuneConfig) -> bool:
    """Whether the table is the one that comes with honestdp."""
    return config.places("data") is None


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
        way = way if _is_adult(config) else ""
        raise BudgetError(f"{ledger.path}: {error}{way}") from None
