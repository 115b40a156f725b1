"""The pairs: which ways to run are tried with which records."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from neighbour_records import KINDS, NULL, RECORDS, of_kinds, schema
from neighbour_runs import (
    GRID,
    PROCEDURES,
    Net,
    Way,
    broken,
    by_command,
    by_run,
    by_search,
    by_search_apart,
    counts,
    of_a_row_too_many,
    refused,
    stopped_and_resumed,
    stopped_by_its_check,
)
from neighbour_tables import NUMBERS, TABLES, UNREAD

EVERY = [name for name in RECORDS if name != NULL]
FEW = ["plain", "no target", "unparsable", "not finite", "tiny", "huge"]
ODD = ["plain", "no target", "unparsable", "complex", "lists", "a number to predict",
       "just beyond 64 bits"]  # fmt: skip
NUMERIC = ["plain", "no target", "not finite", "huge", "tiny", "smallest", "zeros"]
PAID = ("pandas", "numpy columns")  # of those in memory; the others are simulated, to be quick
IN_MEMORY = [kind for kind in TABLES if kind not in (*UNREAD, *NUMBERS)]
QUICK = ["lists", "rows", "pandas", "pandas objects", "pandas categories", "pandas from csv",
         "polars lenient", "arrow", "numpy columns"]  # fmt: skip
CHECKED: dict[str, Any] = {"check": True, "epsilon": 100.0}  # the table is small
SEARCHED: dict[str, Any] = {"grid": GRID, "procedure": "random-repeats", "mean_runs": 3.0}


# Splits by which both places of the records are test rows, or the second one is.
TESTED = (8, 2)
EVALUATED: dict[str, Any] = {"grid": GRID, "test_share": 0.3, "groups": "job"}


MIXED: dict[str, Any] = {
    "grid": [{"encode": "linear"}, {"model": "mlp", "module__width": 3}, {"encode": "bins"}],
    "procedure": "random-repeats",
    "mean_runs": 3.0,
}


WEIGHED: dict[str, Any] = {**SEARCHED, "metric": "auc", "class_weight": {"yes": 5.0}}


def _procedures() -> list[Way]:
    return [
        Way(f"run, {name}", by_run, FEW[:4], facts={"procedure": name, **facts}, lengths=lengths)
        for name, (facts, lengths) in PROCEDURES.items()
    ]


def _schemas() -> list[Way]:
    searched: dict[str, Any] = {"facts": SEARCHED}
    learnt: dict[str, Any] = {"schema": schema(learn=True), "lengths": False}
    numbers: dict[str, Any] = {"goal": "amounts", "schema": schema("amounts")}
    return [
        Way("run, row norm", by_run, FEW, schema=schema(norm=True)),
        Way("run, row norm, a search", by_run, FEW, schema=schema(norm=True), **searched),
        Way("run, learnt bounds", by_run, FEW, **learnt),
        Way("run, learnt bounds, a search", by_run, FEW, **learnt, **searched),
        Way("run, models and encodings", by_run, FEW, facts=MIXED, lengths=False),
        Way("run, learnt bounds, models and encodings", by_run, FEW, facts=MIXED, **learnt),
        Way("run, learnt bounds and a row norm", by_run, FEW, lengths=False,
            schema=schema(learn=True, norm=True)),
        *(Way(f"run, evaluated, {seed}", by_run, FEW, facts={**EVALUATED, "split_seed": seed},
              lengths=False) for seed in TESTED),
        Way("run, regression, evaluated", by_run, FEW, "amounts", lengths=False,
            schema=schema("amounts"), facts={"test_share": 0.3, "split_seed": TESTED[0]}),
        Way("run, a metric from counts, class weights", by_run, FEW, facts=WEIGHED),
        Way("run, regression", by_run, FEW, **numbers),
        Way("run, regression, a search", by_run, FEW, **numbers, **searched),
        Way("run, regression, learnt bounds", by_run, FEW, "amounts", lengths=False,
            schema=schema("amounts", learn=True)),
        *(Way(f"run, {kind}", by_run, NUMERIC, "numbers", kind, counts()) for kind in NUMBERS),
        *(Way(f"run, {kind}", by_run, [*ODD, "bytes"], kind=kind) for kind in UNREAD),
        Way("run, a simulation", by_run, FEW, paid=False),
    ]  # fmt: skip


def _kinds() -> list[Way]:
    """Every kind of column, and what is learnt about columns and rows."""

    def way(name: str, entrance: Any = by_run, records: list[str] = FEW, **how: Any) -> Way:
        return Way(
            f"{name} by {entrance.__name__}",
            entrance,
            records,
            schema=of_kinds(name),
            lengths="learnt" not in name,
            **how,
        )

    return [
        *(replace(way(name), slow=name in ("curves", "learnt edges")) for name in KINDS),
        *(replace(way(name, by_search, kind="pandas", records=ODD), slow=True) for name in KINDS),
        way("learnt", stopped_and_resumed, ["plain", "huge"]),
        way("texts", by_search_apart, ODD, kind="polars lenient", paid=False),
        *(replace(way(name, records=EVERY), name=f"every record, {name}", slow=True)
          for name in KINDS),
    ]  # fmt: skip


def _models() -> list[Way]:
    def module(**options: Any) -> dict[str, Any]:
        return {"model": lambda: Net(8, **options), "grid": {**GRID, "learning_rate": 0.5}}

    numbers: dict[str, Any] = {"goal": "amounts", "schema": schema("amounts")}
    some = ["plain", "not finite", "tiny", "unparsable"]
    return [
        Way("mlp", by_search, some, facts={"model": "mlp"}),
        Way("mlp, regression", by_search, some, facts={"model": "mlp"}, **numbers),
        Way("module", by_search, some, facts=module(), lengths=False),
        Way("module that is not finite", by_search, some, facts=module(logarithm=True),
            lengths=False),
        Way("module, regression", by_search, some, facts={**module(), "loss": "huber"},
            lengths=False, **numbers),
    ]  # fmt: skip


def _searches() -> list[Way]:
    truths: dict[str, Any] = {"goal": "truths", "schema": schema("truths")}
    return [
        *(Way(f"search, {kind}", by_search_apart, ODD, kind=kind, **truths, paid=kind in PAID)
          for kind in QUICK),
        *(Way(f"search of {goal}", by_search_apart, ODD, goal, "pandas", schema(goal))
          for goal in ("words", "numbers")),
        Way("search of amounts", by_search_apart, ODD, "amounts", "pandas", schema("amounts"),
            {"model": "linear"}),
        Way("search, the target in X", by_search, ODD, kind="pandas", **truths),
        Way("search, lists for numbers", by_search_apart, [*FEW, "a number to predict"], "lists",
            schema=schema("numbers")),
        Way("search, text asked for", by_search, ODD, kind="pandas", **truths,
            facts={"class_dtype": str}),
        Way("search, numbers for words", by_search_apart, [*ODD, "unknown words"], "numbers",
            "pandas", schema("words")),
        Way("search, truths for words", by_search_apart, [*ODD, "unknown words"], "truths",
            "numpy columns", schema("words")),
    ]  # fmt: skip


def _commands() -> list[Way]:
    grid = {"grid": json.dumps(GRID), "procedure": "random-repeats", "set": "mean_runs=3"}
    done: dict[str, Any] = {"ends": "SystemExit"}
    few = ["plain", "tiny"]
    return [
        Way("command, csv, row norm", by_command, few, kind="csv", schema=schema(norm=True),
            **done),
        Way("command, csv, tuned", by_command, few, kind="csv", facts=grid, **done),
        Way("command, parquet, JSON", by_command, few, "amounts", "parquet", schema("amounts"),
            {"json": None}, paid=False, **done),
    ]  # fmt: skip


def _failures() -> list[Way]:
    return [
        Way("stopped and resumed", stopped_and_resumed, FEW, facts=SEARCHED),
        Way("refused", refused, FEW, ends="BudgetError"),
        Way("broken", broken, FEW, facts=SEARCHED, ends="SearchError"),
        Way("of a row too many", of_a_row_too_many, FEW, ends="InputError"),
        Way("checked", by_run, FEW, facts=CHECKED),
        Way("checked, a search", by_run, FEW, facts={**CHECKED, **SEARCHED}),
        Way("stopped by its check", by_run, ODD, "numbers", schema=schema("words"), facts=CHECKED,
            ends="MisfitError"),
        Way("stopped by its check, resumed", stopped_by_its_check, ODD, "numbers",
            schema=schema("words"), facts=CHECKED),
    ]  # fmt: skip


def held(kind: str) -> list[str]:
    """Every record, but for whole numbers that polars cannot read from a file."""
    beyond = ("huge whole numbers", "huge, as text") if kind == "polars from csv" else ()
    return [name for name in EVERY if name not in beyond]


def _slow() -> list[Way]:
    """Every record: with every kind of table, kind of schema, and from the shell."""
    every = [
        Way("row norm", by_run, EVERY, schema=schema(norm=True)),
        Way("learnt bounds", by_run, EVERY, schema=schema(learn=True), lengths=False),
        Way("regression", by_run, EVERY, "amounts", schema=schema("amounts")),
        Way("a search", by_run, EVERY, facts=SEARCHED),
        *(Way(kind, by_run, EVERY, kind=kind) for kind in UNREAD),
        *(Way(kind, by_search_apart, EVERY, "numbers", kind, counts(), paid=False)
          for kind in NUMBERS),
        Way("digits", by_search_apart, EVERY, "digits", "pandas", schema("digits")),
        *(Way(kind, by_search_apart, held(kind), "truths", kind, schema("truths"),
              paid=kind in PAID) for kind in IN_MEMORY),
        *(Way(f"command, {kind}", by_command, ODD, kind=kind, ends="SystemExit")
          for kind in ("csv", "parquet")),
    ]  # fmt: skip
    return [replace(way, name=f"every record, {way.name}", slow=True) for way in every]


WAYS = [
    *_procedures(),
    *_schemas(),
    *_kinds(),
    *_models(),
    *_searches(),
    *_commands(),
    *_failures(),
    *_slow(),
]
