"""Docstrings of the public API: they name every parameter and every error, and examples run."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

import honestdp

PACKAGES = ("honestdp", "honestdp.audit", "honestdp.engine", "honestdp.testing")
BASES = (  # of kinds
    "honestdp.executors.Executor",
    "honestdp.metrics.Metric",
    "honestdp.models.base.Description",
    "honestdp.procedures.Procedure",
    "honestdp.registry.Registry",
    "honestdp.candidates.Candidate",
    "honestdp.optimizers.base.Optimizer",
    "honestdp.engine.models.base.Model",
    "honestdp.schema.kinds.base.Column",
)


@dataclass(frozen=True)
class Documented:
    """A public function, class, method or property.

    An override without a docstring has that of the method it overrides.

    Attributes:
        name: Where it is.
        thing: What has the docstring.
        function: The function that runs; of a class, the class itself.
        parameters: Those that the docstring must name.
    """

    name: str
    thing: Any
    function: Any
    parameters: tuple[str, ...]

    @property
    def doc(self) -> str:
        return inspect.getdoc(self.thing) or ""

    def missing(self) -> list[str]:
        """What its docstring should have and has not."""
        if not self.doc:
            return ["docstring"]
        entries = _entries(self.doc, "Args") | _entries(self.doc, "Attributes")
        lacking = [name for name in self.parameters if name not in entries]
        if _raises(self.function) and not re.search(r"^Raises:$", self.doc, re.MULTILINE):
            lacking.append("Raises:")
        return lacking


def _entries(doc: str, section: str) -> set[str]:
    """The names that a section of a docstring explains."""
    found = re.search(rf"^{section}:\n((?:[ \t]+.*\n|\n)+)", doc + "\n", re.MULTILINE)
    if not found:
        return set()
    names = re.findall(r"^ {4}([\w*, ]+):(?: |$)", found[1], re.MULTILINE)
    return {name.strip(" *") for group in names for name in group.split(",")}


def _raises(thing: Any) -> bool:
    """Whether the body of a function raises an error of its own."""
    if not inspect.isfunction(thing):
        return False
    tree = ast.parse(textwrap.dedent(inspect.getsource(thing)))
    found = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc]
    return any("NotImplementedError" not in ast.unparse(one) for one in found)


def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    names = inspect.signature(function).parameters
    return tuple(name for name in names if name not in ("self", "cls") and name[0] != "_")


def _methods(name: str, owner: type) -> Iterator[Documented]:
    for attribute, value in vars(owner).items():
        if attribute.startswith("_"):
            continue
        function = value
        if isinstance(value, classmethod | staticmethod):
            function = value.__func__
        elif isinstance(value, property):
            function = value.fget
        elif hasattr(value, "func"):  # a cached property
            function = value.func
        if inspect.isfunction(function) and function.__module__.startswith("honestdp"):
            thing = value if isinstance(value, property) else function
            yield Documented(f"{name}.{attribute}", thing, function, _parameters(function))


def _constructor(owner: type) -> tuple[str, ...]:
    if issubclass(owner, BaseException) or inspect.isabstract(owner):
        return ()
    if getattr(owner, "_is_protocol", False):
        return ()
    return _parameters(owner)


def public() -> Iterator[Documented]:
    names = [
        f"{home}.{name}" for home in PACKAGES for name in importlib.import_module(home).__all__
    ]
    for full in (*names, *BASES):
        home, name = full.rsplit(".", 1)
        thing = getattr(importlib.import_module(home), name)
        if inspect.isclass(thing):
            yield Documented(full, thing, thing, _constructor(thing))
            yield from _methods(full, thing)
        elif inspect.isfunction(thing):
            yield Documented(full, thing, thing, _parameters(thing))


PUBLIC = {one.name: one for one in public()}


def test_there_is_something_to_check() -> None:
    assert len(PUBLIC) > 100
    assert {f"honestdp.{name}" for name in honestdp.__all__} - {"honestdp.__version__"} <= set(
        PUBLIC
    )


@pytest.mark.parametrize("one", PUBLIC.values(), ids=PUBLIC)
def test_a_docstring_names_every_parameter(one: Documented) -> None:
    assert one.missing() == []


# The contract suites take seconds each; tests/testing runs them.
QUICK = [one for one in PUBLIC.values() if not one.name.startswith("honestdp.testing.")]
EXAMPLES = [one for one in QUICK if ">>>" in one.doc]


@pytest.mark.parametrize("one", EXAMPLES, ids=lambda one: one.name)
def test_an_example_runs(one: Documented, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    names = dict(vars(importlib.import_module(one.function.__module__)))
    test = parser.get_doctest(one.doc, names, one.name, None, None)
    report: list[str] = []
    runner.run(test, out=report.append)
    assert runner.failures == 0, "".join(report)
