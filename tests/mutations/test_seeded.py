"""What counts as a bug that was noticed, and what does not: each by a bug made for it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from seeded import Mutant, Warm, check_caught, noticed
from warm import Failure, module_name

TEST = "tests/privacy/test_guess.py"
FILE, GOOD, BAD = "privacy/guess.py", "guess_chance(2 * epsilon,", "guess_chance(epsilon,"


def failed(when: str, *error: str) -> Failure:
    return Failure(test="a", when=when, error=[*error, "Exception", "object"], text="")


@pytest.mark.parametrize(
    ("failure", "counts"),
    [
        (failed("call", "AssertionError"), True),
        (failed("call", "ValueError"), True),
        (failed("setup", "AssertionError"), False),
        (failed("teardown", "AssertionError"), False),
        (failed("call", "ModuleNotFoundError", "ImportError"), False),
        (failed("call", "UnboundLocalError", "NameError"), False),
    ],
)
def test_a_bug_is_noticed_by_a_test_that_fails_in_its_own_body(failure, counts) -> None:
    answer = {"trouble": "", "failures": [failure], "seconds": {}, "drawn": [], "took": 0.0}
    assert bool(noticed(answer)) == counts


def test_names_of_modules() -> None:
    assert module_name("honestdp/privacy/guess.py") == "honestdp.privacy.guess"
    assert module_name("honestdp/cli/__init__.py") == "honestdp.cli"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("good", "bad", "test", "words"),
    [
        (GOOD, GOOD + " ", TEST, "survived"),
        (GOOD, "guess_chance(2 * epsilom,", TEST, "survived .*NameError"),
        (GOOD, "guess_chance(2 ** ** epsilon,", TEST, "SyntaxError"),
        ("import math\n", "import maths\n", TEST, "not collected: .*No module named"),
        (GOOD, BAD, TEST + "::test_that_is_not_there", "pytest ended with .*after 0 tests"),
        (GOOD, BAD, "tests/mutations/test_seeded.py::test_that_fails_in_any_case", "sound source"),
    ],
    ids=["harmless", "no name", "no Python", "no module", "no test", "fails anyway"],
)
def test_what_is_no_kill(process: Warm, good, bad, test, words) -> None:
    with pytest.raises(AssertionError, match=f"(?s){words}"):
        check_caught(Mutant("made for this", FILE, good, bad, test), process)


@pytest.mark.slow
def test_neither_is_time_that_runs_out(process: Warm, monkeypatch) -> None:
    check_caught(Mutant("made for this", FILE, GOOD, BAD, TEST), process)
    monkeypatch.setattr("seeded.SECONDS", 0.05)
    with pytest.raises(AssertionError, match="no answer within"):
        check_caught(Mutant("made for this", FILE, GOOD, BAD, TEST), process)


@pytest.mark.slow
def test_a_copy_whose_text_is_not_the_one_that_is_loaded_shows_nothing(
    process: Warm, monkeypatch
) -> None:
    """The bug is put into a module that another file shadows."""
    import seeded

    def shadowed(mutant: Mutant, source) -> None:
        put_in(mutant, source)
        (source / "honestdp" / "privacy" / "guess").mkdir()
        sound = (seeded.ROOT / "src" / "honestdp" / FILE).read_text()
        (source / "honestdp" / "privacy" / "guess" / "__init__.py").write_text(sound)

    put_in = seeded.put_in
    monkeypatch.setattr("seeded.put_in", shadowed)
    with pytest.raises(AssertionError, match="another text of it was run"):
        check_caught(Mutant("made for this", FILE, GOOD, BAD, TEST), process)


def test_that_fails_in_any_case() -> None:
    """Only in the warm process, where nobody else asks for it."""
    assert Path(sys.argv[0]).name != "warm.py"
