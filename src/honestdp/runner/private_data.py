"""The protected rows, opened once a plan is paid for, and split by public row numbers.

A permutation from the spec's public seed determines which rows train, score and test; it does not
depend on their content. Nothing here is released, and only the table's structure can raise.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from honestdp.engine.examples import Examples, examples
from honestdp.engine.train import Schedule
from honestdp.errors import InputError, fail
from honestdp.ledger import Receipt
from honestdp.planning.pipelines import RowEncoding, learnt_by, learnt_key, open_columns
from honestdp.planning.plan import Plan
from honestdp.planning.questions import AboutCategories, AboutColumns, AboutNorms, Questions
from honestdp.planning.spec import Spec
from honestdp.planning.test_part import group_values
from honestdp.procedures import Draw
from honestdp.randomness import Purpose, Randomness
from honestdp.resume.journal import Journal
from honestdp.schema import Schema, open_rows, with_learnt
from honestdp.schema.encode import Encoded
from honestdp.schema.files import TableFile
from honestdp.schema.learn import ROWS, Numbers, learn_numbers, learn_row_scale
from honestdp.schema.scaling import scale_rows
from honestdp.schema.sources.opening import is_place
from honestdp.schema.tables import Table, check_column, is_lazy

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class Part:
    """Rows to train on, and the schedule of lots."""

    rows: Examples
    schedule: Schedule


@dataclass(frozen=True, eq=False, repr=False)
class TestRows:
    """Rows to evaluate the released model on. Sensitive.

    all: All of them. groups: All of them in their places, those of one group present, for each
    group of the column that the spec names.
    """

    all: Examples
    groups: tuple[Examples, ...]


class Split(NamedTuple):
    """Row numbers of the parts, each in rising order. Public."""

    training: Rows
    validation: Rows
    calibration: Rows
    test: Rows


@dataclass(frozen=True, eq=False, repr=False)
class EncodedRows:
    """The rows in one encoding. Sensitive.

    schema: That of the encoding, with what was learnt (which is paid for) filled in. train: What
    candidates train on. validation: What they are scored on; None if nothing is scored. rest: What
    the winner of subset tuning trains on. calibration: What the winner's probabilities are
    corrected by; None if they are not. test: What the released model is evaluated on; None if it is
    not.
    """

    schema: Schema
    train: Part
    validation: Examples | None
    rest: Part | None
    test: TestRows | None
    calibration: Examples | None = None


@dataclass(frozen=True, eq=False, repr=False)
class PrivateData:
    """The encoded rows. Sensitive.

    plan: The plan of the run. encoded: The rows in each of the plan's encodings.
    """

    plan: Plan
    encoded: tuple[EncodedRows, ...]

    @classmethod
    def open(
        cls,
        plan: Plan,
        table: Any,
        target: Any,
        receipt: Receipt | None,
        randomness: Randomness,
        journal: Journal,
    ) -> PrivateData:
        """Read, encode and split the table."""
        if receipt is None and not randomness.simulated:
            raise InputError("receipt: none; the data is opened only after a charge")
        encodings, opened = plan.spec.encodings, opened_table(plan, table)
        learner = Learner(encodings, plan.questions, opened, target, randomness)
        learnt = journal.learnt(learner.learn)
        found = [learner.encoded(i, learnt_by(encodings, i, learnt)) for i in range(len(encodings))]
        journal.check_rows(
            lambda: (part for _, encoded in found for part in encoded_bytes(encoded))
        )
        chosen = None
        if plan.share is not None:  # every row by its own coin: in the subset, or in the rest
            chosen = randomness.coins(Purpose.SUBSET, 0, 0, plan.share, plan.spec.rows)
        groups = None if plan.spec.groups is None else _groups(plan, opened)
        return cls(plan, tuple(_split_up(plan, *one, chosen, groups) for one in found))

    @property
    def schemas(self) -> tuple[Schema, ...]:
        """The schema of each encoding, with what was learnt; all of it may be released."""
        return tuple(one.schema for one in self.encoded)

    def of(self, draw: Draw) -> EncodedRows:
        """The rows as the model of a draw reads them."""
        return self.encoded[self.plan.spec.encoding_of(draw.setting)]


def _split_up(
    plan: Plan,
    schema: Schema,
    encoded: Encoded,
    chosen: NDArray[np.bool_] | None,
    groups: Rows | None,
) -> EncodedRows:
    """The parts of the rows. chosen: Those in the tuning subset; None without one. groups: The
    number of each row's group, -1 or less for none."""
    training, validation, calibration, test = split(plan)
    first, last = schedules(plan)
    tested = _test_rows(plan, encoded, test, groups) if len(test) else None
    corrects = picked(encoded, calibration) if len(calibration) else None
    if last is None:
        part = Part(picked(encoded, training), first)
        scored = picked(encoded, validation) if len(validation) else None
        return EncodedRows(schema, part, scored, None, tested, corrects)
    assert chosen is not None
    rest = ~chosen
    rest[test] = False
    rest[calibration] = False
    return EncodedRows(
        schema,
        Part(_with_null(encoded, training[chosen[training]]), first),
        _with_null(encoded, validation[chosen[validation]]),
        Part(_with_null(encoded, np.flatnonzero(rest)), last),
        tested,
        corrects,
    )


