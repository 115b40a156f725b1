"""No word without an explanation."""

from __future__ import annotations

import json
import math

from cli_calls import complaint

from honestdp.glossary import GLOSSARY
from honestdp.procedures import procedures


def test_words(shell) -> None:
    assert GLOSSARY.items() <= json.loads(shell("words", "--json").out).items()
    assert "in units of the clip norm" in " ".join(shell("words", "noise_multiplier").out.split())
    assert "did you mean 'epsilon'?" in complaint(shell("words", "epsilom"))


def test_every_procedure_is_explained(shell) -> None:
    assert set(procedures.names()) <= set(json.loads(shell("words", "--json").out))


def test_the_chances_named_are_right() -> None:
    for epsilon, hundredths in ((1, 74), (3, 96)):
        assert str(hundredths) in GLOSSARY["epsilon"]
        chance = math.exp(epsilon) / (1 + math.exp(epsilon))
        assert math.ceil(100 * chance) == hundredths


def test_the_plan_points_to_them(shell) -> None:
    said = shell("tune", "visits.csv", "--schema", "visits.toml", "--epsilon", 1, "--dry-run")
    assert "honestdp words" in said.err
