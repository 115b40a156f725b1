"""Tests of the tests: a bug that breaks privacy, put in, must make a test fail.

Each mutant changes one line of a copy of the source to a plausible mistake and names the test that
must notice. One runs in the quick tests, to show that the machinery works.
"""

from __future__ import annotations

import audit_mutants
import check_mutants
import engine_mutants
import evaluation_mutants
import face_mutants
import ledger_mutants
import metrics_mutants
import neighbour_mutants
import noise_mutants
import paper_mutants
import privacy_mutants
import public_mutants
import pytest
import release_mutants
import representation_mutants
import search_mutants
import subset_mutants
from seeded import Mutant, Warm, check_caught, check_line, check_test, name

LISTS = (
    privacy_mutants, engine_mutants, noise_mutants, ledger_mutants, search_mutants,
    release_mutants, face_mutants, paper_mutants, neighbour_mutants, audit_mutants,
    check_mutants, representation_mutants, subset_mutants, public_mutants,
    evaluation_mutants, metrics_mutants,
)  # fmt: skip
MUTANTS: list[Mutant] = [mutant for some in LISTS for mutant in some.MUTANTS]
FAST = ("count lost",)


def test_each_has_a_name_of_its_own() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


@pytest.mark.parametrize("mutant", MUTANTS, ids=name)
def test_the_line_is_there(mutant: Mutant) -> None:
    check_line(mutant)
    check_test(mutant)


@pytest.mark.parametrize(
    "mutant",
    [m if m.name in FAST else pytest.param(m, marks=pytest.mark.slow) for m in MUTANTS],
    ids=name,
)
def test_the_bug_is_caught(mutant: Mutant, process: Warm) -> None:
    check_caught(mutant, process)
