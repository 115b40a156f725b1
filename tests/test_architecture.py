"""What ARCHITECTURE.md and CONTRIBUTING.md say of the lay-out, held to files and to real runs."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

from faults import answer

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "honestdp"
PROGRAM = Path(__file__).with_name("walked_files.py")
WORDS = (ROOT / "ARCHITECTURE.md").read_text()
# What any file may use, and how a command speaks: not part of the main path.
HELPERS = {
    "compiled.py", "errors.py", "files.py", "json_files.py", "precision.py", "progress.py",
    "registry.py", "run_files.py", "sparse_rows.py", "text.py", "units.py", "glossary.py",
    "cli/console.py", "cli/options.py", "cli/registry.py", "cli/result.py",
}  # fmt: skip


def named() -> Iterator[str]:
    """The files in the table of the walk; a name without a folder is in that of the one before."""
    table = WORDS.partition("## The walk of one `tune`")[2].partition("\n## ")[0]
    for row in re.findall(r"^\| \d+ \|.*\| (.*) \|$", table, re.MULTILINE):
        folder = ""
        for file in re.findall(r"`([^`]+)`", row):
            place, slash, _ = file.rpartition("/")
            folder = place + slash or folder
            yield file if slash or (SOURCE / file).is_file() else folder + file


def stated(words: str) -> int:
    """The number in ARCHITECTURE.md before these words."""
    (found,) = re.findall(rf"\*\*(\d+)\*\* {words}", WORDS)
    return int(found)


def test_the_walk_names_files_that_are_there() -> None:
    assert len(list(named())) > 40
    assert not [file for file in named() if not list(SOURCE.glob(file))]


def test_a_folder_of_tests_is_a_package_or_has_a_stated_purpose() -> None:
    words = (ROOT / "CONTRIBUTING.md").read_text().partition("## Where a test goes")[2]
    rows = re.findall(r"^\| (`.*?) \|", words.partition("\n## ")[0], re.MULTILINE)
    across = {folder for row in rows for folder in re.findall(r"`(\w+)`", row)}
    tests = {place.parent.name for place in (ROOT / "tests").glob("*/*.py")}
    packages = {place.parent.name for place in SOURCE.glob("*/__init__.py")}
    assert across <= tests <= across | packages


@pytest.mark.slow
def test_the_walk_is_as_long_as_stated(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "tests" / "cli"))
    plain, search = tmp_path / "plain", tmp_path / "search"
    plain.mkdir()
    search.mkdir()
    walk = answer(PROGRAM, plain, timeout=300)
    main = set(walk["run"]) - HELPERS
    assert len(main) <= stated("files are on the main path"), sorted(main)
    assert len({*walk["run"], *walk["report"]}) <= stated("files in all")
    tuned = answer(PROGRAM, search, "--grid", "kappa-4", timeout=300)
    passed = {file for one in (walk, tuned) for files in one.values() for file in files}
    never = [file for file in named() if not any(fnmatch(one, file) for one in passed)]
    assert not never, "on the table of the walk, and not passed through"


def test_every_hard_dependency_is_explained() -> None:
    facts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = {re.split(r"[<>=]", one)[0] for one in facts["dependencies"]}
    table = WORDS.split("## What it depends on")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| ")][1:]
    assert {name.strip() for row in rows for name in row.split(",")} == wanted


def test_every_package_has_its_tests_where_contributing_says() -> None:
    together = {"executors", "metrics", "models", "optimizers", "procedures"}
    packages = {place.parent.name for place in SOURCE.glob("*/__init__.py")}
    folders = {place.name for place in (ROOT / "tests").iterdir() if place.is_dir()}
    assert packages - folders == together
    said = (ROOT / "CONTRIBUTING.md").read_text()
    for name in together:
        assert f"`{name}`" in said
        assert (ROOT / "tests" / "testing" / f"test_{name}.py").is_file()
    outside = {"test_architecture", "test_benchmarks", "test_conftest", "test_wheels"}
    modules = {place.stem for place in (ROOT / "tests").glob("test_*.py")} - outside
    assert all((SOURCE / f"{name.removeprefix('test_')}.py").is_file() for name in modules)
