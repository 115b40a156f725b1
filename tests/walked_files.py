"""Which files of honestdp a `tune` passes through; run as a program by test_architecture.

    python walked_files.py <folder> [<option of tune> ...]

Prints one line of JSON: the files under src/honestdp of which a function was called from the start
of the command to its end, by who asked: "report" where the page alone did, "run" for all others.
What a module does when it is imported does not count; a compiled kernel does, with the kernels that
it calls.
"""

from __future__ import annotations

import gc
import inspect
import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from types import CodeType, FrameType

from cli_calls import SCHEMA, visits
from numba.core.dispatcher import Dispatcher

import honestdp
from honestdp.cli import main

ROOT = f"{Path(honestdp.__file__).parent}{os.sep}"
FUNCTION = inspect.CO_NEWLOCALS | inspect.CO_OPTIMIZED  # which the body of a class is not


class Walk:
    """A profiler that notes the files of functions that are called."""

    def __init__(self) -> None:
        self.run: set[str] = set()
        self.report: set[str] = set()
        self._known: set[tuple[CodeType, bool]] = set()

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or not ours(code) or code.co_flags & FUNCTION != FUNCTION:
            return
        if (code, False) in self._known:
            return
        above = list(callers(frame))
        if any(one.co_name == "<module>" for one in above):
            return
        for_report = any(one.co_filename.startswith(f"{ROOT}report{os.sep}") for one in above)
        self._known.add((code, for_report))
        (self.report if for_report else self.run).add(code.co_filename)


def ours(code: CodeType) -> bool:
    return code.co_filename.startswith(ROOT) and code.co_filename.endswith(".py")


def callers(frame: FrameType) -> Iterator[CodeType]:
    """The code of honestdp that a call came from, itself included."""
    at: FrameType | None = frame
    while at is not None:
        if ours(at.f_code):
            yield at.f_code
        at = at.f_back


def kernels() -> Iterator[str]:
    """The files of compiled functions that were called, and of those that they call."""
    left = [one for one in gc.get_objects() if is_kernel(one) and one.signatures]
    seen: set[int] = set()
    while left:
        kernel = left.pop()
        if id(kernel) not in seen:
            seen.add(id(kernel))
            function = kernel.py_func
            if ours(function.__code__):
                yield function.__code__.co_filename
            named = (function.__globals__.get(name) for name in function.__code__.co_names)
            left += [one for one in named if is_kernel(one)]


def is_kernel(one: object) -> bool:
    return issubclass(type(one), Dispatcher)


def walked(*options: str) -> Walk:
    walk = Walk()
    table = ("visits.csv", "--schema", "visits.toml", "--epsilon", "2", "--yes", *options)
    sys.argv = ["honestdp", "tune", *table, "--steps", "5", "--lot-size", "50"]
    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere), redirect_stderr(sys.stdout):
        threading.setprofile(walk)
        sys.setprofile(walk)
        try:
            main()
        except SystemExit as end:
            if end.code:
                raise
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]
    walk.run.update(kernels())
    walk.report -= walk.run
    return walk


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    os.chdir(folder)
    visits(folder / "visits.csv")
    (folder / "visits.toml").write_text(SCHEMA)
    found = walked(*sys.argv[2:])
    named = {
        name: sorted(Path(file).relative_to(ROOT).as_posix() for file in files)
        for name, files in (("run", found.run), ("report", found.report))
    }
    print(json.dumps(named))
