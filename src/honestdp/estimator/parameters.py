"""The parameters of a search that `Spec` does not know: checked, opened and read from files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from numbers import Integral, Real
from os import PathLike
from typing import Any

from honestdp.errors import InputError, fail
from honestdp.estimator.labels import checked_dtype
from honestdp.executors import Executor, executors
from honestdp.ledger import Ledger
from honestdp.planning.public_choice import CHOSEN_ON
from honestdp.planning.spec import Spec
from honestdp.runner.charging import check_paid_or_simulated
from honestdp.schema import Schema

INFER = "infer"  # given as the schema: read it from the rows, in simulations only


def check_parameters(search: Any) -> None:
    """Check the parameters that `Spec` does not; before a row or the ledger is read.

    Raises:
        InputError: If one is wrong.
    """
    seed = search.random_state
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, Integral)):
        raise InputError(
            f"random_state: is of type {type(seed).__name__}; give None, or a whole number to "
            "simulate, which protects nobody"
        )
    if search._infers and not search._simulates:
        raise fail(
            "schema",
            INFER,
            "would read bounds and classes off the rows, unpaid; declare it, or simulate with "
            "random_state=0",
        )
    if not isinstance(search.executor, Executor):
        executors.get(search.executor)
    if not isinstance(search.progress, bool):
        raise fail("progress", search.progress, "must be True or False")
    if search.on_candidate is not None and not callable(search.on_candidate):
        kind = type(search.on_candidate).__name__
        raise InputError(f"on_candidate: is of type {kind}; give a function of one argument")
    if search.folder is not None and not isinstance(search.folder, (str, PathLike)):
        kind = type(search.folder).__name__
        raise InputError(f"folder: is of type {kind}; give a path, or None")
    if search.class_dtype is not None:
        checked_dtype(search.class_dtype)
    if search.options is not None and not isinstance(search.options, Mapping):
        raise InputError(f"options: is of type {type(search.options).__name__}; give a dict")
    if isinstance(search.public, tuple) and len(search.public) != 2:
        raise InputError(f"public: a tuple of {len(search.public)}; give (X, y), or X alone")
    known = further(search)
    for name, value in (search.options or {}).items():
        if name not in known:
            raise fail("options", name, f"there are {', '.join(known)}")
        if value is not None and not isinstance(value, (str, Real)):
            raise fail(name, value, "must be a number, a text, True or False")


def further(search: Any) -> list[str]:
    """The fields of `Spec` that are not parameters of the estimator."""
    own = {*search._get_param_names(), "rows", CHOSEN_ON}
    return [field.name for field in fields(Spec) if field.name not in own]


def declared_schema(schema: Any) -> Schema:
    """The schema that was given, read from its file if it is a path."""
    if isinstance(schema, Schema):
        return schema
    if not isinstance(schema, (str, PathLike)):  # its type alone: it may be data
        kind = type(schema).__name__
        raise InputError(f"schema: is of type {kind}; give a Schema, or a path to its TOML file")
    return Schema.load(schema)


def open_ledger(ledger: Any, random_state: int | None, schema: Schema) -> Ledger | None:
    """The ledger that was given, opened for a schema; None in a simulation."""
    check_paid_or_simulated(ledger, random_state, "random_state")
    if ledger is None:
        return None
    if isinstance(ledger, (str, PathLike)):
        return Ledger.open(ledger, schema=schema)
    if not isinstance(ledger, Ledger):  # its type alone: it may be data
        kind = type(ledger).__name__
        raise InputError(f"ledger: is of type {kind}; give a Ledger, or a path to one")
    return ledger
