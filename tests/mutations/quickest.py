"""Find the quickest test that notices each seeded bug: `python tests/mutations/quickest.py WORDS`.

For the mutants whose names hold the words (all, without any), the tests that `caught_by` stands for
are put in order of the time that they take on the sound source, and run until one fails. One line
of JSON each: the test to name instead, its seconds and the seconds of all that the mutant names.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from seeded import ROOT, Mutant, Warm, noticed, put_in, warmed
from test_mutants import MUTANTS


def by_time(process: Warm, test: str, known: dict[str, dict[str, float]]) -> dict[str, float]:
    """The seconds of every test that a name stands for, on the sound source, quickest first."""
    if test not in known:
        answer = process.ask(ROOT / "src", [test], every=True)
        assert not answer["trouble"], answer["trouble"]
        assert not answer["failures"], answer["failures"]
        known[test] = dict(sorted(answer["seconds"].items(), key=lambda item: item[1]))
    return known[test]


def quickest(process: Warm, mutant: Mutant, seconds: dict[str, float]) -> dict[str, object]:
    """What to name instead."""
    with tempfile.TemporaryDirectory() as folder:
        put_in(mutant, Path(folder, "src"))
        answer = process.ask(Path(folder, "src"), list(seconds), mutant.file)
    found = noticed(answer)
    return {
        "mutant": mutant.name,
        "named": mutant.caught_by,
        "all": round(sum(seconds.values()), 2),
        "test": found[0]["test"] if found else None,
        "seconds": round(answer["seconds"][found[0]["test"]], 2) if found else None,
        "took": round(answer["took"], 2),
        "trouble": answer["trouble"] or [] if found else answer["failures"],
    }


def main(words: list[str]) -> None:
    known: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder, warmed(Path(folder)) as process:
        for mutant in MUTANTS:
            if all(word in mutant.name for word in words):
                seconds = by_time(process, mutant.caught_by, known)
                print(json.dumps(quickest(process, mutant, seconds)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
