"""`honestdp paper NAME` for the accounting figures and tables: computed anew in seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import typer

from honestdp.cli.console import Console
from honestdp.cli.options import Json, Quiet
from honestdp.text import columns
from honestdp_reproduction.cli.experiments import Plot

if TYPE_CHECKING:
    from honestdp.report.picture import Picture

Result = Mapping[str, Any]

_LOGS = ("natural_log", "base2_log")  # `accounting.LOGS`, without its imports


def _table3(json_: Json = False, plot: Plot = None, quiet: Quiet = False) -> None:
    """Table 3: epsilon of three optimizers. On four datasets, of which only sizes matter.

    Example: honestdp paper table3 --plot table3.png
    """
    _check(plot)
    from honestdp_reproduction import table3

    _answer(table3.compute, _table3_text, table3.picture, Console(json_, quiet), plot)


def _fig1(json_: Json = False, plot: Plot = None, quiet: Quiet = False) -> None:
    """Figure 1: LT's cost against MA's, by size. Takes some ten seconds.

    Example: honestdp paper fig1 --plot fig1.html
    """
    _check(plot)
    from honestdp_reproduction import fig1

    _answer(fig1.compute, _fig1_text, fig1.picture, Console(json_, quiet), plot)


def _fig_candidates(json_: Json = False, plot: Plot = None, quiet: Quiet = False) -> None:
    """Appendix B: LT's cost against MA's, by candidates.

    Example: honestdp paper fig-candidates --plot candidates.html
    """
    _check(plot)
    from honestdp_reproduction import fig_candidates

    console = Console(json_, quiet)
    _answer(fig_candidates.compute, _fig_candidates_text, fig_candidates.picture, console, plot)


def add_to(app: typer.Typer) -> None:
    """Add these commands to `honestdp paper`."""
    app.command("table3")(_table3)
    app.command("fig1")(_fig1)
    app.command("fig-candidates")(_fig_candidates)


def _check(plot: Path | None) -> None:
    """Before the accountant is even imported: a wrong file name should not cost a wait."""
    if plot is not None:
        from honestdp.report.picture import check_target

        check_target(plot)


def _answer(
    compute: Callable[[], Result],
    text: Callable[[Result], str],
    picture: Callable[[Result], Picture],
    console: Console,
    plot: Path | None,
) -> None:
    with console.busy("computing"):
        result = compute()
    console.answer("" if console.json else text(result), result)
    if plot is not None:
        from honestdp.report.picture import save

        save(picture(result), plot)
        console.note(f"drawn: {plot}")


def _table3_text(result: Result) -> str:
    from honestdp_reproduction.table3 import NOTES

    headers = (*result["rows"][0], "difference")
    rows = [
        (
            *(row[key] for key in ("dataset", "optimizer", "procedure", "candidates", "n")),
            *(row["steps"], f"{row['delta']:g}", f"{row['epsilon']:.3f}", f"{row['printed']:.2f}"),
            f"{row['epsilon'] - row['printed']:+.3f}",
        )
        for row in result["rows"]
    ]
    return "\n".join(
        [
            "Table 3: final epsilon (sigma 4, L 250, classic RDP conversion)",
            "",
            *columns(headers, rows, left=3),
            "",
            *(fill(note, 98, subsequent_indent="  ") for note in NOTES),
        ]
    )


def _fig1_text(result: Result) -> str:
    natural = result["natural_log"]
    names = [name for name in natural if name.startswith("lt_")]
    headers = (
        *("n", "delta", "MA"),
        *(name.replace("lt_gamma_", "LT ") for name in names),
        *("blow-up", "candidates"),
    )
    rows = [
        (
            *(n, f"{result['delta'][i]:g}", f"{result['ma_one_candidate'][i]:.4f}"),
            *(f"{natural[name][i]:.3f}" for name in names),
            *(f"{natural['blow_up'][i]:.2f}", natural["ma_candidates"][i]),
        )
        for i, n in enumerate(result["n"])
    ]
    return "\n".join(
        [
            "Figure 1: epsilon of LT and MA (sigma 4, L 250, T 10000), natural log in Upsilon",
            "",
            *columns(headers, rows),
            "",
            "MA: composition, here of one candidate. LT: Liu-Talwar's random stopping, by gamma.",
            "blow-up: LT 1 / MA. candidates: as many as MA composes at the cost of LT 1.",
            "",
            *_comparison(result),
        ]
    )


def _fig_candidates_text(result: Result) -> str:
    headers = ["k"]
    for panel in result["panels"]:
        headers += [f"MA, n {panel['n']}", "LT, natural", "LT, base 2"]
    crossings = {panel[log]["crossing"] for panel in result["panels"] for log in _LOGS}
    near = crossings | {k + 1 for k in crossings}
    rows = [
        [
            k,
            *(
                f"{value:.3f}"
                for panel in result["panels"]
                for value in (panel["ma"][i], *(panel[log]["lt"][i] for log in _LOGS))
            ),
        ]
        for i, k in enumerate(result["candidates"])
        if k == 1 or k % 10 == 0 or k in near
    ]
    return "\n".join(
        [
            "Appendix B: epsilon of MA and of LT(gamma = 1/k) (sigma 4, L 250, T 10000)",
            "",
            *columns(headers, rows),
            "",
            *_comparison(result),
        ]
    )


def _comparison(result: Result) -> Iterable[str]:
    """Each figure beside the printed one; under it, indented, why they differ."""
    rows = result["comparison"]
    header, rule, *lines = columns(
        ("figure", "printed", "natural log", "log base 2"),
        [(row["what"], *(_figure(row[key]) for key in ("printed", *_LOGS))) for row in rows],
        left=1,
    )
    yield from (header, rule)
    for line, row in zip(lines, rows, strict=True):
        yield line
        if row["reason"]:
            yield fill(row["reason"], 98, initial_indent="    ", subsequent_indent="    ")


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