def _groups(plan: Plan, opened: Table) -> Rows:
    """The number of each row's group; below 0 if it is none of the declared. Sensitive."""
    name = plan.spec.groups
    column = next(one for one in plan.spec.schema.columns if one.name == name)
    ignore_case = bool(getattr(column, "ignore_case", False))
    return opened.cells(column.name).places(group_values(plan.spec.schema, name), ignore_case)


def _test_rows(plan: Plan, encoded: Encoded, test: Rows, groups: Rows | None) -> TestRows:
    """Every group holds all test rows in their places, with those of other groups not present: the
    last bits of an output depend on the size of its batch and on the row's place in it, so that
    with rows of a group packed together one record could move the counts of others."""
    rows = picked(encoded, test)
    if groups is None:
        return TestRows(rows, ())
    own = []
    for i in range(len(group_values(plan.spec.schema, plan.spec.groups))):
        mask = torch.from_numpy(groups[test] == i).to(rows.present)
        own.append(replace(rows, present=rows.present * mask))
    return TestRows(rows, tuple(own))


def opened_table(plan: Plan, table: Any) -> Table:
    """Open a table, after the charge: the rows are read from here on."""
    opened = open_rows(plan.spec.schema, table)
    check_rows(plan.spec, opened.rows)
    return opened


def schedules(plan: Plan) -> tuple[Schedule, Schedule | None]:
    """The schedule of the search, and of the training after it if there is one.

    Neither the sampling probability nor the divisor may depend on the size of a random subset.
    """
    steps, q = plan.training.steps, plan.training.sampling_probability
    first, *last = plan.lot_sizes
    if not last:
        return Schedule(steps, first), None
    return Schedule(steps, first, q), Schedule(steps, last[0], q)


def checked_table(plan: Plan, table: Any, target: Any) -> Any:
    """Open a table in memory; raise InputError, before anything is paid, if it does not have the
    schema's structure.

    Only names and the number of rows are read. The path of a file is not opened and a lazy frame is
    not collected: that would be opening the data. A `TableFile` knows its names and rows, and so
    does what a folder, a URL or a list of paths stands for.
    """
    if target is not None:
        check_column("target", target)
        if len(target) != plan.spec.rows:
            raise InputError(f"target: has {len(target)} rows, the plan is for {plan.spec.rows}")
    if isinstance(table, (str, os.PathLike)) and os.path.isfile(table):
        if not os.access(table, os.R_OK):
            raise fail("table", str(table), "cannot be read")
        return table
    if is_place(table):
        table = TableFile(table)
    if isinstance(table, TableFile):
        wanted = [*plan.spec.schema.input_names, plan.spec.schema.target.column]
        table.check(wanted if target is None else wanted[:-1])
        check_rows(plan.spec, table.count_rows(wanted))
        return table
    if is_lazy(table):
        return table
    opened = open_rows(plan.spec.schema, table)
    if target is None:
        opened.check([plan.spec.schema.target.column])
    check_rows(plan.spec, opened.rows)
    return opened


def check_rows(spec: Spec, rows: int) -> None:
    if rows != spec.rows:
        raise InputError(f"table: has {rows} rows, the plan is for {spec.rows}; make them agree")


def split(plan: Plan) -> Split:
    """Which rows train, which are scored on, which probabilities are corrected by, and which the
    release is evaluated on."""
    public = Randomness.simulation(plan.spec.split_seed)
    draws = public.uniforms(Purpose.SPLIT, 0, 0, plan.spec.rows)
    order = np.argsort(draws, kind="stable")
    search, last = plan.spec.search_rows, plan.spec.rows - plan.spec.test_rows
    cut = search - plan.validation_rows
    return Split(
        training=np.sort(order[:cut]),
        validation=np.sort(order[cut:search]),
        calibration=np.sort(order[search:last]),
        test=np.sort(order[last:]),
    )


