"""`honestdp ledger create | show | verify | amend`: the budget of a data set."""

from __future__ import annotations

from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from honestdp.cli.console import Console, agrees
from honestdp.cli.options import Json, Quiet, number

if TYPE_CHECKING:
    from honestdp.ledger import Charge, Ledger
    from honestdp.schema import Schema

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="The budget of a data set.\n\nExample: honestdp ledger show visits.ledger",
)

File = Annotated[Path, typer.Argument(help="The ledger's file.")]
Header = Annotated[
    Path | None,
    typer.Option(help="The table, for a schema with wildcards; only its header is read."),
]


@app.command("create")
def create(
    path: File,
    schema: Annotated[Path, typer.Option(help="The schema of the table it is for.")],
    epsilon: Annotated[
        float, typer.Option(parser=number, metavar="X", help="The total, for ever.")
    ],
    delta: Annotated[float, typer.Option(parser=number, metavar="X", help="The total, for ever.")],
    data: Header = None,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Create a ledger: the total that may ever be spent on a data set.

    Example: honestdp ledger create visits.ledger --schema visits.toml --epsilon 2 --delta 1e-6
    """
    from honestdp.ledger import Ledger

    found = _schema(schema, data)
    made = Ledger.create(path, schema=found, epsilon=epsilon, delta=delta)
    Console(json_, quiet).answer(
        f"created: {path}, for {made.opening.dataset!r}: epsilon {epsilon:g}, delta {delta:g}",
        {"ledger": str(path), "head": made.head},
    )


@app.command("show")
def show(
    path: File,
    entries: Annotated[
        bool,
        typer.Option("--entries", help="With --json: every entry as it is stored, to be checked."),
    ] = False,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show what was spent, on what, and what is left.

    Example: honestdp ledger show visits.ledger
    """
    from honestdp.errors import InputError
    from honestdp.ledger import Ledger
    from honestdp.ledger.plans import procedure_name
    from honestdp.privacy.guess import guess_chance
    from honestdp.text import columns, down, in_100, small, up

    if entries and not json_:
        raise InputError("--entries goes with --json")
    ledger = Ledger.inspect(path)
    left, history = ledger.remaining(), ledger.history()
    opening, attack = ledger.opening, ledger.attack()
    most = guess_chance(opening.epsilon, opening.delta)
    facts: dict[str, Any] = {
        "dataset": opening.dataset,
        "unit": opening.unit,
        "epsilon": opening.epsilon,
        "delta": opening.delta,
        "remaining": {"epsilon": left.epsilon, "delta": left.delta},
        "attack": {**attack.to_dict(), "worst_case": most},
        "charges": [
            {
                "charge": charge.receipt.id,
                "epsilon": charge.receipt.epsilon,
                "delta": charge.receipt.delta,
                "procedure": procedure_name(charge.plan),
                "released": charge.released,
                **({"checks": _checks(charge)} if charge.checks else {}),
            }
            for charge in history
        ],
        "head": ledger.head,
        **(_entries(ledger) if entries else {}),
    }
    rows = [
        (c.receipt.id, up(c.receipt.epsilon), small(c.receipt.delta),
         _state(c), str(c.plan.get("model", "")))
        for c in history
    ]  # fmt: skip
    lines = [
        f"{opening.dataset}: a total of epsilon {opening.epsilon:g}, delta {opening.delta:g}, "
        f"for {opening.unit}",
        f"left: epsilon {down(left.epsilon)}, for something of delta 0; a training may cost a "
        "little more (costs compose to less than their sum: try `honestdp tune --dry-run`)",
        f"a bet on one row: right at most {in_100(attack.success)} times in 100 with all that was "
        "charged so far (if what each run cost was settled before the first result was seen), "
        f"at most {in_100(most)} with all that this ledger may ever grant; a coin: 50",
        *(columns(["charge", "epsilon", "delta", "", "model"], rows) if rows else ["no charge"]),
        f"head {ledger.head}",
        *(["(a charge has the number of its entry; its release is an entry too)"] if rows else []),
    ]
    Console(json_, quiet).answer("\n".join(lines), facts)


@app.command("verify")
def verify(
    path: File,
    head: Annotated[str | None, typer.Option(help="A head recorded earlier (on a card).")] = None,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check every entry; with a head, that nothing was cut off or replaced since.

    Example: honestdp ledger verify visits.ledger --head 1323fdd4...
    """
    from honestdp.ledger import Ledger

    ledger = Ledger.inspect(path)
    ledger.verify(head)
    Console(json_, quiet).answer("every entry is valid", {"sound": True, "head": ledger.head})


@app.command("amend")
def amend(
    path: File,
    schema: Annotated[Path, typer.Option(help="The corrected schema.")],
    data: Header = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Amend it unasked.")] = False,
    json_: Json = False,
    quiet: Quiet = False,
) -> None:
    """Record that the schema was corrected: the ledger is for the new one, and nothing is refunded.

    A charge that the check of `honestdp tune` stopped then pays for a plan with the new schema.

    Example: honestdp ledger amend visits.ledger --schema corrected.toml
    """
    from honestdp.errors import InputError
    from honestdp.ledger import Ledger

    console, ledger, found = Console(json_, quiet), Ledger.inspect(path), _schema(schema, data)
    if not yes:
        console.note(
            f"{path} is for {ledger.opening.dataset!r}. From now on plans must be for {schema}, "
            "no longer for the schema before; what was spent stays spent."
        )
        if console.silent or not agrees("Amend it?"):
            raise InputError(f"ledger: {path} stays as it is; --yes amends it")
    head = ledger.amend(found)
    console.answer(f"amended: {path}, for {schema}", {"ledger": str(path), "head": head})


def _entries(ledger: Ledger) -> dict[str, Any]:
    """Every entry, and the head that follows from just these."""
    from honestdp.ledger.chain import link

    bodies = ledger.entries()
    return {"head": reduce(link, bodies, ""), "entries": list(bodies)}


def _schema(schema: Path, data: Path | None) -> Schema:
    """A schema, with its wildcards filled in from a table's header."""
    from honestdp.schema import Schema
    from honestdp.schema.files import TableFile

    table = None if data is None else TableFile(data)
    found = Schema.load(schema, None if table is None else table.names)
    if table is not None:
        table.check([found.target.column])  # it has a header, then
    return found


def _state(charge: Charge) -> str:
    if charge.released:
        return "released"
    return "stopped by a check" if charge.stopped else "not released"


def _checks(charge: Charge) -> dict[str, Any]:
    stopped = sum(asking.stopped for asking in charge.askings)
    return {"asked": len(charge.askings), "stopped": stopped, "left": charge.checks_left}
