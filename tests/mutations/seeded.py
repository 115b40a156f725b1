"""Seeded bugs: one line of a copy of the source changed, and the test that must notice.

The tests are run by a warm process (`warm`), on the sound source first: a test that fails there
notices nothing. A bug counts as noticed only if its test ran and failed in its own body; tests that
could not be collected, set up or ended in time say nothing, and neither does a bug by which the
source no longer works at all.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import warm

ROOT = Path(__file__).parent.parent.parent
PACKAGES = {"honestdp": ROOT / "src", "honestdp_reproduction": ROOT / "reproduction" / "src"}
SECONDS = 900.0
# A test does not notice by these: the change to the source is no plausible mistake then.
BROKEN = {"ImportError", "NameError", "SyntaxError"}


class Mutant(NamedTuple):
    """A line of a file of honestdp, what becomes of it, and the test that must fail: one of any
    tier, and the quickest, for it is run on the sound source too."""

    name: str
    file: str
    good: str
    bad: str
    caught_by: str


def name(mutant: Mutant) -> str:
    """A test's id."""
    return mutant.name.replace(" ", "-")


def with_package(file: str) -> Path:
    """A mutant's file below the folder of its package: the library's, unless it says otherwise."""
    named = Path(file)
    return named if named.parts[0] in PACKAGES else Path("honestdp", named)


def check_line(mutant: Mutant) -> None:
    """The line to change is there, once."""
    path = with_package(mutant.file)
    text = (PACKAGES[path.parts[0]] / path).read_text()
    assert text.count(mutant.good) == 1, "the line has moved; mend the mutant"


def check_test(mutant: Mutant) -> None:
    """The test that must notice is there; else only the slow tests would find out that it moved."""
    file, _, test = mutant.caught_by.partition("::")
    text = (ROOT / file).read_text()
    assert not test or f"def {test.partition('[')[0]}(" in text, (
        "the test has moved; mend the mutant"
    )


class Warm:
    """A warm process that runs tests on a source, sound or not.

    passed: a folder for what is known of the sound source, which several of them may share.
    """

    def __init__(self, passed: Path) -> None:
        self._passed = passed
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
        self._process = subprocess.Popen(
            [sys.executable, str(Path(warm.__file__))],
            cwd=ROOT,
            env={**inherited, **warm.QUIET},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def close(self) -> None:
        """It ends when nobody can ask it any more."""
        self._process.communicate(timeout=60)

    def ask(
        self, sources: list[Path], tests: list[str], file: Path | None = None, every: bool = False
    ) -> warm.Answer:
        """What tests say of the source in some folders; `file`, of the first, has a bug."""
        request = warm.Request(
            sources=[str(source) for source in sources],
            file=None if file is None else str(file),
            tests=tests,
            every=every,
            seconds=SECONDS,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def check_sound(self, test: str) -> None:
        """A test passes here without any bug; and the kernels that it needs are compiled then."""
        mark = self._passed / sha256(test.encode()).hexdigest()
        if not mark.exists():
            answer = self.ask(list(PACKAGES.values()), [test])
            assert not answer["trouble"], answer["trouble"]
            assert not answer["failures"], f"fails on the sound source: {answer['failures']}"
            mark.touch()

    def with_bug(self, mutant: Mutant, every: bool = False) -> warm.Answer:
        """What the test named says of a copy of the source that has the bug."""
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "src")
            put_in(mutant, source)
            file = with_package(mutant.file)
            return self.ask([source], [mutant.caught_by], file, every)


def put_in(mutant: Mutant, source: Path) -> None:
    """Make a copy of the source with the bug.

    Kernels that are compiled go with it: each knows the text that it was made from (see
    honestdp.compiled). So does byte code, but for that of the file changed.
    """
    for sources in PACKAGES.values():
        shutil.copytree(sources, source, dirs_exist_ok=True)
    target = source / with_package(mutant.file)
    for kept in (target.parent / "__pycache__").glob(f"{target.stem}.*.pyc"):
        kept.unlink()
    target.write_text(target.read_text().replace(mutant.good, mutant.bad))


@contextmanager
def warmed(passed: Path) -> Iterator[Warm]:
    """A warm process, until it is not needed any more."""
    process = Warm(passed)
    try:
        yield process
    finally:
        process.close()


def noticed(answer: warm.Answer) -> list[warm.Failure]:
    """The failures by which a bug is noticed."""
    return [
        failure
        for failure in answer["failures"]
        if failure["when"] == "call" and not BROKEN.intersection(failure["error"])
    ]


def check_caught(mutant: Mutant, process: Warm) -> None:
    """The test named passes on the source, and fails on a copy of it that has the bug."""
    process.check_sound(mutant.caught_by)
    answer = process.with_bug(mutant)
    assert not answer["trouble"], answer["trouble"]
    assert noticed(answer), f"survived {mutant.caught_by}: {answer['failures']}"
