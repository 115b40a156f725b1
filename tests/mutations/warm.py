"""A warm process: the libraries are imported once, and every run of tests is a fork of it.

Started as a program it reads requests from its standard input, one line of JSON each, and answers
on its standard output, one line each. A request names a folder of source, and perhaps the module
in it that has a bug; a fork imports honestdp from there and runs the tests named. Nothing of
honestdp is imported before the fork, and no thread runs at the fork, so that a fork is what a fresh
process would be.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import random
import select
import signal
import sys
import tempfile
import time
import traceback
from contextlib import suppress
from pathlib import Path
from types import CodeType
from typing import Any, TypedDict

ROOT = Path(__file__).parent.parent.parent
OURS = {"honestdp", "honestdp_reproduction"}
# Not polars: it starts threads when it is imported.
LIBRARIES = (
    "numpy", "scipy.stats", "scipy.optimize", "scipy.sparse", "scipy.fft", "mpmath",
    "dp_accounting", "dp_accounting.pld.privacy_loss_distribution", "dp_accounting.rdp",
    "pyarrow.csv", "pyarrow.parquet", "pandas", "narwhals", "sklearn.linear_model",
    "sklearn.utils.estimator_checks", "numba", "torch", "torch.func", "safetensors.torch",
    "pydantic", "typer.testing", "rich.console", "jinja2", "matplotlib.pyplot", "plotly",
    "hypothesis", "hypothesis.strategies", "pytest",
)  # fmt: skip
# One thread each, and none in the background: a fork takes no thread along, only its locks.
QUIET = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
    "MPLBACKEND": "agg",
}


class Request(TypedDict):
    """What to run: `sources` hold the packages; `file`, in the first, is the one with the bug.

    A test named by itself may be of any tier; a file stands for its quick tests.
    """

    sources: list[str]
    file: str | None
    tests: list[str]
    every: bool  # to the end; otherwise up to the first that fails
    seconds: float


class Failure(TypedDict):
    """One test that did not pass."""

    test: str
    when: str  # "setup", "call" or "teardown"
    error: list[str]  # names of the exception's type and of all its bases
    text: str


class Answer(TypedDict):
    """What came of a request. `trouble` says why it shows nothing at all, where that is so."""

    trouble: str
    failures: list[Failure]
    seconds: dict[str, float]  # of each test that was run, with its fixtures
    drawn: list[str]  # the tests whose examples Hypothesis draws, others each time
    took: float


class Watch:
    """A plugin of pytest that keeps what it sees."""

    def __init__(self) -> None:
        self.failures: list[Failure] = []
        self.seconds: dict[str, float] = {}
        self.skipped: list[str] = []
        self.broken: list[str] = []  # what could not even be collected
        self.drawn: list[str] = []

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.broken.append(f"{report.nodeid}: {report.longreprtext[-800:]}")

    def pytest_collection_finish(self, session: Any) -> None:
        drawn = (item.nodeid for item in session.items if item.get_closest_marker("hypothesis"))
        self.drawn = list(drawn)

    def pytest_runtest_logreport(self, report: Any) -> None:
        test = report.nodeid
        self.seconds[test] = self.seconds.get(test, 0.0) + report.duration
        if report.skipped and not hasattr(report, "wasxfail"):
            self.skipped.append(test)
        if report.failed:
            text = report.longreprtext[-600:]
            self.failures.append(Failure(test=test, when=report.when, error=[], text=text))

    def pytest_exception_interact(self, call: Any, report: Any) -> None:
        """Called after the report of a test that raised, and of no other."""
        if self.failures and self.failures[-1]["test"] == report.nodeid:
            kinds = type(call.excinfo.value).__mro__
            self.failures[-1]["error"] = [kind.__name__ for kind in kinds]


class Loaded:
    """Which text of a file was run: an audit hook sees the code of every module."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._code: CodeType | None = None
        with suppress(SyntaxError):  # pytest will say so: it cannot be imported
            self._code = compile(file.read_bytes(), str(file), "exec", dont_inherit=True)
        self._seen: list[bool] = []
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "exec" and isinstance(arguments[0], CodeType):
            code = arguments[0]
            if code.co_name == "<module>" and code.co_filename == str(self._file):
                self._seen.append(code == self._code)

    def trouble(self, name: str) -> str:
        """Where a test had other processes load it, it is loaded here now, by the same path."""
        importlib.import_module(name)
        # The first is the module itself; a module may then make more code under its own name.
        return "" if self._seen[:1] == [True] else f"{name}: another text of it was run"


