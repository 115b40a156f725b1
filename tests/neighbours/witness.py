"""Everything that can be seen of a run from outside, but for the values that noise protects.

What the noise protects are the numbers of the model, noisy scores, learnt bounds, and what follows
from them (digests). Of these the form is kept alone: types, shapes, lengths. All else is kept as
it is: warnings, log lines, output, exceptions, names, modes and lengths of files, progress, how
many trainings and draws of randomness there were.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import logging
import math
import os
import re
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from honestdp.planning.plan import Plan

NUMBER = re.compile(r"\bsha256-[\w+/]{43}=|\b[0-9a-f]{32,64}\b|[-+]?\d+(\.\d*)?(e[-+]?\d+)?")
SPACES = re.compile(" {2,}")
Seen = dict[str, Any]


def form(value: object, above: tuple[int, ...] = ()) -> object:
    """All of an object but the values of its fractions: types, names, lengths, whole numbers."""
    if id(value) in above:
        return "again"
    above = (*above, id(value))
    if isinstance(value, torch.Tensor):
        memory = value.untyped_storage().nbytes()
        finite = _finite(value.detach().numpy())
        return "tensor", tuple(value.shape), memory, str(value.dtype), finite
    if isinstance(value, np.ndarray):
        return "array", value.shape, value.dtype.str, _finite(value)
    if isinstance(value, float):
        return type(value).__name__, math.isfinite(value)
    if value is None or isinstance(value, (bool, int)):
        return type(value).__name__, str(value)
    if isinstance(value, str):
        return text(value)
    if isinstance(value, bytes):
        return "bytes", _content(value)
    if isinstance(value, (list, tuple, set)):
        return type(value).__name__, *(form(item, above) for item in value)
    if isinstance(value, dict):
        return "dict", *((str(key), form(item, above)) for key, item in value.items())
    if isinstance(value, Plan):  # large, and public: its text is compared where it is shown
        return "plan"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        named = [(f.name, form(getattr(value, f.name), above)) for f in dataclasses.fields(value)]
        return type(value).__name__, named, form(vars(value), above)
    if hasattr(value, "__dict__") and not isinstance(value, type) and not callable(value):
        return type(value).__name__, form(vars(value), above)
    return type(value).__name__


def _finite(values: np.ndarray) -> bool | None:
    return bool(np.isfinite(values).all()) if values.dtype.kind == "f" else None


def text(value: str) -> str:
    """A text but for the numbers and digests in it."""
    return "\n".join(map(_line, value.split("\n")))


@lru_cache(10_000)  # a report is mostly the code that draws its pictures
def _line(value: str) -> str:
    return SPACES.sub(" ", NUMBER.sub("#", value))  # columns are as wide as their widest number


class Witness:
    """Watches one run at a time, always in the same place and with the same randomness."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.place = folder
        self._patch = monkeypatch

    def watch(self, work: Callable[[], Any], *, lengths: bool) -> Seen:
        """What `work` shows. lengths: whether files are as long whatever the noise was."""
        seen: Seen = {"error": None, "private files": [], "coins": [], "work": [], "progress": []}
        with (
            self._patch.context() as patch,
            _logged() as logs,
            warnings.catch_warnings(record=True) as warned,
            _said() as said,
        ):
            warnings.simplefilter("always")
            self._listen(patch, seen, lengths)
            try:
                seen["returned"] = work()
            except BaseException as error:
                seen["error"] = _error(error)
        seen["warnings"] = [(w.category.__name__, str(w.message)) for w in warned]
        seen["logs"] = [(log.name, log.levelname, log.getMessage()) for log in logs]
        seen["said"] = said()
        seen["files"] = self._files(lengths)
        return seen

    def _listen(self, patch: pytest.MonkeyPatch, seen: Seen, lengths: bool) -> None:
        from honestdp import files
        from honestdp.progress import Bar
        from honestdp.runner.run import noisy_scores
        from honestdp.runner.training import Trainer

        def noted(path: Path, content: bytes, *how: Any) -> None:
            files.replace_file(path, content, *how)
            length = len(content) if lengths or path.suffix != ".json" else None
            seen["private files"].append((path.name, length, oct(path.stat().st_mode)))

        def counted(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
            def counting(*given: Any, **named: Any) -> Any:
                listed = [len(one) for one in given if isinstance(one, (list, tuple))]
                seen["work"].append((name, *listed))
                return call(*given, **named)

            return counting

        draw = blake2b(b"the same coins and the same noise")

        def urandom(size: int) -> bytes:
            seen["coins"].append(size)
            found = b""
            while len(found) < size:
                draw.update(b"next")
                found += draw.digest()
            return found[:size]

        patch.setattr("honestdp.resume.journal.replace_file", noted)
        patch.setattr("honestdp.resume.journal.EVERY", 1e9)  # time is seen, and not compared
        patch.setattr(Trainer, "train", counted("train", Trainer.train))
        patch.setattr(Trainer, "final", counted("final", Trainer.final))
        patch.setattr("honestdp.runner.run.noisy_scores", counted("score", noisy_scores))
        patch.setattr(Bar, "__call__", lambda _, told: seen["progress"].append(tuple(told)))
        patch.setattr(os, "fsync", lambda _: None)  # nobody pulls the plug here
        patch.setattr(os, "urandom", urandom)
        patch.setattr("random._urandom", urandom)

    def _files(self, lengths: bool) -> list[Any]:
        """Everything in the folder: names, modes and, but for those numbers, contents."""
        found = []
        for path in sorted(self.place.rglob("*")):
            facts = [str(path.relative_to(self.place)), oct(path.stat().st_mode)]
            if path.is_file() and path.stem not in ("t", "t1", "t2"):  # the table itself
                held = path.read_bytes()
                if lengths and path.suffix != ".html":
                    facts.append(str(len(held)))
                facts.append(str(_content(held)))
            found.append(facts)
        return found


def _content(held: bytes) -> object:
    try:
        return form(json.loads(held))
    except ValueError:
        pass
    try:
        return text(held.decode())
    except UnicodeDecodeError:  # a lock is empty, tensors have a header of their own
        return "bytes", len(held)


def _error(error: BaseException) -> tuple[Any, ...]:
    """All that a traceback would show but for the lines of code."""
    whole = traceback.TracebackException.from_exception(error)
    chain: list[Any] = []
    one: traceback.TracebackException | None = whole
    while one is not None:
        chain.append(list(one.format_exception_only()))
        one = one.__cause__ or (None if one.__suppress_context__ else one.__context__)
    return type(error).__name__, getattr(error, "code", None), chain


@contextlib.contextmanager
def _logged() -> Iterator[list[logging.LogRecord]]:
    """Every log line but those of numba, which tells of what it compiles, once a process."""
    root, numba = logging.getLogger(), logging.getLogger("numba")
    levels, records = (root.level, numba.level), []
    handler = logging.Handler()
    handler.emit = records.append  # type: ignore[method-assign]
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    numba.setLevel(logging.WARNING)
    try:
        yield records
    finally:
        root.removeHandler(handler)
        root.setLevel(levels[0])
        numba.setLevel(levels[1])


@contextlib.contextmanager
def _said() -> Iterator[Callable[[], list[str]]]:
    """What goes to stdout and stderr, that of compiled code too."""
    out, err = io.StringIO(), io.StringIO()
    kept: list[str] = []
    with tempfile.TemporaryFile() as file:
        sys.stdout.flush()
        sys.stderr.flush()
        before = [os.dup(1), os.dup(2)]
        try:
            for place in (1, 2):
                os.dup2(file.fileno(), place)
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                yield lambda: kept
        finally:
            for place, handle in zip((1, 2), before, strict=True):
                os.dup2(handle, place)
                os.close(handle)
            file.seek(0)
            kept += [out.getvalue(), err.getvalue(), file.read().decode("utf-8", "replace")]


def differences(one: Seen, other: Seen) -> dict[str, tuple[Any, Any]]:
    """What is not the same of two runs."""
    return {
        name: _first(one.get(name), other.get(name))
        for name in {**one, **other}
        if one.get(name) != other.get(name)
    }


def _first(one: Any, other: Any) -> tuple[Any, Any]:
    """The first thing within two values that differs."""
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        for a, b in zip(one, other, strict=False):
            if a != b:
                return _first(a, b)
    if isinstance(one, str) and isinstance(other, str):
        at = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
        return one[max(0, at - 60) : at + 60], other[max(0, at - 60) : at + 60]
    return one, other
