"""`check_column_kind`: whether a kind of column keeps the contract that privacy rests on."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Sequence
from typing import Any

from honestdp.schema import Column, Schema, Target, column_kinds
from honestdp.testing.column_cells import (
    ODD_CELLS,
    check_encoding,
    check_learning,
    check_made_up,
    check_problems,
    check_structure,
    check_zeros,
    require,
)


def check_column_kind(
    column: Column, cells: Sequence[Any] = (), others: Sequence[Column] = ()
) -> None:
    """Check that the kind of a declared column keeps the contract of `Column`.

    Among other things: an encoded row depends on its own cell alone, no cell raises or makes NumPy
    warn, every row has the same number of stored entries, the dense and the sparse form agree, and
    the declaration survives TOML with its fingerprint. A kind that fails one of these can leak
    records or break ledgers, so run it in the tests of your kind, for several declarations.

    Args:
        column: A declared column of the kind. The kind must be registered.
        cells: Cells that are typical of it, or awkward. A list of odd ones (missing, huge, text,
            bytes, ...) is always checked too.
        others: Columns of the schema that it refers to.

    Raises:
        AssertionError: If the contract is broken; the message says what to change.

    Example:
        >>> from honestdp.schema import Numeric
        >>> check_column_kind(Numeric(name="age", bounds=(0, 110)), ["12", 13, "unknown"])
    """
    schema = _schema(column, others)
    _check_declaration(column, schema)
    _check_form(column)
    sample = [*cells, *ODD_CELLS]
    column = schema.columns[-1]
    if column.learns:
        column = check_learning(column, sample)
        schema = _schema(column, others)
    _check_names(column)
    check_encoding(column, sample)
    check_structure(column, schema, sample)
    _check_representatives(column)
    check_problems(column, sample)
    check_made_up(column, schema)
    if column.keeps_zeros:
        check_zeros(column, schema, sample)


def _schema(column: Column, others: Sequence[Column]) -> Schema:
    target = Target(column=f"{column.name} (target)", classes=("no", "yes"))
    return Schema(name="check", target=target, columns=(*others, column))


def _check_declaration(column: Column, schema: Schema) -> None:
    known = column.kind in column_kinds and column_kinds.get(column.kind) is type(column)
    require(
        column,
        known,
        "is not registered; put @column_kinds.register above the class, and give its field `kind` "
        'a default: kind: Literal["mine"] = "mine"',
    )
    require(column, hash(column) == hash(column.model_copy()), "must be hashable: use tuples")
    again = Schema.from_toml(schema.to_toml())
    require(
        column,
        again == schema,
        "a declaration does not survive to_toml and from_toml; a field must accept what "
        "model_dump makes of it, and None must be its default where None is allowed",
    )
    stored = Schema.model_validate(json.loads(schema.model_dump_json()))
    require(column, stored == schema, "a declaration does not survive JSON; see TOML above")
    prints = {schema.fingerprint, again.fingerprint, stored.fingerprint}
    require(
        column,
        len(prints) == 1,
        "the fingerprint of a schema with it is not stable; a ledger is bound to it",
    )
    declared = {field.alias or name for name, field in type(column).model_fields.items()}
    unknown = column.added_fields - declared
    require(column, not unknown, f"added_fields names fields that do not exist: {unknown}")
    texts = column.describe(), column.label
    require(
        column, all(isinstance(text, str) for text in texts), "label and describe() must be texts"
    )


def _check_form(column: Column) -> None:
    """Check that the example of the form, one line of TOML, declares a column of this kind."""
    if not column.form:
        return
    line = f"example = {{ {', '.join(column.form)} }}"
    require(column, "\n" not in line, "`form` must be keys and values without line ends")
    try:
        values = tomllib.loads(line)["example"]
        made = type(column).model_validate({"name": "example", **values})
    except ValueError as error:
        raise AssertionError(
            f"column kind {column.kind!r}: the values of `form` do not declare such a column: "
            f"{' '.join(str(error).split())[:200]}"
        ) from None
    require(column, values.get("kind") == made.kind, "`form` must say the kind")


def _check_names(column: Column) -> None:
    names = column.encoded_names
    texts = all(isinstance(name, str) and name for name in names)
    require(column, texts, "encoded_names must be texts")
    require(column, len(set(names)) == len(names), "two encoded columns have one name")
    require(
        column,
        column.width == len(names) >= 1,
        f"width is {column.width}, but there are {len(names)} encoded_names",
    )
    require(
        column,
        column.entries is None or 1 <= column.entries <= column.width,
        f"entries is {column.entries}; it must be from 1 to the width {column.width}",
    )
    guess, known = column.squared_norm, column.known_norm
    require(
        column,
        math.isfinite(guess) and 0 <= known <= guess,
        f"squared_norm is {guess} and known_norm {known}; give finite numbers of at least 0, the "
        "second no larger than the first",
    )
    for pieces in (0, 8):
        chosen = column.with_default_encoding(pieces)
        require(
            column,
            chosen.name == column.name and chosen.with_default_encoding(8 - pieces) == chosen,
            "with_default_encoding must give a column of the same name that leaves nothing open",
        )


def _check_representatives(column: Column) -> None:
    """Check the cells at which effects are shown: their labels, and their places on an axis."""
    found = list(column.representatives())
    labels, positions = [one.label for one in found], [one.position for one in found]
    texts = all(isinstance(label, str) and label for label in labels)
    require(column, texts, "the labels of representatives must be texts")
    places = [place for place in positions if place is not None]
    rising = all(map(math.isfinite, places)) and places == sorted(places)
    require(column, rising, "the positions of representatives must be finite numbers that rise")
    require(column, len(places) != 1, "one representative alone with a position makes no line")
