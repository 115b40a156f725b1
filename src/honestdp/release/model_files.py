"""A model as files: `model.safetensors` with its numbers, `model.json` with everything else.

Neither is ever unpickled. The JSON holds the schema, so that a saved model reads raw rows, and the
SHA-256 of the other file; the card holds the SHA-256 of the JSON. Errors are one line.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any, Literal, Self

import torch
from pydantic import (
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    TypeAdapter,
    model_serializer,
    model_validator,
)
from safetensors.torch import load as read_tensors
from safetensors.torch import save as write_tensors
from torch import Tensor

from honestdp.engine.answers import PLAIN, Answers
from honestdp.engine.models import Model
from honestdp.errors import InputError
from honestdp.json_files import WIDEST, Part, from_json, room_for, sha256, to_json
from honestdp.models import Architecture, architectures
from honestdp.planning.grid import Setting
from honestdp.release.predictor import Predictor
from honestdp.run_files import MODEL, TENSORS
from honestdp.schema import Schema
from honestdp.text import SIMULATION
from honestdp.version import __version__

PROBE = "probe"


class SavedModel(Part):
    """A model without its parameters: the facts of its architecture (`honestdp.models`), and its
    outputs on made-up rows, by which other code than the original is recognised."""

    model_config = ConfigDict(extra="allow")

    kind: str
    classes: int | None = Field(ge=2)

    @model_validator(mode="after")
    def _known(self) -> Self:
        facts, probe = self.facts
        if self.architecture.probed:
            TypeAdapter(tuple[float | None, ...]).validate_python(probe)
        elif probe is not None:
            raise ValueError("needs no probe")
        self.architecture.check_saved(facts)
        return self

    @property
    def architecture(self) -> Architecture:
        return architectures.get(self.kind)()

    @property
    def facts(self) -> tuple[dict[str, Any], Any]:
        """The facts of the architecture, and the outputs on made-up rows."""
        more = dict(self.model_extra or {})
        probe = more.pop(PROBE, None)
        return more, probe


class SavedAnswers(Part):
    """What is done to a model's outputs, and where its answer changes: `engine.answers`."""

    slope: float = Field(gt=0)
    offset: float
    threshold: float | None = Field(gt=0, lt=1)


class SavedCandidate(Part):
    """A candidate without its parameters. table: Its schema, if that is not the file's. answers:
    How its outputs become answers, if not as they are."""

    setting: dict[str, str | bool | int | float | None]
    noisy_score: float | None
    architecture: SavedModel
    table: dict[str, Any] | None = None
    answers: SavedAnswers | None = None

    @model_serializer(mode="wrap")
    def _without_nothing(self, usual: SerializerFunctionWrapHandler) -> dict[str, Any]:
        found: dict[str, Any] = usual(self)
        optional = ("table", "answers")
        return {name: value for name, value in found.items() if name not in optional or value}


class SavedTable(Part):
    """The schema of a file, as its winner has it."""

    table: dict[str, Any]


class ModelFile(Part):
    """The content of `model.json`. format: 2 where a candidate has answers of its own, which a
    reader of 1 would leave out."""

    format: Literal[1, 2] = 1
    mark: Literal["", "SIMULATION, NOT PRIVATE"]
    honestdp: str
    tensors_sha256: str
    winner: SavedCandidate | None
    others: tuple[SavedCandidate, ...]
    table: dict[str, Any] = Field(alias="schema")


def write_model(
    schema: Schema,
    winner: Predictor | None,
    others: Sequence[Predictor],
    simulated: bool,
    settings: Sequence[tuple[Setting, Model]] = (),
    schemas: Sequence[Schema] = (),
    widest_answers: Answers = PLAIN,
) -> dict[str, bytes]:
    """Write a model to files; returns their contents by name.

    Args:
        schema: The winner's; without a winner, any of the run's.
        winner: The winner; None: nothing was found.
        others: The other candidates that are released.
        simulated: Whether the run was a simulation.
        settings: Those that might have won, if only the winner may be released: the JSON has the
            same length for each of them.
        schemas: The schemas that they have.
        widest_answers: Answers as long as any winner's may be.
    """
    everyone = [*([winner] if winner else []), *others]
    tensors: dict[str, Tensor] = {}
    for i, one in enumerate(everyone):
        for name, value in _tensors(one).items():
            if _place(i) + name in tensors:
                raise InputError(f"model: {name!r} cannot be a parameter's name; choose another")
            tensors[_place(i) + name] = value.detach().cpu().contiguous().clone()
    # Only one entry: safetensors writes several in any order; equal models must give equal bytes.
    numbers = write_tensors(tensors, {"honestdp": SIMULATION if simulated else "model"})
    file = ModelFile(
        format=1 if all(one.answers == PLAIN for one in everyone) else 2,
        mark=SIMULATION if simulated else "",
        honestdp=__version__,
        tensors_sha256=sha256(numbers),
        winner=None if winner is None else _saved(winner, schema),
        others=tuple(_saved(one, schema) for one in others),
        schema=schema.model_dump(mode="json"),
    )
    room = 0
    if file.winner:
        widest = (WIDEST,) * len(_probe(winner)) if winner else ()
        might = (
            _candidate(setting, WIDEST, model, widest, widest_answers)
            for setting, model in settings
        )
        room = room_for(file.winner, might)
    tables = (SavedTable(table=one.model_dump(mode="json")) for one in schemas)
    room += room_for(SavedTable(table=file.table), tables)
    return {MODEL: to_json(file, room), TENSORS: numbers}


