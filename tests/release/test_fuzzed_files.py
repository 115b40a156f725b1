"""A thousand damaged card, schema and model files: one line or a sound answer, nothing spent."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from releases import SCHEMA, new_ledger, released, table

from honestdp import Card, InputError, Schema, Spec, load, make_plan, verify
from honestdp.json_files import sha256
from honestdp.runner.run import run

ODD: list[Any] = [
    None, True, 0, -1, 2**70, 10**400, 1e308, -0.0, "", "\x00", "é" * 300, [], {}, [[[]]],
    {"a": {"b": 1}}, "SIMULATION, NOT PRIVATE", "../../x", [1] * 1000, "inf",
]  # fmt: skip


def damaged_bytes(content: bytes, rng: random.Random) -> bytes:
    some = bytearray(content)
    for _ in range(rng.choice([1, 1, 2, 10])):
        at = rng.randrange(len(some) + 1)
        match rng.randrange(5):
            case 0:
                del some[at:]
            case 1:
                some[at : at + rng.randrange(1, 20)] = rng.randbytes(rng.randrange(20))
            case 2:
                some[at:at] = rng.choice(
                    [b"\x00", b"{", b"]", b'"', b"\xff\xfe", b"[" * 3000, b"NaN"]
                )
            case 3 if some:
                some[at % len(some)] ^= 1 << rng.randrange(8)
            case _:
                some[at:at] = some[: rng.randrange(200)]
    return bytes(some)


def damaged_json(content: bytes, rng: random.Random) -> bytes:
    """Sound JSON that says something odd somewhere."""
    facts = json.loads(content)
    place: Any = facts
    while True:
        key = rng.choice(list(place) if isinstance(place, dict) else range(len(place)))
        inner = place[key]
        if not isinstance(inner, (dict, list)) or not inner or rng.random() < 0.2:
            break
        place = inner
    match rng.randrange(4):
        case 0 if isinstance(place, dict):
            del place[key]
        case 1 if isinstance(place, dict):
            place[f"{key}x"] = rng.choice(ODD)
        case _:
            place[key] = rng.choice(ODD)
    return json.dumps(facts).encode()


def damage(content: bytes, rng: random.Random, sound: bool) -> bytes:
    return (damaged_json if sound and rng.random() < 0.6 else damaged_bytes)(content, rng)


def one_line(error: InputError) -> None:
    assert "\n" not in str(error)
    assert len(str(error)) < 2000


@pytest.mark.parametrize("part", range(4))
def test_cards(part, tmp_path):
    rng = random.Random(part)
    release, ledger = released(["composition", "repeats", "learnt", "untuned"][part])
    content, before = release.card.to_json(), ledger.head
    for _ in range(90):
        bad = damage(content, rng, sound=True)
        try:
            card = Card.from_json(bad)
            card.prose()
            verify(card, ledger)
        except InputError as error:
            one_line(error)
        else:
            assert card == release.card  # white space
    assert ledger.head == before


@pytest.mark.parametrize("part", range(4))
def test_models(part, tmp_path):
    rng = random.Random(100 + part)
    release = released(["composition", "mlp", "learnt", "numbers"][part])[0]
    for number in range(90):
        folder = tmp_path / str(number)
        release.save(folder)
        name = rng.choice(["model.json", "model.json", "model.safetensors", "card.json"])
        bad = damage((folder / name).read_bytes(), rng, sound=name.endswith("json"))
        (folder / name).write_bytes(bad)
        if rng.random() < 0.7:  # by someone who makes the sums agree
            _agree(folder)
        try:
            found = load(folder)
            found.predict(table())
        except InputError as error:
            one_line(error)


def _agree(folder: Path) -> None:
    try:
        model = json.loads((folder / "model.json").read_text())
        model["tensors_sha256"] = sha256((folder / "model.safetensors").read_bytes())
        (folder / "model.json").write_text(json.dumps(model))
    except (ValueError, TypeError):
        pass
    try:
        card = json.loads((folder / "card.json").read_text())
        card["model_sha256"] = sha256((folder / "model.json").read_bytes())
        (folder / "card.json").write_text(json.dumps(card))
    except (ValueError, TypeError):
        pass


@pytest.mark.parametrize("part", range(4))
def test_schemas(part, tmp_path):
    rng = random.Random(200 + part)
    ledger = new_ledger(tmp_path / "toy.ledger", epsilon=100.0)
    content = SCHEMA.to_toml().encode()
    np.testing.assert_equal(SCHEMA, Schema.from_toml(content.decode()))
    for number in range(75):
        path = tmp_path / f"{number}.toml"
        path.write_bytes(damaged_bytes(content, rng))
        try:
            schema = Schema.load(path)
            if schema.fingerprint == SCHEMA.fingerprint:
                continue  # white space, or a comment
            plan = make_plan(
                Spec(schema=schema, rows=60, epsilon=1.0, delta=1e-5, steps=2, lot_size=8)
            )
            run(plan, table(), ledger)
        except InputError as error:
            one_line(error)
        else:
            pytest.fail("another schema was let in")
    assert ledger.history() == ()