def module_name(file: str) -> str:
    """Of a file below a folder of packages."""
    parts = Path(file).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def run_tests(request: Request) -> Answer:
    """In a fork: what the tests say of the source."""
    import pytest

    sources, file, started = request["sources"], request["file"], time.monotonic()
    sys.path[:0] = sources
    os.environ["PYTHONPATH"] = os.pathsep.join(sources)  # for the programs that tests start
    os.chdir(ROOT)
    watch = Watch()
    loaded = None if file is None else Loaded(Path(sources[0], file))
    # Plugins are there already, and their own asserts as they are.
    words = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist",
             "-W", "ignore::pytest.PytestAssertRewriteWarning"]  # fmt: skip
    if not request["every"]:
        words.append("-x")
    if all("::" in test for test in request["tests"]):
        words += ["-m", ""]
    code = pytest.main([*words, *request["tests"]], [watch])
    trouble = _trouble(code, watch)
    if not trouble and loaded is not None and file is not None:
        trouble = loaded.trouble(module_name(file))
    return Answer(
        trouble=trouble or _strange_files(sources),
        failures=watch.failures,
        seconds=watch.seconds,
        drawn=watch.drawn,
        took=time.monotonic() - started,
    )


def _trouble(code: int, watch: Watch) -> str:
    """Why these tests say nothing: 0 is "all passed" and 1 "some failed", all else is neither."""
    if watch.broken:
        return f"not collected: {watch.broken}"
    if code not in (0, 1) or not watch.seconds:
        return f"pytest ended with {code!r} after {len(watch.seconds)} tests"
    return ""


def _strange_files(sources: list[str]) -> str:
    """A module of ours that comes from elsewhere."""
    files = (
        str(getattr(module, "__file__", "") or sources[0])
        for name, module in list(sys.modules.items())
        if name.split(".")[0] in OURS
    )
    found = [file for file in files if not file.startswith(tuple(sources))]
    return f"not of {sources}: {found}" if found else ""


def warm_up() -> None:
    """Import what does not change, and have numba load its own parts by compiling something."""
    for name in LIBRARIES:
        importlib.import_module(name)
    import numba
    import numpy as np
    import torch

    torch.set_num_threads(1)
    numba.njit(nogil=True)(lambda x: np.sqrt(x).sum() + len(x))(np.ones(3, np.float32))
    gc.collect()
    gc.freeze()  # forks need not look through all this again


def check_forkable() -> None:
    """No thread is lost by a fork, and no part of honestdp is there before it."""
    threads = os.listdir("/proc/self/task") if os.path.isdir("/proc/self/task") else ["self"]
    assert len(threads) == 1, f"{len(threads)} threads: their locks would be held for ever"
    early = [name for name in sys.modules if name.split(".")[0] in OURS]
    assert not early, f"imported before the fork: {early}"


def answer(request: Request) -> Answer:
    """By a fork with a process group of its own, ended when its time is over."""
    check_forkable()
    with tempfile.TemporaryFile("w+") as said:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            _as_child(request, said.fileno(), writing)
        os.close(writing)
        found = _read_until(reading, time.monotonic() + request["seconds"])
        os.close(reading)
        _end(child)
        if found is not None:
            return found
        said.seek(0)
        words = said.read()[-1500:]
    trouble = f"no answer within {request['seconds']:g} s, or it died: {words}"
    return Answer(trouble=trouble, failures=[], seconds={}, drawn=[], took=request["seconds"])


def _as_child(request: Request, said: int, writing: int) -> None:
    """Never returns: the fork must not go on as the process it was forked from."""
    import numpy as np

    try:
        os.setpgid(0, 0)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(said, 1)
        os.dup2(said, 2)
        random.seed()  # as a fresh process has it
        np.random.seed()
        told = json.dumps(run_tests(request)) + "\n"
        with os.fdopen(writing, "w") as answers:
            answers.write(told)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def _read_until(reading: int, end: float) -> Answer | None:
    """The line that the fork writes, or none if it dies or its time is over."""
    data = b""
    while not data.endswith(b"\n"):
        left = end - time.monotonic()
        if left <= 0 or not select.select([reading], [], [], left)[0]:
            return None
        more = os.read(reading, 65536)
        if not more:
            return None
        data += more
    return json.loads(data)


def _end(child: int) -> None:
    """The fork and whatever it has started and left."""
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)


def main() -> None:
    replies = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what a library prints is no answer
    warm_up()
    for line in sys.stdin:
        replies.write(json.dumps(answer(json.loads(line))) + "\n")


if __name__ == "__main__":
    main()