def read_model(
    files: Mapping[str, bytes], module: Any = None
) -> tuple[ModelFile, Schema, list[Predictor]]:
    """Read a model from files, the winner first. `module`: the class or factory of a module."""
    file = from_json(ModelFile, files[MODEL], MODEL)
    if sha256(files[TENSORS]) != file.tensors_sha256:
        raise InputError(f"{TENSORS}: is not the one that {MODEL} was written with")
    try:
        tensors = read_tensors(files[TENSORS])
    except Exception as error:  # a Rust library raises many types
        raise InputError(f"{TENSORS}: cannot be read ({type(error).__name__})") from None
    schema = _schema(file.table)
    saved = [*([file.winner] if file.winner else []), *file.others]
    schemas = [schema if one.table is None else _schema(one.table) for one in saved]
    pairs = enumerate(zip(saved, schemas, strict=True))
    found = [_read(i, one, own, tensors, module) for i, (one, own) in pairs]
    if tensors:
        raise InputError(f"{TENSORS}: holds more tensors than {MODEL} declares")
    return file, schema, found


def _schema(table: Mapping[str, Any]) -> Schema:
    try:
        return Schema(**table)
    except InputError as error:
        raise InputError(f"{MODEL}: schema: {error}") from None


def winner_architecture(files: Mapping[str, bytes]) -> Architecture | None:
    """The winner's kind of model, for which no code of a module is needed; None: no winner."""
    winner = from_json(ModelFile, files[MODEL], MODEL).winner
    return None if winner is None else winner.architecture.architecture


def _place(index: int) -> str:
    """The winner's tensors have their own names, those of others are numbered."""
    return f"others/{index}/" if index else ""


def _tensors(one: Predictor) -> dict[str, Tensor]:
    return {**one.model.constants, **one.tensors}


def _saved(one: Predictor, schema: Schema) -> SavedCandidate:
    found = _candidate(one.setting, one.noisy_score, one.model, _probe(one), one.answers)
    if one.schema == schema:
        return found
    return found.model_copy(update={"table": one.schema.model_dump(mode="json")})


def _candidate(
    setting: Setting,
    score: float | None,
    model: Model,
    probe: tuple[float | None, ...],
    answers: Answers,
) -> SavedCandidate:
    return SavedCandidate(
        setting=dict(setting),
        noisy_score=score,
        architecture=_architecture(model, probe),
        answers=None if answers == PLAIN else SavedAnswers(**asdict(answers)),
    )


def _probe(one: Predictor) -> tuple[float | None, ...]:
    return one.model.probe(one.parameters, one.schema.width)


def _architecture(model: Model, probe: tuple[float | None, ...]) -> SavedModel:
    found = model.architecture
    facts = found.saved(model) | ({PROBE: list(probe)} if found.probed else {})
    return SavedModel(kind=found.name, classes=model.loss.classes or None, **facts)


def _read(
    index: int, saved: SavedCandidate, schema: Schema, tensors: dict[str, Tensor], module: Any
) -> Predictor:
    """Read a candidate, and remove its tensors from those of the file."""
    if saved.architecture.classes != (len(schema.target.classes or ()) or None):
        raise InputError(f"{MODEL}: its model and its schema predict different things")
    try:
        facts, probe = saved.architecture.facts
        classes = saved.architecture.classes
        model = saved.architecture.architecture.load(facts, schema.width, classes, module)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"module: could not be constructed ({type(error).__name__})") from None
    take = partial(_take, tensors, _place(index))
    constants = {n: take(n, tuple(v.shape), v.dtype) for n, v in model.constants.items()}
    model = model.with_constants(constants)
    rows = [take(name, shape, torch.float32).flatten() for name, shape in model.layout]
    answers = PLAIN if saved.answers is None else Answers(**saved.answers.model_dump())
    found = Predictor(saved.setting, saved.noisy_score, schema, model, torch.cat(rows), answers)
    if probe is not None:
        _check_probe(found, tuple(probe))
    return found


def _check_probe(found: Predictor, known: tuple[float | None, ...]) -> None:
    try:
        answers = _probe(found)
    except Exception as error:
        raise InputError(f"module: fails on made-up rows ({type(error).__name__})") from None
    if len(answers) != len(known) or not all(map(_close, answers, known)):
        raise InputError(
            "module: its outputs differ from those of the saved one; give its own code"
        )


def _close(a: float | None, b: float | None) -> bool:
    """Equal up to the rounding of other versions of torch."""
    if a is None or b is None:
        return a is b
    return math.isclose(a, b, rel_tol=1e-3, abs_tol=1e-4)


def _take(
    tensors: dict[str, Tensor], place: str, name: str, shape: tuple[int, ...], kind: torch.dtype
) -> Tensor:
    found = tensors.pop(place + name, None)
    if found is None or tuple(found.shape) != shape or found.dtype != kind:
        raise InputError(
            f"{TENSORS}: {(place + name)[:100]!r} is absent or of another shape: "
            "this is another model's file"
        )
    return found
