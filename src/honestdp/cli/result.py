"""The result of `honestdp tune`: the guarantee, the winner, and where the files are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from honestdp.cli.console import Console
from honestdp.errors import InputError
from honestdp.evaluation.words import NOT_QUALITY, UNMEASURED
from honestdp.files import ANYONE, replace_file
from honestdp.release.tested import Tested, tested
from honestdp.run_files import CARD, REPORT, TESTED
from honestdp.schema import Schema, Table, open_rows
from honestdp.text import down, small, up

if TYPE_CHECKING:
    from honestdp.ledger import Ledger
    from honestdp.release.released import Release


def show(
    release: Release, ledger: Ledger | None, out: Path, test: Table | None, console: Console
) -> None:
    """Evaluate the model on public rows, write the report, print the result."""
    found = None
    if test is not None and release.winner is not None:
        with console.busy("evaluating the model on the public test rows"):
            found = _evaluated(release, test, out)
    with console.busy("drawing the report"):
        from honestdp.report.page import write_report

        write_report(out, ledger)
    console.answer(
        "\n".join(_lines(release, ledger, out, found)), _facts(release, ledger, out, found)
    )


def public_rows(schema: Schema, test: Any) -> Table:
    """Open the rows to test a model on; raises InputError, before anything is charged, if none of
    them has a known target."""
    opened, goal = open_rows(schema, test), schema.target
    opened.check([*schema.input_names, goal.column])
    if not opened.rows:
        raise InputError(f"test: {opened.source} holds no rows; give public rows, or leave it out")
    if not goal.known(opened.cells(goal.column)).any():
        wanted = (
            "a number" if goal.classes is None else f"one of {', '.join(map(repr, goal.classes))}"
        )
        raise InputError(
            f"test: no cell of {goal.column!r} in {opened.source} is {wanted}; see the schema: "
            "spelling counts, upper and lower case too"
        )
    return opened


def _evaluated(release: Release, test: Table, out: Path) -> Tested:
    found = tested(release, test, test.cells(release.schema.target.column))
    results = {found.measure: found.value, "rows": found.rows}
    replace_file(out / TESTED, (json.dumps(results) + "\n").encode(), ANYONE)
    return found


def _facts(
    release: Release, ledger: Ledger | None, out: Path, found: Tested | None
) -> dict[str, Any]:
    winner, left = release.winner, None if ledger is None else ledger.remaining()
    facts = {
        "epsilon": release.epsilon,
        "delta": release.delta,
        "procedure": release.card.procedure,
        "best_params": None if winner is None else dict(winner.setting),
        "score": None if winner is None else winner.noisy_score,
        "out": str(out),
        "remaining": None if left is None else {"epsilon": left.epsilon, "delta": left.delta},
    }
    if release.card.calibration is not None:
        facts["calibration"] = release.card.calibration.model_dump(mode="json")
    if release.card.decision_threshold is not None:
        facts["decision_threshold"] = release.card.decision_threshold
    if release.evaluation is not None:
        facts["evaluation"] = release.evaluation.model_dump(mode="json")
    if release.simulated:
        facts["mark"] = release.card.mark
    if found is not None:
        facts[f"test_{found.measure}"] = found.value
    return facts


def _lines(release: Release, ledger: Ledger | None, out: Path, found: Tested | None) -> list[str]:
    card, winner = release.card, release.winner
    mark = f"{card.mark}: " if card.mark else ""
    lines = [
        f"{mark}epsilon {up(release.epsilon)}, delta {small(release.delta)} for all that touched "
        f"the table ({card.procedure})"
    ]
    if winner is None:
        lines.append("  the search ended without a model: nothing is released")
    else:
        called = "winner" if card.selects else "setting"
        lines.append(f"  {called}: " + ", ".join(f"{n} {v}" for n, v in winner.setting.items()))
        if winner.noisy_score is not None:
            lines.append(
                f"  its noisy {card.metric.label} on the rows that candidates were compared on: "
                f"{winner.noisy_score:.4f} ({NOT_QUALITY})"
            )
    lines += [f"  {line}" for line in card.answer_lines]
    if release.evaluation is not None:
        lines += [f"  {line}".rstrip() for line in str(release.evaluation).splitlines()]
    elif found is None and winner is not None:
        lines.append(f"  {UNMEASURED}")
    if found is not None:
        lines.append(f"  {found.measure} on {found.rows} public test rows: {found.value:.4f}")
        if found.unknown:
            column = release.schema.target.column
            lines[-1] += f" ({found.unknown} more have no known {column})"
    if ledger is not None:
        left = down(ledger.remaining().epsilon)
        lines.append(f"  left in {ledger.path}: epsilon {left}")
    files = f"{CARD}, {REPORT} (open it in a browser)"
    lines.append(f"  in {out}: {'' if winner is None else 'the model, '}{files}")
    return lines
