"""Find the quickest test that notices each seeded bug: `python tests/mutations/quickest.py WORDS`.

For the mutants whose names hold the words (all, without any), the tests that `caught_by` stands for
are put in order of the time that they take on the sound source, and run until one fails. One line
of JSON each: the test to name instead, its seconds, and those of all that the mutant names.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from seeded import PACKAGES, Mutant, Warm, noticed, put_in, warmed, with_package
from test_mutants import MUTANTS


def by_time(process: Warm, test: str, known: dict[str, dict[str, float]]) -> dict[str, float]:
    """The seconds of every test that a name stands for, on the sound source, quickest first.

    Tests whose examples are drawn come last: they might notice today and not tomorrow.
    """
    if test not in known:
        answer = process.ask(list(PACKAGES.values()), [test], every=True)
        assert not answer["trouble"], answer["trouble"]
        assert not answer["failures"], answer["failures"]
        drawn, seconds = set(answer["drawn"]), answer["seconds"]
        order = sorted(seconds, key=lambda one: (one in drawn, seconds[one]))
        known[test] = {one: seconds[one] for one in order}
    return known[test]


def quickest(process: Warm, mutant: Mutant, seconds: dict[str, float]) -> dict[str, object]:
    """What to name instead."""
    with tempfile.TemporaryDirectory() as folder:
        put_in(mutant, Path(folder, "src"))
        answer = process.ask([Path(folder, "src")], list(seconds), with_package(mutant.file))
    test = next((failure["test"] for failure in noticed(answer)), None)
    found = {"mutant": mutant.name, "named": mutant.caught_by, "all": sum(seconds.values())}
    if test is None:
        return {**found, "trouble": answer["trouble"] or answer["failures"]}
    function = test.partition("[")[0]
    alike = (time for other, time in seconds.items() if other.partition("[")[0] == function)
    return {**found, "test": test, "seconds": seconds[test], "with all its cases": sum(alike)}


def main(words: list[str]) -> None:
    known: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder, warmed(Path(folder)) as process:
        for mutant in MUTANTS:
            if all(word in mutant.name for word in words):
                seconds = by_time(process, mutant.caught_by, known)
                print(json.dumps(quickest(process, mutant, seconds)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