class Learner:
    """Learns with noise what a plan leaves open, and encodes the rows once. Sensitive.

    encodings: Those of the plan. questions: What they leave open, with its noise.
    """

    def __init__(
        self,
        encodings: Sequence[RowEncoding],
        questions: Questions,
        opened: Table,
        target: Any,
        randomness: Randomness,
    ) -> None:
        self._encodings, self._questions = encodings, questions
        self._opened, self._target = opened, target
        self._randomness, self._streams = randomness, count()
        self._unscaled: dict[int, Encoded] = {}  # by encoding

    def learn(self) -> dict[str, Numbers]:
        """What is learnt, by key (`planning.pipelines.learnt_key`)."""
        encodings, questions = self._encodings, self._questions
        found: dict[str, Numbers] = {}
        for kind in (AboutColumns, AboutCategories):
            asked = questions.get(kind)
            if asked is None:
                continue
            for one in open_columns(encodings, kind.name):
                schema, only = encodings[one.place].schema, (one.column.name,)
                noise = asked.noise_multiplier
                learnt = learn_numbers(schema, self._opened, noise, self._noise, only=only)
                found[one.key] = learnt[one.column.name]
        norms = questions.get(AboutNorms)
        for place, encoding in enumerate(encodings):
            if encoding.learns_scale:
                assert norms is not None
                schema = with_learnt(encoding.schema, learnt_by(encodings, place, found))
                self._unscaled[place] = unscaled = self._encoded(encoding, schema)
                typical = math.sqrt(encoding.schema.squared_norm)
                noise = norms.noise_multiplier
                scale = learn_row_scale(unscaled.inputs, typical, noise, self._noise)
                found[learnt_key(place, ROWS)] = (scale,)
        return found

    def encoded(self, place: int, learnt: Mapping[str, Numbers]) -> tuple[Schema, Encoded]:
        """The schema of one encoding with what was learnt, and the rows by it."""
        encoding = self._encodings[place]
        try:
            schema = with_learnt(encoding.schema, learnt)
        except InputError:  # its text shows learnt values, and another attempt would learn others
            raise InputError("schema: what was learnt does not fit a column's kind") from None
        found = self._unscaled.pop(place, None)
        if found is None:  # also in a resumed run, which learns nothing again
            return schema, self._encoded(encoding, schema)
        assert schema.row_scale is not None
        scale_rows(found.inputs, schema.row_scale)
        return schema, found

    def _encoded(self, encoding: RowEncoding, schema: Schema) -> Encoded:
        sparse = None if encoding.may_be_sparse else False
        return schema.encode(self._opened, self._target, sparse=sparse)

    def _noise(self, scale: float, amount: int) -> Any:
        stream = next(self._streams)  # one for each histogram
        return self._randomness.rounded_normals(Purpose.BOUNDS, stream, 0, scale, amount)


def encoded_bytes(encoded: Encoded) -> Iterator[bytes]:
    """The whole encoded table as bytes, for a digest. Sensitive."""
    inputs = encoded.inputs
    dense = isinstance(inputs, np.ndarray)
    for part in (inputs,) if dense else (inputs.data, inputs.indices, inputs.indptr):
        yield np.ascontiguousarray(part).tobytes()
    yield np.ascontiguousarray(encoded.targets).tobytes()


def picked(encoded: Encoded, rows: Rows) -> Examples:
    """Some of the encoded rows, as the engine reads them. Sensitive."""
    return examples(encoded.inputs[rows], encoded.targets[rows])


def _with_null(encoded: Encoded, rows: Rows) -> Examples:
    """The rows and one null record: a random subset may be empty."""
    nothing = np.zeros((1, encoded.inputs.shape[1]), np.float32)
    inputs, targets = encoded.inputs[rows], encoded.targets[rows]
    none = -1 if targets.dtype == np.int64 else np.nan
    if isinstance(inputs, np.ndarray):
        inputs = np.concatenate([inputs, nothing])
    else:
        inputs = vstack([inputs, csr_matrix(nothing)], format="csr")
    return examples(inputs, np.append(targets, np.array([none], targets.dtype)))
